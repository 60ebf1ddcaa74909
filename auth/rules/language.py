"""The language of access rules: conditions, joined by ``any_of``, ``all_of`` and ``not``.

It is three-valued (Kleene's logic): if a source does not answer, a condition is unknown, and so is
what depends on it. What is unknown grants nothing, also below a ``not``.

A kind of condition is a module of its own and one line of ``Condition`` below.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag

from auth.facts import Question
from auth.rules.address import OneAddress
from auth.rules.base import Accounts, Answers, Part
from auth.rules.claim import Claim
from auth.rules.email import VerifiedEmail
from auth.rules.github import Github, GithubAge, GithubOrg, GithubTeam
from auth.rules.hat import Hat
from auth.rules.passport import PassportScore
from auth.rules.signed_in import SignedIn
from auth.rules.token import Token
from auth.rules.verdict import Holds, Verdict

Location = tuple[str | int, ...]
"""The location of a value: keys and list positions, from the root."""

_AGAIN: dict[Holds, Holds] = {"yes": "no", "no": "yes", "unknown": "unknown"}


def _or_empty(value: Any) -> Any:
    """An empty list, if all its lines are comments."""
    return () if value is None else value


class AnyOf(Part):
    """One of several parts suffices. Of none, nobody has any."""

    any_of: Annotated[tuple[Rule, ...], BeforeValidator(_or_empty)] = Field(
        description="Whoever satisfies one of these; with nothing in it, nobody."
    )

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """The questions of its parts."""
        return _questions(self.any_of, accounts)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Holds where a part does; else is unknown where a part is."""
        if not self.any_of:
            return Verdict("any_of", "no", "the rules give this to nobody")
        parts = tuple(part.verdict(accounts, answers) for part in self.any_of)
        found = {part.holds for part in parts}
        holds: Holds = "yes" if "yes" in found else "unknown" if "unknown" in found else "no"
        return Verdict("any_of", holds, parts=parts, need="one of these")


class AllOf(Part):
    """Every one of several parts is needed."""

    all_of: tuple[Rule, ...] = Field(
        min_length=1, description="Whoever satisfies every one of these."
    )

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """The questions of its parts."""
        return _questions(self.all_of, accounts)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Does not hold where a part does not; else is unknown where a part is."""
        return all_of(part.verdict(accounts, answers) for part in self.all_of)


class Not(Part):
    """The contrary of a part; of what is unknown, the contrary is unknown too."""

    not_: Rule = Field(alias="not", description="Whoever does not satisfy this.")

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """The questions of its part."""
        return self.not_.questions(accounts)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Holds where its part does not."""
        part = self.not_.verdict(accounts, answers)
        return Verdict("not", _AGAIN[part.holds], parts=(part,), need="not this")


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on an ``all_of`` from those on its parts."""
    parts = tuple(verdicts)
    found = {part.holds for part in parts}
    holds: Holds = "no" if "no" in found else "unknown" if "unknown" in found else "yes"
    return Verdict("all_of", holds, parts=parts, need="all of these")


def _questions(parts: Sequence[Rule], accounts: Accounts) -> Iterator[Question]:
    for part in parts:
        yield from part.questions(accounts)


_BARE = {"signed_in", "passport_score"}
_EXAMPLE = "write signed_in, {hat: 30.3.1} or another condition"


def _kind(value: Any) -> str | None:
    if isinstance(value, BaseModel):
        value = [field.alias or name for name, field in type(value).model_fields.items()]
    if isinstance(value, str):
        return value
    return next(iter(value)) if isinstance(value, dict | list) and len(value) == 1 else None


def _shaped(value: Any) -> Any:
    """Refuse what is no rule, with a message that says what to write."""
    if isinstance(value, BaseModel):
        return value
    if isinstance(value, list | tuple):
        raise ValueError("is a list; write any_of or all_of before it")
    if not isinstance(value, str | dict) or not value:
        raise ValueError(f"is empty; {_EXAMPLE}")
    if isinstance(value, dict) and len(value) != 1:
        raise ValueError("has more than one kind; join conditions with any_of or all_of")
    kind = str(_kind(value))
    if kind not in KINDS:
        raise ValueError(f"unknown kind of condition{_nearest(kind)}")
    if isinstance(value, str) and kind not in _BARE:
        raise ValueError(f"needs a value, as in {{{kind}: …}}")
    return value


def _nearest(kind: str) -> str:
    near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else f"; valid: {', '.join(KINDS)}"


Joined = (
    Annotated[AnyOf, Tag("any_of")] | Annotated[AllOf, Tag("all_of")] | Annotated[Not, Tag("not")]
)
Condition = (
    Annotated[SignedIn, Tag("signed_in")]
    | Annotated[Hat, Tag("hat")]
    | Annotated[Token, Tag("token")]
    | Annotated[Github, Tag("github")]
    | Annotated[GithubOrg, Tag("github_org")]
    | Annotated[GithubTeam, Tag("github_team")]
    | Annotated[GithubAge, Tag("github_age")]
    | Annotated[OneAddress, Tag("address")]
    | Annotated[VerifiedEmail, Tag("email")]
    | Annotated[Claim, Tag("claim")]
    | Annotated[PassportScore, Tag("passport_score")]
)
"""Every kind of condition, by the key it is written with: the registry."""

Rule = Annotated[Joined | Condition, Discriminator(_kind), BeforeValidator(_shaped)]
"""A rule: a condition, or several joined."""

KINDS = tuple(str(kind.__metadata__[0].tag) for kind in get_args(Joined | Condition))
"""What a rule may begin with."""


def conditions(rule: Rule, at: Location = ()) -> Iterator[tuple[Location, Condition]]:
    """The conditions of a rule, in the order written, each with its location in the rule."""
    if isinstance(rule, AnyOf | AllOf):
        name = "any_of" if isinstance(rule, AnyOf) else "all_of"
        for place, part in enumerate(getattr(rule, name)):
            yield from conditions(part, (*at, name, place))
    elif isinstance(rule, Not):
        yield from conditions(rule.not_, (*at, "not"))
    else:
        yield at, rule


for _part in (AnyOf, AllOf, Not):
    _part.model_rebuild()
