"""What a caller does not see, and why: tiers, what is set aside, and what plugins say themselves.

What ``tiers.yaml`` hides from a caller is told to them nowhere: neither under its own name nor
under that of something else that is called the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.rejected_declarations import Rejected
from gateway.catalog.tier_rule import ItemKey
from gateway.contract import Absent, Offer, Prompt, PromptFamily, Tool
from gateway.observability.logs import get_logger
from gateway.observability.redaction import redactor

ABSENT_TIMEOUT_SECONDS = 2.0
"""Seconds in which a plugin has to say what it does not show."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Explained:
    """Something absent, and whether a caller is told of it.

    Attributes:
        plugin: whose it is.
        absent: what it is; its key has the plugin in front.
        is_told: whether the caller may know of it.
    """

    plugin: str
    absent: Absent
    is_told: bool


class _Found(NamedTuple):
    """Something absent, as its plugin has it, and the floor of what it would be."""

    plugin: str
    absent: Absent
    floor: Tier = Tier.OPEN

    @property
    def full_key(self) -> str:
        """Its key with the plugin in front; that of a plugin is its name."""
        key = self.absent.key
        return key if key == self.plugin else f"{self.plugin}/{key}"


class Absences:
    """Says what callers do not see.

    Args:
        catalog: the items, and what is decided for them.
        offers: what the open plugins offer.
        closed: the plugins that are not open, as sources.

    Attributes:
        catalog: the same catalog.
    """

    def __init__(
        self,
        catalog: Catalog,
        offers: Mapping[str, Offer],
        closed: Callable[[], Iterable[Absent]] = tuple,
    ) -> None:
        self.catalog = catalog
        self._offers = offers
        self._closed = closed

    async def visible_to(
        self, caller: Caller, name: str | None = None, only: str | None = None
    ) -> Sequence[Absent]:
        """What a caller may be told (``Exchange.missing``).

        Args:
            caller: who asks.
            name: what they ask about, or everything.
            only: the plugin whose endpoint they ask at, or the whole portal.
        """
        every = await self.explained(caller)
        mine = [each for each in every if each.is_told and only in (None, each.plugin)]
        told = [each.absent if caller.admin else _for_callers(each.absent) for each in mine]
        if name is None:
            return told
        there = [item for item in self.catalog.listed("tool", caller, only) if item.name == name]
        found = [*map(_there, there), *(each for each in told if name in _names(each))]
        return found or [each for each in told if _may_have(each, name)]

    async def about(self, name: str, caller: Caller) -> list[Explained]:
        """What explains to an admin why a caller lacks what has this name or key.

        Tiers are left out, which :meth:`Catalog.explain` explains. Of a tool that is served it
        is what is wrong with its source; where nothing has the name, each source that may have it.
        """
        every = [
            each
            for each in await self.explained(caller)
            if each.absent.why not in ("tier", "limits")
        ]
        found = [each for each in every if name in _names(each.absent)]
        served = self.catalog.named(name)
        if served:
            sources = [each for each in every if any(_is_of(item, each) for item in served)]
        else:
            sources = [each for each in every if _may_have(each.absent, name)]
        return found or sources

    async def explained(self, caller: Caller) -> list[Explained]:
        """Everything that a caller does not see, for an admin's eyes."""
        hidden = self._hidden(caller)
        found = [
            *self._beyond(caller),
            *map(_set_aside, self.catalog.set_aside),
            *(_Found(each.key, each) for each in self._closed()),
            *await self._offered(caller),
        ]
        return [
            Explained(
                each.plugin,
                replace(each.absent, key=each.full_key),
                self._is_told(each, caller, hidden),
            )
            for each in found
        ]

    def _hidden(self, caller: Caller) -> frozenset[str]:
        """Every name of what is hidden from a caller."""
        return frozenset(
            name
            for item in self.catalog.items()
            if not self.catalog.explain(item, caller).known
            for name in (item.name, item.identity)
        )

    def _is_told(self, found: _Found, caller: Caller, hidden: frozenset[str]) -> bool:
        plugin, absent = found.plugin, found.absent
        if absent.name in hidden or absent.key in hidden:
            return False
        is_source = absent.kind == "source"
        name = "" if absent.key == plugin else absent.key
        key = ItemKey(plugin, "tool" if is_source else absent.kind, name)  # type: ignore[arg-type]
        if not self.catalog.may_know(key, absent.tier, found.floor, caller):
            return False
        return not is_source or not self._all_hidden(plugin, name, caller)

    def _all_hidden(self, plugin: str, begins: str, caller: Caller) -> bool:
        """Whether all that a source has is hidden from a caller, so that it is itself."""
        own = [
            item
            for item in self.catalog.items()
            if item.plugin == plugin and item.identity.startswith(begins) and item.origin
        ]
        return bool(own) and not any(self.catalog.explain(each, caller).known for each in own)

    def _beyond(self, caller: Caller) -> Iterator[_Found]:
        """Tools that ask for more than the caller has."""
        for item in self.catalog.items():
            if item.kind != "tool":
                continue
            why = self.catalog.explain(item, caller)
            if not why.allowed:
                absent = self._refused(item, caller, why.decision.tier, why.because)
                yield _Found(item.plugin, absent, item.declared.floor)

    def _refused(self, item: Item, caller: Caller, tier: Tier, because: str) -> Absent:
        own = item.declared.tier
        if caller.tier.allows(tier):
            reason = f"{because[0].upper()}{because[1:]}."
            return Absent(item.name, item.identity, "limits", reason, tier=own)
        how = self.catalog.how_to_rise(caller, tier)
        reason = f"It asks for {tier} access; the caller has {caller.tier}. {how}".rstrip()
        return Absent(item.name, item.identity, "tier", reason, tier=own)

    async def _offered(self, caller: Caller) -> list[_Found]:
        """What plugins say themselves; one that does not answer is left out."""
        asked = [(name, offer.absent) for name, offer in self._offers.items() if offer.absent]
        found: list[_Found] = []
        for plugin, absent in asked:
            try:
                async with asyncio.timeout(ABSENT_TIMEOUT_SECONDS):
                    found += [_Found(plugin, each) for each in await absent(caller)]
            except Exception:
                log.exception("absent_not_told", plugin=plugin)
        return found


