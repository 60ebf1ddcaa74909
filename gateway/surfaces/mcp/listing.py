"""The lists, written once for each tier, era and content version and then sent as they are."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from gateway.catalog import Catalog
from gateway.items import Kind
from gateway.surfaces.mcp.envelope import INVALID_PARAMS, WireError
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.results import list_result

PAGE = 250
"""Entries on a page; clients follow ``nextCursor``."""

_KINDS: dict[str, tuple[Kind, str]] = {
    "tools/list": ("tool", "tools"),
    "prompts/list": ("prompt", "prompts"),
    "resources/list": ("resource", "resources"),
    "resources/templates/list": ("template", "resourceTemplates"),
}


class Listing:
    """Pages of what a caller may use.

    Args:
        catalog: what there is, and for whom.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._version = -1
        self._written: dict[tuple[Any, ...], bytes] = {}

    async def page(self, request: Request) -> bytes:
        """One page, as the result's JSON."""
        if self._version != self._catalog.version:
            self._written.clear()
            self._version = self._catalog.version
        cursor = request.params.get("cursor")
        era = request.era
        key = (request.method, era.version, request.caller.tier, request.only, cursor)
        written = self._written.get(key)
        if written is None:
            written = self._written[key] = self._write(request, cursor)
        return written

    def _write(self, request: Request, cursor: str | None) -> bytes:
        kind, key = _KINDS[request.method]
        items = self._catalog.listed(kind, request.caller, request.only)
        start = _start(cursor, len(items))
        entries = [item.entry for item in items[start : start + PAGE]]
        after = start + PAGE
        following = _cursor(after) if after < len(items) else None
        return list_result(request.method, key, entries, following, request.era)


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"from:{start}".encode()).decode()


def _start(cursor: str | None, size: int) -> int:
    if cursor is None:
        return 0
    try:
        start = int(base64.urlsafe_b64decode(cursor.encode()).decode().removeprefix("from:"))
    except (ValueError, binascii.Error):
        start = -1
    # Only what we gave out counts: each cursor that is taken is a page that is kept.
    if not 0 < start < size or start % PAGE or cursor != _cursor(start):
        raise WireError(INVALID_PARAMS, "The cursor is not one of this list. Start again.")
    return start
