"""The lists: written once for each tier, era, mode and content version, and then sent as they are.

What plugins list for one caller is asked of them for each page (:mod:`.listers`), and such a page
is not kept.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from gateway.catalog.apps import APPROVAL_APP
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item, Kind
from gateway.catalog.views import is_view
from gateway.contract import ToolFailed
from gateway.discovery.discovery import Discovery
from gateway.surfaces.mcp.dynamic_lists import Listers, Place
from gateway.surfaces.mcp.envelope import INVALID_PARAMS, WireError
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.request_state import StateSigner
from gateway.surfaces.mcp.results import list_result
from gateway.surfaces.mcp.skills import directory_page, skill_entry, skills_page
from gateway.surfaces.views.apps import with_app

ENTRIES_PER_PAGE = 250
"""Entries on a page; clients follow ``nextCursor``."""
SKILLS_PER_PAGE = 100
"""Skills on a page: each brings its whole manifest."""
CURSOR_LIFETIME_SECONDS = 24 * 3600
"""Seconds for which a list that a plugin makes can be gone on with."""

_KINDS: dict[str, tuple[tuple[Kind, ...], str]] = {
    "tools/list": (("tool",), "tools"),
    "prompts/list": (("prompt",), "prompts"),
    "resources/list": (("resource", "skill"), "resources"),
    "resources/templates/list": (("template",), "resourceTemplates"),
    "skills/list": (("skill",), "skills"),
}


class Listing:
    """Pages of what a caller may use.

    Args:
        catalog: what there is, and for whom.
        signer: seals the cursors that lead into what a plugin lists.
        discovery: says which tools a client is told of.

    Attributes:
        listers: what plugins list for one caller.
    """

    def __init__(self, catalog: Catalog, signer: StateSigner, discovery: Discovery) -> None:
        self._catalog = catalog
        self._discovery = discovery
        self._signer = signer
        self.listers = Listers(catalog)
        self._version = (-1, -1)
        self._written: dict[tuple[Any, ...], bytes] = {}

    async def page(self, request: Request) -> bytes:
        """One page, as the result's JSON."""
        if request.mode != "full":
            await self._discovery.refresh()
        if self._version != self._discovery.version:
            self._written.clear()
            self._version = self._discovery.version
        cursor = request.params.get("cursor")
        era = request.era
        if request.caller.tools is not None:  # a token for named tools: too many kinds to keep
            return await self._write(request, cursor)
        key = (
            request.method,
            era.version,
            request.caller.tier,
            request.only,
            cursor,
            request.mode,
            request.apps,
        )
        written = self._written.get(key)
        if written is None:
            # What was kept has no lister: that follows from the key too, and from the version.
            if listing := self.listers.of(request.method, request.caller, request.only):
                return await self._ask(listing, request, cursor)
            version = self._version
            written = await self._write(request, cursor)
            if version == self._version == self._discovery.version:
                self._written[key] = written
        return written

    async def directory(self, request: Request) -> bytes:
        """One page of a directory's children, as the result's JSON.

        Raises:
            NotFound: it is no directory, as far as this caller may know.
            NotAllowed: all that it holds asks for a higher tier.
        """
        uri = request.params["uri"]
        entries = self._catalog.directory(uri, request.caller, request.only)
        page, following = _page(entries, request.params.get("cursor"), ENTRIES_PER_PAGE)
        return directory_page(page, following, request.era)

    async def _ask(self, listing: list[Item], request: Request, cursor: str | None) -> bytes:
        """A page of a list that ends with what plugins list for this caller."""
        entries: list[Mapping[str, Any]] = []
        place = self._place(cursor, listing, request)
        following = None
        if place is None:
            page, following = _page(self._items(request), cursor, ENTRIES_PER_PAGE)
            entries = [item.entry for item in page]
            place = Place(listing[0].key)
        if following is None:
            room = ENTRIES_PER_PAGE - len(entries)
            theirs, after = await self.listers.page(listing, place, room, request.caller)
            entries += theirs
            following = self._sealed(after, request) if after else None
        method, (_, key) = request.method, _KINDS[request.method]
        return list_result(method, key, entries, following, request.era)

    def _sealed(self, place: Place, request: Request) -> str:
        text = to_json([place.item, place.after]).decode()
        return self._signer.seal(text, request.caller, _purpose(request), CURSOR_LIFETIME_SECONDS)

    def _place(self, cursor: str | None, listing: list[Item], request: Request) -> Place | None:
        """Where in what plugins list a cursor leads to; None where it does not lead there."""
        if cursor is None or "." not in cursor:
            return None
        try:
            place = Place(*from_json(self._signer.open(cursor, request.caller, _purpose(request))))
        except ToolFailed:
            raise _bad_cursor() from None
        if place.item not in {item.key for item in listing}:
            raise _bad_cursor()
        return place

    def _items(self, request: Request) -> list[Item]:
        kinds, _ = _KINDS[request.method]
        items = [
            item
            for kind in kinds
            for item in self._catalog.listed(kind, request.caller, request.only)
            if request.apps or not is_view(item)
        ]
        waits = request.apps and "resource" in kinds and self._catalog.approvals
        return [*items, APPROVAL_APP] if waits else items

    async def _write(self, request: Request, cursor: str | None) -> bytes:
        _, key = _KINDS[request.method]
        if key == "tools":
            shown = await self._discovery.shown(request.caller, request.only, request.mode)
            if request.apps:
                shown = [self._with_app(each, request) for each in shown]
            tools, following = _page(shown, cursor, ENTRIES_PER_PAGE)
            return list_result(request.method, key, tools, following, request.era)
        items = self._items(request)
        if key == "skills":
            page, following = _page(items, cursor, SKILLS_PER_PAGE)
            return skills_page(
                [self._skill(item, request) for item in page], following, request.era
            )
        page, following = _page(items, cursor, ENTRIES_PER_PAGE)
        entries = [item.entry for item in page]
        return list_result(request.method, key, entries, following, request.era)

    def _with_app(self, entry: Mapping[str, Any], request: Request) -> Mapping[str, Any]:
        """A tool's entry with the App that shows it, where there is one."""
        app = self._catalog.app_of(entry["name"])
        return entry if app is None else with_app(entry, app.name)

    def _skill(self, item: Item, request: Request) -> dict[str, Any]:
        return skill_entry(item, self._catalog.files(item, request.caller))


_T = TypeVar("_T")


def _page(entries: Sequence[_T], cursor: str | None, size: int) -> tuple[Sequence[_T], str | None]:
    start = _start(cursor, len(entries), size)
    after = start + size
    return entries[start:after], _cursor(after) if after < len(entries) else None


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"from:{start}".encode()).decode()


def _start(cursor: str | None, length: int, size: int) -> int:
    if cursor is None:
        return 0
    try:
        start = int(base64.urlsafe_b64decode(cursor.encode()).decode().removeprefix("from:"))
    except (ValueError, binascii.Error):
        start = -1
    # Only what we gave out counts: each cursor that is taken is a page that is kept.
    if not 0 < start < length or start % size or cursor != _cursor(start):
        raise _bad_cursor()
    return start


def _bad_cursor() -> WireError:
    return WireError(INVALID_PARAMS, "The cursor is not one of this list. Start again.")


def _purpose(request: Request) -> str:
    return f"{request.method}:{request.only or ''}"
