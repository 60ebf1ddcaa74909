"""Where what a tool returned can be read: the links of the tool's view, and those in the result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from gateway.assistant.conversation import Source
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view
from gateway.observability.logs import get_logger
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.views.drawing import Drawing, plain
from gateway.toolkit.web_addresses import address_parts

MAX_SOURCES = 8
"""Links that one call shows."""
MAX_TITLE_CHARACTERS = 120
_TITLES = ("title", "name", "label")
_ADDRESSES = ("url", "link", "href", "html_url", "web_url", "uri")
_MAX_LOOKED_AT = 2000
"""Values of a result that are looked at."""

log = get_logger(__name__)


class ResultSources:
    """Finds them.

    Args:
        catalog: knows the views.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def of(
        self, item: Item, arguments: Mapping[str, Any], value: Any, context: CallContext
    ) -> Sequence[Source]:
        """The links, each once.

        Args:
            item: the tool.
            arguments: what it was given.
            value: what it returned.
            context: who has called it; the links lead where they may read.
        """
        try:
            found = await asyncio.to_thread(self._all, item, arguments, value, context)
        except Exception as error:  # an answer is good without its links
            log.warning("sources_not_found", tool=item.key, reason=type(error).__name__)
            return ()
        return found

    def _all(
        self, item: Item, arguments: Mapping[str, Any], value: Any, context: CallContext
    ) -> Sequence[Source]:
        links = [*self._drawn(item, arguments, value, context), *_told(plain(value))]
        once: dict[str, Source] = {}
        for title, address in links:
            if _leads(address) and title.strip():
                title = " ".join(title.split())[:MAX_TITLE_CHARACTERS]
                once.setdefault(address, {"title": title, "address": address})
        return list(once.values())[:MAX_SOURCES]

    def _drawn(
        self, item: Item, arguments: Mapping[str, Any], value: Any, context: CallContext
    ) -> Iterator[tuple[str, str]]:
        view = self._catalog.views.showing(item)
        if view is None:
            return
        drawing = Drawing(self._catalog, context.base, context.caller)
        address = drawing.address(view, arguments)
        reader = _Links(context.base)
        reader.feed(drawing.draw(view, arguments, value, glance=True))
        yield from reader.found[: MAX_SOURCES - 1]
        if address:
            yield declared_view(view).title, address


class _Links(HTMLParser):
    """Reads the links that stand in HTML.

    Args:
        base: the portal's address, which is put before paths.
    """

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self._address = ""
        self._text: list[str] = []
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A link begins."""
        if tag == "a":
            address = dict(attrs).get("href") or ""
            self._address = self._base + address if address.startswith("/") else address
            self._text = []

    def handle_data(self, data: str) -> None:
        """Its words."""
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """It ends."""
        if tag == "a" and self._address:
            self.found.append(("".join(self._text), self._address))
            self._address = ""


def _told(value: Any) -> Iterator[tuple[str, str]]:
    """Objects in a result that have both a title and an address."""
    waiting, looked_at = [value], 0
    while waiting and looked_at < _MAX_LOOKED_AT:
        each = waiting.pop(0)
        looked_at += 1
        if isinstance(each, Mapping):
            titles = [each[name] for name in _TITLES if isinstance(each.get(name), str)]
            addresses = [each[name] for name in _ADDRESSES if isinstance(each.get(name), str)]
            if titles and addresses:
                yield titles[0], addresses[0]
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _leads(address: str) -> bool:
    """Whether a browser may be sent there."""
    url = address_parts(address)
    return url.scheme in ("http", "https") and bool(url.netloc) and len(address) <= 2000
