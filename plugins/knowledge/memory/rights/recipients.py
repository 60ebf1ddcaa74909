"""Resolves the people and groups that an access policy names to their ids.

A name that matches nobody is an error, which suggests similar names among the caller's own groups
and the people who share a group with them. A short form is accepted where it matches exactly one of
the caller's groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from gateway.contract import Caller, People
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig

_MAX_SUGGESTIONS = 5
"""Names that an error lists."""
_MAX_NAMED = 20
"""People of one policy whose names are told; each takes a look at the groups that they are in."""
_UNUSED = {
    AccessPolicy.RESTRICTED: 'You have named people: choose "You and people you name", or take '
    "them out.",
    AccessPolicy.SHARED: 'You have named groups: choose "You and groups you name", or take them '
    "out.",
}
"""What a page says of names that a policy has no use for."""
_MAX_COMPARED = 1000
"""Names that one is compared with for those that come near."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """Finds whom a policy means.

    Attributes:
        people: whom callers may know of.
    """

    people: People

    async def resolve(
        self, access: AccessPolicyConfig, caller: Caller, kept: AccessPolicyConfig | None = None
    ) -> AccessPolicyConfig:
        """A policy with the real keys of all that it names.

        Args:
            access: the policy, as somebody sent it.
            caller: who sent it.
            kept: the entry's policy until now, whose names stay as they are.

        Raises:
            MemoryFailed: it names somebody who would not read the entry by it, a group or a person
                that there is not as far as the caller may know, or a name that several have.
        """
        teams = frozenset(() if kept is None else kept.allowed_teams)
        users = frozenset(() if kept is None else kept.approved_users)
        access = _without_unused_names(access, users, teams)
        groups = self.people.groups() | caller.groups | teams
        forms = {} if groups.issuperset(access.allowed_teams) else _forms(caller.groups)
        named = [each if each in groups else _group(each, forms) for each in access.allowed_teams]
        known = users | {caller.person or ""}
        asked = frozenset(access.approved_users) - known
        if asked:
            known |= (await self.people.names(asked)).keys()
        people = [await self._person(each, caller, known) for each in access.approved_users]
        changed = {"allowed_teams": _unique(named), "approved_users": _unique(people)}
        return access.model_copy(update=changed)

    async def names(self, ids: Sequence[str], caller: Caller) -> Mapping[str, str]:
        """What the portal calls people whom a policy names, of those whom a caller may find.

        That is who shares a group with them, and they themselves. Whoever knows an id may name
        somebody by it, which tells nothing of whose it is.

        Args:
            ids: the people's.
            caller: who looks.
        """
        some = ids[:_MAX_NAMED]
        names = await self.people.names(some) if some else {}
        return {id: name for id, name in names.items() if await self._may_find(id, caller)}

    async def _may_find(self, id: str, caller: Caller) -> bool:
        if id == caller.person:
            return True
        found = await self.people.caller(id)
        return found is not None and not found.groups.isdisjoint(caller.groups)

    async def _person(self, name: str, caller: Caller, known: frozenset[str]) -> str:
        if name in known:
            return name
        fellows = await self.people.fellows(caller, name)
        exact = [each for each in fellows if each.name.casefold() == name.strip().casefold()]
        if len(exact) == 1:
            return exact[0].id
        shown = [f"{each.name} ({each.id})" for each in exact or fellows]
        if exact:
            raise _refusal(
                "approved_users",
                f"several are called {name!r}; name one by id",
                shown,
                f"Several people are called {name!r}: put the id of the one you mean in its place.",
            )
        raise _refusal(
            "approved_users",
            f"there is nobody called {name!r} in your groups, nor with that id; find_people finds "
            "those who share a group with you",
            shown,
            f"Nobody in your groups is called {name!r}. Check how they are called here, or ask "
            "them for their id, which their agent can tell them.",
        )


def opens_to_nobody(access: AccessPolicyConfig) -> str:
    """Which field names nobody although the policy is for whom it names; empty where none does.

    Args:
        access: a policy that somebody asks for.
    """
    named = {
        AccessPolicy.RESTRICTED: ("approved_users", access.approved_users),
        AccessPolicy.SHARED: ("allowed_teams", access.allowed_teams),
    }
    field, those = named.get(access.policy, ("", ()))
    return "" if those else field


def check_named(access: AccessPolicyConfig) -> None:
    """Refuse a policy that would leave an entry its owner's alone, and is not called private.

    Raises:
        MemoryFailed: it is for people or groups, and names none.
    """
    if field := opens_to_nobody(access):
        who = "groups" if field == "allowed_teams" else "people"
        raise _refusal(
            field,
            f"a policy that is {access.policy} and names nobody opens it to nobody; name {who} "
            "(find_people), or say private",
            (),
            f'Nobody but you would read it: name the {who} who may, or choose "You alone".',
        )


def _without_unused_names(
    access: AccessPolicyConfig, users: frozenset[str], teams: frozenset[str]
) -> AccessPolicyConfig:
    """A policy without the names of an earlier one that it gives nothing to.

    Raises:
        MemoryFailed: it names others, people or groups, who would not read the entry by it.
    """
    left = {}
    for field, named, before, policy in (
        ("approved_users", access.approved_users, users, AccessPolicy.RESTRICTED),
        ("allowed_teams", access.allowed_teams, teams, AccessPolicy.SHARED),
    ):
        if not named or access.policy in {policy, AccessPolicy.PUBLIC}:
            continue
        if not before.issuperset(named):
            message = f"a policy that is {access.policy} opens nothing to them; use {policy}"
            raise _refusal(field, message, (), _UNUSED[policy])
        left[field] = ()
    return access.model_copy(update=left)


def _group(name: str, forms: Mapping[str, frozenset[str]]) -> str:
    """The one group that a short form means."""
    meant = forms.get(name.casefold(), frozenset())
    if len(meant) == 1:
        return next(iter(meant))
    if meant:
        several = f"{name!r} is more than one of your groups"
        raise _refusal("allowed_teams", several, meant, f"{several}: write the one in full.")
    some = list(islice(forms, _MAX_COMPARED))
    near = get_close_matches(name.casefold(), some, n=_MAX_SUGGESTIONS, cutoff=0.6)
    raise _refusal(
        "allowed_teams",
        f"there is no group {name!r} that you could share with; find_people lists yours",
        {group for form in near for group in forms[form]},
        f"There is no group {name!r} that you could share with. Check how yours are called.",
    )


def _forms(groups: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Groups by what people call them, in lower case: ``garden`` for ``claim:groups=garden``."""
    found: dict[str, set[str]] = {}
    for group in sorted(groups):
        for form in _short_forms(group):
            found.setdefault(form, set()).add(group)
    return {form: frozenset(meant) for form, meant in found.items()}


def _short_forms(group: str) -> Iterator[str]:
    yield group.casefold()
    kind, _, rest = group.casefold().partition(":")
    if rest:
        yield rest
    apart = {"claim": "=", "github_team": "/"}.get(kind)
    if apart and (last := rest.partition(apart)[2]):
        yield last


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _refusal(field: str, what: str, near: Iterable[str] = (), on_page: str = "") -> MemoryFailed:
    shown = sorted(near)[:_MAX_SUGGESTIONS]
    hint = f" Did you mean {', '.join(shown)}?" if shown else ""
    message = f"Nothing was written. {field}: {what}.{hint}"
    on_page = on_page and f"Nothing was changed. {on_page}{hint}"
    return MemoryFailed(
        ErrorCode.INVALID_REQUEST, message, {"field": field, "near": shown}, on_page
    )
