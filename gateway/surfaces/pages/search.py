"""One search box for all that plugins hold: ``/search?query=…``.

What is asked is what plugins declare (``View.asks``), by their own tools: who may not use one is
told where there would be more, and no plugin is asked for them.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.callers import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view, is_view
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.glances import Glances
from gateway.surfaces.pages.visitors import Visitor

MAX_QUERY_CHARACTERS = 1000
"""Characters of a query; what is longer is cut."""


def searched(catalog: Catalog, caller: Caller) -> list[Item]:
    """The views that a caller's search asks."""
    return [
        item
        for item in catalog.listed("resource", caller)
        if is_view(item) and declared_view(item).asks
    ]


def searched_beyond(catalog: Catalog, caller: Caller) -> list[tuple[str, str]]:
    """The titles of the views that a higher tier's search would ask too, each with its tier."""
    found = []
    for tier, tools in catalog.beyond(caller).items():
        for tool in tools:
            item = catalog.views.showing(tool)
            if item is not None and declared_view(item).asks:
                found.append((declared_view(item).title, f"{tier}"))
    return found


class SearchPage:
    """The page at ``/search``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._glances = Glances(frame)

    def routes(self) -> list[Route]:
        """The route of the page."""
        return [self._frame.page("/search", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        query = request.query_params.get("query", "").strip()[:MAX_QUERY_CHARACTERS]
        catalog, calls = self._frame.parts.catalog, self._frame.calls
        context = await calls.context(request, visitor)
        views = searched(catalog, context.caller)
        wanted = [(item, {declared_view(item).asks: query}) for item in views] if query else []
        glances = await self._glances.of(visitor, context, wanted, counted=True)
        return self._frame.render(
            request,
            visitor,
            "search.html",
            query=query,
            asked=[declared_view(item).title for item in views],
            found=[each for each in glances if each.html or each.problem],
            empty=[each.title for each in glances if not each.html and not each.problem],
            beyond=searched_beyond(catalog, context.caller),
        )
