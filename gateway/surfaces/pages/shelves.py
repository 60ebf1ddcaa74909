"""What the portal offers to somebody, by tier: what they may use, and what a higher tier adds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auth.callers import Caller
from auth.tiers import Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import is_view


@dataclass(frozen=True, slots=True)
class Line:
    """One tool or prompt as the page lists it."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one tier brings.

    Attributes:
        tier: the tier.
        usable: whether the visitor may use it now.
        tools: its tools.
        prompts: its prompts; not told to a visitor below the tier.
        resources: how many resources it has; the same.
    """

    tier: Tier
    usable: bool
    tools: tuple[Line, ...]
    prompts: tuple[Line, ...] = ()
    resources: int = 0


def shelves(catalog: Catalog, caller: Caller) -> list[Shelf]:
    """What a visitor may use, by the tier that it asks for, and what higher tiers would add."""
    listed = {kind: catalog.listed(kind, caller) for kind in ("tool", "prompt", "resource")}
    listed["prompt"] += catalog.listed("family", caller)
    listed["resource"] = [item for item in listed["resource"] if not is_view(item)]
    beyond = catalog.beyond(caller)
    made = []
    for tier in Tier:
        of_tier = {
            kind: [item for item in items if catalog.requires(item) is tier]
            for kind, items in listed.items()
        }
        if any(of_tier.values()):
            tools, prompts = _lines(of_tier["tool"]), _lines(of_tier["prompt"])
            made.append(Shelf(tier, True, tools, prompts, len(of_tier["resource"])))
        if tier in beyond:
            made.append(Shelf(tier, False, _lines(beyond[tier])))
    return made


def _lines(items: Iterable[Item]) -> tuple[Line, ...]:
    return tuple(
        Line(item.name, item.entry.get("title") or "", item.entry.get("description") or "")
        for item in items
    )