def _set_aside(rejected: Rejected) -> _Found:
    """What the catalog could not serve."""
    declared, origin = rejected.declared, getattr(rejected.declared, "origin", None)
    kind: Literal["tool", "prompt", "resource"] = "resource"
    if isinstance(declared, Tool):
        kind = "tool"
    elif isinstance(declared, Prompt | PromptFamily):
        kind = "prompt"
    key = origin.key if origin else rejected.item
    reason = f"It is set aside: {rejected.told}. Its author or an admin has to mend it."
    absent = Absent(rejected.item, key, "set_aside", reason, kind, declared.tier)
    return _Found(rejected.plugin, replace(absent, detail=rejected.reason), declared.floor)


def _is_of(item: Item, source: Explained) -> bool:
    is_source = source.absent.kind == "source" and source.plugin == item.plugin
    return is_source and f"{item.plugin}/{item.identity}".startswith(source.absent.key)


def _for_callers(absent: Absent) -> Absent:
    return replace(absent, reason=redactor.text(absent.reason), detail="")


def _there(item: Item) -> Absent:
    reason = "You may use it: call it by this name. A list without it is an old one."
    return Absent(item.name, f"{item.plugin}/{item.identity}", "there", reason)


def _names(absent: Absent) -> tuple[str, ...]:
    """What somebody may call it: its name, its key, and its key below the plugin."""
    return absent.name, absent.key, absent.key.partition("/")[2]


def _may_have(absent: Absent, name: str) -> bool:
    """Whether what has that name may be of a source."""
    return absent.kind == "source" and name.startswith(absent.begins)
