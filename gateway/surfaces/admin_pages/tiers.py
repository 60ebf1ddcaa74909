"""``/admin/tiers``: what another ``tiers.yaml`` would change, before anybody saves it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.catalog.catalog import Catalog, Decision
from gateway.config.tiers_file import TierRulesFile, Tiers, check_keys, parse_tiers
from gateway.errors import ConfigError, Problem
from gateway.surfaces.admin.tiers_diff import Changes, Comparing, ItemChange
from gateway.surfaces.admin.tiers_lines import line_of
from gateway.surfaces.admin_pages.door import Door
from gateway.surfaces.pages.forms import Fields
from gateway.surfaces.pages.visitors import Visitor

MAX_SHOWN_CHANGES = 60
"""Items, and people, that the page lists; `porch tiers diff` lists all."""
MAX_SHOWN_CHARACTERS = 20_000
"""Characters of a ``tiers.yaml`` that the page gives back to be edited."""
MAX_FORM_BYTES = 256 * 1024
"""Bytes of the form, which is read on the event loop; `porch tiers diff` takes a longer file."""


@dataclass(frozen=True, slots=True)
class Line:
    """Items that would change alike, with the line of the new file that says so.

    Attributes:
        place: the line as ``FILE:LINE``; empty where none decides.
        text: it as it is written.
        changes: the items, one at least.
    """

    place: str
    text: str
    changes: Sequence[ItemChange]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of a comparison.

    Attributes:
        problems: why the file would not be in force; then nothing else is known.
        notes: lines in it that have no effect.
        changes: what it would change; None where it has problems.
        lines: the same items by the line that decides them.
    """

    problems: Sequence[Problem]
    notes: Sequence[Problem] = ()
    changes: Changes | None = None
    lines: Sequence[Line] = ()


class TiersPage:
    """The comparison.

    Args:
        door: lets admins in.
        catalog: the items and what is decided for them.
        comparing: compares rules.
        tiers: the file in force.
    """

    def __init__(
        self, door: Door, catalog: Catalog, comparing: Comparing, tiers: TierRulesFile
    ) -> None:
        self._door, self._catalog, self._comparing, self._tiers = door, catalog, comparing, tiers

    def routes(self) -> list[Route]:
        """The page, and its form."""
        return [
            self._door.page("/admin/tiers", self._show),
            self._door.form("/admin/tiers", self._compare, MAX_FORM_BYTES),
        ]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        """The form, and what is wrong with the file where it is not in force."""
        return self._page(request, visitor, self._tiers.text, None, "")

    async def _compare(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        if fields.one("from") == "disk":
            name = self._tiers.file
            try:
                raw = await asyncio.to_thread(self._tiers.on_disk)
            except ConfigError as error:
                found = Comparison(error.problems)
                return self._page(request, visitor, "", found, name)
        else:
            # Browsers write the end of a line in a form as CR LF.
            name = "pasted"
            raw = fields.one("text").replace("\r\n", "\n").encode("utf-8", "replace")
        text = raw.decode("utf-8", "replace")
        found = await self._compared(raw, text, name)
        return self._page(request, visitor, text, found, name)

    async def _compared(self, raw: bytes, text: str, name: str) -> Comparison:
        try:
            tiers = await asyncio.to_thread(parse_tiers, raw, name)
        except ConfigError as error:
            return Comparison(error.problems)
        catalog = self._catalog
        keys = check_keys(tiers.items, catalog.keys(), catalog.plugins(), catalog.row_kinds)
        changes = await self._comparing.changes(tiers)
        notes, lines = (*keys.notices, *keys.absent), _by_line(changes.items, tiers, text)
        return Comparison(keys.problems, notes, changes, lines)

    def _page(
        self,
        request: Request,
        visitor: Visitor,
        text: str,
        found: Comparison | None,
        name: str,
    ) -> Response:
        return self._door.render(
            request,
            visitor,
            "tiers.html",
            file=self._tiers.file,
            refused=self._tiers.problems,
            text=text if len(text) <= MAX_SHOWN_CHARACTERS else "",
            is_long=len(text) > MAX_SHOWN_CHARACTERS,
            found=found,
            name=name,
            most=MAX_SHOWN_CHANGES,
        )


def _by_line(items: Sequence[ItemChange], tiers: Tiers, text: str) -> list[Line]:
    alike: dict[tuple[object, ...], list[ItemChange]] = {}
    for each in items:
        new, old = each.after, each.before
        key = (new.line or new.because, *(_said(decision) for decision in (new, old)))
        alike.setdefault(key, []).append(each)
    found = []
    for changes in alike.values():
        number = changes[0].after.line
        place = f"{tiers.items.file}:{number}" if number else ""
        found.append(Line(place, line_of(text, number), changes))
    return found


def _said(decision: Decision) -> tuple[object, ...]:
    return decision.tier, decision.hidden, decision.waits_for
