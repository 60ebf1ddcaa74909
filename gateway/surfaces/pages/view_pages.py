"""Views as pages: a tool is called with what the address says, and its view drawn in the frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from gateway.approvals.request import PageBack
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.views import PICTURE_SUFFIX, declared_view
from gateway.contract import Tier, ToolFailed
from gateway.errors import NotFound, PortalError
from gateway.limits.rate_counter import LimitReached
from gateway.pipeline.approval_answers import APPROVAL_NEEDED, APPROVAL_REFUSED
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.pages import words
from gateway.surfaces.pages.frame import HEADERS, Frame
from gateway.surfaces.pages.view_writes import MAX_WRITE_BYTES, ViewWrites, asked_for
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.address import arguments_of
from gateway.surfaces.views.drawing import Drawing
from gateway.surfaces.views.graphs.picture import SVG_MEDIA_TYPE

_STATUS = {
    "not_found": 404,
    "unknown_name": 404,
    "ended": 410,
    "busy": 503,
    "unavailable": 503,
    APPROVAL_NEEDED: 409,
    APPROVAL_REFUSED: 403,
}
"""Statuses of failures whose code says more than that the request was wrong."""
_SCOPES_WITHOUT_PERSON = {"address", "network"}
"""Whose calls a limit counts together where nobody is signed in."""


class _ViewRoute(Route):
    """Matches where a plugin has a view now: plugins open late, and change what they offer."""

    def __init__(self, endpoint: Callable[..., Any], catalog: Catalog, method: str) -> None:
        super().__init__("/{page:path}", endpoint, methods=[method])
        self._catalog = catalog

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether there is a view at the path."""
        if scope["type"] == "http" and self._catalog.views.at(scope["path"]) is not None:
            return super().matches(scope)
        return Match.NONE, {}


USAGE, USAGE_VIEW = "/usage", "/usage/month"
"""What people type, and the view that it leads to, where the portal has models or plans."""


class _UsageRoute(_ViewRoute):
    """Matches ``/usage`` where there is the view that it leads to."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether that is asked for, and is there."""
        if scope["type"] == "http" and scope["path"] == USAGE:
            return super().matches({**scope, "path": USAGE_VIEW})
        return Match.NONE, {}


