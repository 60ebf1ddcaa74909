"""Views as pages: a tool is called with what the address says, and its view drawn in the frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.views import declared_view
from gateway.contract import ToolFailed
from gateway.errors import NotFound, PortalError
from gateway.pipeline.call import Call, Target
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.pipeline import Pipeline
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.address import arguments_of
from gateway.surfaces.views.drawing import Drawing

_STATUS = {"not_found": 404, "unknown_name": 404, "busy": 503, "unavailable": 503}
"""Statuses of failures whose code says more than that the request was wrong."""


class _ViewRoute(Route):
    """Matches where a plugin has a view now: plugins open late, and change what they offer."""

    def __init__(self, endpoint: Callable[..., Any], catalog: Catalog) -> None:
        super().__init__("/{page:path}", endpoint, methods=["GET"])
        self._catalog = catalog

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether there is a view at the path."""
        if scope["type"] == "http" and self._catalog.views.at(scope["path"]) is not None:
            return super().matches(scope)
        return Match.NONE, {}


class ViewPages:
    """The pages of all plugins' views.

    Args:
        frame: what all pages share.
        catalog: the tier gate.
        pipeline: what every call passes.
    """

    def __init__(self, frame: Frame, catalog: Catalog, pipeline: Pipeline) -> None:
        self._frame = frame
        self._catalog = catalog
        self._pipeline = pipeline

    def route(self) -> Route:
        """The route of all views that there are when a request comes in."""
        return _ViewRoute(self._frame.page("/{page:path}", self._show).endpoint, self._catalog)

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        item = self._catalog.views.at(request.scope["path"])
        if item is None:  # it was there when the request came in
            raise HTTPException(404)
        view = declared_view(item)
        context = context_of(request.scope)
        if context.caller.anonymous:  # a browser has a session, a script may have a token
            context = context._replace(caller=await self._frame.visitors.caller(visitor))
        name = self._catalog.called(item.plugin, view.tool) or view.tool
        drawing = Drawing(self._catalog, visitor.base)
        try:
            tool = self._catalog.tool(name, context.caller, item.plugin)
        except PortalError as refused:
            return self._refused(request, visitor, refused)
        given = arguments_of(request.query_params.multi_items(), tool.entry["inputSchema"])
        if not given and tool.entry["inputSchema"].get("required"):
            return self._page(request, visitor, item, drawing.draw(item, {}))
        answers: list[Any] = []
        outcome = await self._pipeline.call(self._call(context, item, name, given, answers))
        if outcome.error is not None:
            return self._failed(request, visitor, outcome.error)
        # Off the loop: what is long takes a while to draw.
        shown = {} if outcome.redactions else given  # a page repeats no secret
        html = await asyncio.to_thread(drawing.draw, item, shown, answers[-1])
        return self._page(request, visitor, item, html)

    def _call(
        self,
        context: CallContext,
        item: Item,
        name: str,
        given: Mapping[str, Any],
        answers: list[Any],
    ) -> Call:
        def find() -> Target:
            tool = self._catalog.tool(name, context.caller, item.plugin)

            def kept(value: Any, redactions: Sequence[Any]) -> bytes:
                answers.append(value)
                return b""

            run = tool.declared.run  # type: ignore[union-attr]
            return Target(tool, run, tool.parse, kept)

        async def arguments() -> Mapping[str, Any]:
            return given

        return Call(context, "page", "tool", name, find, arguments, trace=context.headers)

    def _page(self, request: Request, visitor: Visitor, item: Item, html: str) -> Response:
        from markupsafe import Markup

        title = declared_view(item).title
        content = Markup(html)  # noqa: S704  (drawn by a template that escapes everything)
        return self._frame.render(request, visitor, "view.html", title=title, content=content)

    def _refused(self, request: Request, visitor: Visitor, refused: PortalError) -> Response:
        if isinstance(refused, NotAllowed):
            title = "Not for everyone"
            return self._frame.error(request, visitor, 403, title, str(refused))
        status = 404 if isinstance(refused, NotFound) else refused.status
        title = "Nothing here" if status == 404 else "Not now"
        return self._frame.error(request, visitor, status, title, str(refused))

    def _failed(self, request: Request, visitor: Visitor, error: Exception) -> Response:
        if isinstance(error, PortalError):
            return self._refused(request, visitor, error)
        if isinstance(error, ToolFailed):
            status = _STATUS.get(error.code, 400)
            return self._frame.error(request, visitor, status, "That did not work", error.message)
        return self._frame.error(request, visitor, 500, "Something went wrong", str(error))
