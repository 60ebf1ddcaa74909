"""``/admin/access``: who may use what, and the line of ``tiers.yaml`` that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth import Tier
from gateway.catalog.catalog import Catalog, Decision
from gateway.catalog.items import Item
from gateway.surfaces.admin.tiers_lines import Change, Deciding, TiersLines
from gateway.surfaces.admin_pages.door import Door, asked, number, query
from gateway.surfaces.pages.visitors import Visitor

ROWS_PER_PAGE = 25
"""Items on one page, so that it stays small."""

Cell = Literal["yes", "asks", "hidden"]
"""What a tier has of an item: its use, word of what it takes, or nothing at all."""

KINDS = {
    "tool": "tool",
    "prompt": "prompt",
    "family": "prompts",
    "resource": "resource",
    "template": "resources",
    "skill": "skill",
}
"""What people call the kinds of items."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the matrix.

    Attributes:
        key: what ``tiers.yaml`` calls it.
        title: what people call it, where that is something else.
        kind: its kind.
        cells: what each tier has of it, the lowest first.
        waits_for: whose yes each run waits for; empty where it waits for nobody's.
        deciding: the line that decides.
        change: what to write instead.
    """

    key: str
    title: str
    kind: str
    cells: tuple[Cell, ...]
    waits_for: str
    deciding: Deciding
    change: Change


@dataclass(frozen=True, slots=True)
class Filter:
    """What the reader asked for; an empty text asks for nothing."""

    plugin: str
    kind: str
    tier: str
    below: str
    text: str

    def takes(self, item: Item, key: str, decision: Decision) -> bool:
        """Whether the matrix shows an item."""
        return (
            self.plugin in ("", item.plugin)
            and self.kind in ("", item.kind)
            and self.tier in ("", decision.tier)
            and self.below in ("", "hidden" if decision.hidden else "told")
            and self.text.casefold() in f"{key} {_title(item)}".casefold()
        )


def cells(decision: Decision) -> tuple[Cell, ...]:
    """What each tier has of an item for which this was decided, the lowest tier first."""
    below: Cell = "hidden" if decision.hidden else "asks"
    return tuple("yes" if tier.allows(decision.tier) else below for tier in Tier)


class AccessPage:
    """The matrix.

    Args:
        door: lets admins in.
        catalog: the items and what is decided for them.
        lines: finds lines of ``tiers.yaml``.
    """

    def __init__(self, door: Door, catalog: Catalog, lines: TiersLines) -> None:
        self._door, self._catalog, self._lines = door, catalog, lines

    def routes(self) -> list[Route]:
        """The page's route."""
        return [self._door.page("/admin/access", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        names = ("plugin", "kind", "tier", "below", "text")
        wanted = Filter(*(asked(request, name) for name in names))
        ruled = self._catalog.ruled()
        found = [each for each in ruled if wanted.takes(*each)]
        pages = max(1, -(-len(found) // ROWS_PER_PAGE))
        at = min(number(request, "page"), pages)
        shown = found[(at - 1) * ROWS_PER_PAGE : at * ROWS_PER_PAGE]
        return self._door.render(
            request,
            visitor,
            "access.html",
            wanted=wanted,
            plugins=list(dict.fromkeys(item.plugin for item, _, _ in ruled)),
            kinds={item.kind: KINDS[item.kind] for item, _, _ in ruled},
            tiers=list(Tier),
            rows=self._rows(shown),
            count=len(found),
            total=len(ruled),
            at=at,
            pages=pages,
            to=lambda page: query(request, page=page),
        )

    def _rows(self, shown: Sequence[tuple[Item, str, Decision]]) -> list[Row]:
        return [
            Row(
                key,
                _title(item),
                KINDS[item.kind],
                cells(decision),
                (decision.waits_for or "") if item.kind == "tool" else "",
                self._lines.deciding(decision),
                self._lines.change(key, decision, item.declared.floor),
            )
            for item, key, decision in shown
        ]


def _title(item: Item) -> str:
    title = str(item.entry.get("title") or item.entry.get("name") or "")
    return "" if title == item.identity else title