class ViewPages:
    """The pages of all plugins' views.

    Args:
        frame: what all pages share.
        writes: answers their forms.
    """

    def __init__(self, frame: Frame, writes: ViewWrites) -> None:
        self._frame = frame
        self._calls = frame.calls
        self._catalog = frame.parts.catalog
        self._writes = writes
        writes.draw = self._page

    def routes(self) -> list[Route]:
        """The routes of all views that there are when a request comes in, and of their forms."""
        shown = self._frame.page("/{page:path}", self._show).endpoint
        written = self._frame.form("/{page:path}", self._writes.answer, MAX_WRITE_BYTES).endpoint
        usage = self._frame.page(USAGE, self._usage).endpoint
        return [
            _UsageRoute(usage, self._catalog, "GET"),
            _ViewRoute(shown, self._catalog, "GET"),
            _ViewRoute(written, self._catalog, "POST"),
        ]

    async def _usage(self, request: Request, visitor: Visitor) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        return self._frame.leave(f"{visitor.root}{USAGE_VIEW}{query}")

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        item = self._catalog.views.at(request.scope["path"])
        if item is None:  # it was there when the request came in
            raise HTTPException(404)
        view = declared_view(item)
        context = await self._calls.context(request, visitor)
        name = self._catalog.called(item.plugin, view.tool) or view.tool
        try:
            tool = self._catalog.tool(name, context.caller, item.plugin)
        except PortalError as refused:
            return self._refused(request, visitor, refused)
        given = arguments_of(request.query_params.multi_items(), tool.entry["inputSchema"])
        as_file = request.scope["path"].endswith(PICTURE_SUFFIX)
        if not given and tool.entry["inputSchema"].get("required") and not as_file:
            return await self._page(request, visitor, context, item, {})
        answered = await self._calls.call(context, item.plugin, view.tool, given, counted=True)
        if (asks := asked_for(answered.error)) and visitor.person is not None and not as_file:
            query = f"?{request.url.query}" if request.url.query else ""
            return await self._writes.wait(visitor, asks, PageBack(request.scope["path"] + query))
        if answered.error is not None:
            return self._failed(request, visitor, answered.error)
        shown = {} if answered.scrubbed else given  # a page repeats no secret
        if as_file:
            return await self._file(visitor, context, item, shown, answered.value)
        return await self._page(request, visitor, context, item, shown, answered.value)

    async def _file(
        self,
        visitor: Visitor,
        context: CallContext,
        item: Item,
        given: Mapping[str, Any],
        answer: Any,
    ) -> Response:
        """The picture of a view, to be kept."""
        drawing = Drawing(self._catalog, visitor.base, context.caller)
        svg = await asyncio.to_thread(drawing.file, item, given, answer)
        name = f"{item.plugin}-{declared_view(item).name}{PICTURE_SUFFIX}"
        headers = {
            **HEADERS,
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
            "content-disposition": f'attachment; filename="{name}"',
        }
        return Response(svg, headers=headers, media_type=SVG_MEDIA_TYPE)

    async def _page(
        self,
        request: Request,
        visitor: Visitor,
        context: CallContext,
        item: Item,
        given: Mapping[str, Any],
        value: Any = None,
    ) -> Response:
        from markupsafe import Markup

        mark = partial(self._frame.forms.mark, visitor)
        drawing = Drawing(self._catalog, visitor.base, context.caller, mark)
        # Off the loop: what is long takes a while to draw.
        html = await asyncio.to_thread(drawing.draw, item, given, value)
        title = declared_view(item).title
        content = Markup(html)  # noqa: S704  (drawn by a template that escapes everything)
        return self._frame.render(request, visitor, "view.html", title=title, content=content)

    def _refused(self, request: Request, visitor: Visitor, refused: PortalError) -> Response:
        if isinstance(refused, NotAllowed):
            title, text = "Not for everyone", str(refused)
            # Who is signed in by a proxy has no session here, and is somebody all the same.
            unknown = visitor.person is None and refused.current is Tier.OPEN
            if unknown:
                text = f"This page takes {refused.required} access, and you are not signed in."
            return self._frame.error(request, visitor, 403, title, text, signs_in=unknown)
        if isinstance(refused, LimitReached):
            return self._too_often(request, visitor, refused)
        status = 404 if isinstance(refused, NotFound) else refused.status
        title = "Nothing here" if status == 404 else "Not now"
        return self._frame.error(request, visitor, status, title, str(refused))

    def _too_often(self, request: Request, visitor: Visitor, refused: LimitReached) -> Response:
        """A page whose tool was called too often of late, by pages or by programs."""
        unknown = refused.details["scope"] in _SCOPES_WITHOUT_PERSON
        wait = words.span(refused.details["retryAfterSeconds"])
        text = f"Much was asked of the portal just now. Load this page again in {wait}"
        text += ", or sign in to have calls of your own." if unknown else "."
        response = self._frame.error(
            request, visitor, refused.status, "Too often", text, signs_in=unknown
        )
        response.headers.update({name.decode(): value.decode() for name, value in refused.headers})
        return response

    def _failed(self, request: Request, visitor: Visitor, error: Exception) -> Response:
        if isinstance(error, PortalError):
            return self._refused(request, visitor, error)
        if isinstance(error, ToolFailed):
            status = _STATUS.get(error.code, 400)
            title = "Nothing here" if status == 404 else "That did not work"
            return self._frame.error(request, visitor, status, title, error.on_page)
        return self._frame.error(request, visitor, 500, "Something went wrong", str(error))
