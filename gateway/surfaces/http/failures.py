"""What is answered where no surface answers: no such path, a database away, an error of ours.

A browser gets a page, an OAuth client what its protocol says, everyone else JSON.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.stores import StoreUnavailable
from gateway.config.addresses import CLIENT_PATHS
from gateway.contract.apis import Refusal
from gateway.observability.logs import get_logger
from gateway.surfaces.http.error_formats import PLAIN, ErrorFormat
from gateway.surfaces.http.errors import RETRY_AFTER_SECONDS, UNAVAILABLE, ErrorPage, refusal
from gateway.surfaces.http.request_context import context_of, wants_page

_WORDS = {
    404: ("not_found", "There is no such page"),
    405: ("method_not_allowed", "This page takes no such request"),
}

log = get_logger(__name__)


class Failures:
    """Answers what went wrong behind it. Pure ASGI, and one wrapper: Starlette's has three.

    Args:
        app: what lies behind.
        page: makes a page of an error.
        speaks: says how a path's refusals are told.
    """

    def __init__(
        self, app: ASGIApp, page: ErrorPage, speaks: Callable[[str], ErrorFormat] = lambda _: PLAIN
    ) -> None:
        self._app = app
        self._page = page
        self._speaks = speaks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection.

        Raises:
            Exception: what is an error of ours, for the server's log, once it is answered; and
                whatever comes of a WebSocket, or after a response has begun.
        """
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        has_begun = False

        async def noticed(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            return await self._app(scope, receive, noticed)
        except Exception as error:
            if not has_begun:
                await self._answer(Request(scope), error)(scope, receive, send)
            if has_begun or not isinstance(error, HTTPException | StoreUnavailable):
                raise

    def _answer(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return self._refused(request, error)
        if isinstance(error, StoreUnavailable):
            return self._unavailable(request, error)
        return self._unexpected(request)

    def _refused(self, request: Request, error: HTTPException) -> Response:
        code, title = _WORDS.get(error.status_code, ("http_error", error.detail))
        text = f"{error.detail}: {request.method} {request.url.path}"
        response = self._response(request, error.status_code, code, title, text)
        response.headers.update(error.headers or {})
        return response

    def _unavailable(self, request: Request, error: StoreUnavailable) -> Response:
        log.warning("stores_unavailable", reason=str(error))
        if request.scope["path"] in CLIENT_PATHS:
            response = refusal("temporarily_unavailable", UNAVAILABLE, 503)
        else:
            response = self._response(request, 503, "unavailable", "Not just now", UNAVAILABLE)
        response.headers["retry-after"] = str(RETRY_AFTER_SECONDS)
        return response

    def _unexpected(self, request: Request) -> Response:
        request_id = context_of(request.scope).request_id
        text = f"Something went wrong here. Tell the admin the request id {request_id}."
        return self._response(request, 500, "internal_error", "Something went wrong", text)

    def _response(
        self, request: Request, status: int, code: str, title: str, text: str
    ) -> Response:
        if wants_page(request):
            return self._page(request, status, title, text)
        dialect = self._speaks(request.url.path)
        refused = Refusal(status, code, text, context_of(request.scope).request_id)
        status, body = dialect.failed(refused)
        response = Response(body, status, media_type="application/json")
        response.raw_headers.extend(dialect.headers(None))
        return response
