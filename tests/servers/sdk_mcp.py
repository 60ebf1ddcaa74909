"""An MCP server made with the SDK: Streamable HTTP in both eras, HTTP+SSE, and stdio.

``python sdk_mcp.py`` serves stdio. What a test wants to know of it, it keeps: requests by method,
and which calls were cancelled.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import mcp_types as mcp
from mcp.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

SCHEMA: dict[str, Any] = {"type": "object"}
FORM: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
TOOLS = (
    "echo",
    "count",
    "log",
    "ask",
    "ask_aside",
    "hang",
    "change",
    "touch",
    "seen",
    "when_cancelled",
)


def _text(text: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)])


class SdkServer:
    """The server, and what it has seen.

    Attributes:
        methods: how often each was requested.
        headers: those of the last HTTP request of a tool.
        hanging: a call of ``hang`` runs.
        cancelled: one was cancelled.
        manager: holds the legacy sessions.
    """

    def __init__(self) -> None:
        self.methods: Counter[str] = Counter()
        self.headers: dict[str, str] = {}
        self.hanging, self.cancelled = threading.Event(), threading.Event()
        self.bus = InMemorySubscriptionBus()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # logging is deprecated, and still spoken
            self.server: Server[Any] = Server(
                "workshop",
                version="7",
                title="The workshop",
                instructions="Ask away.",
                on_list_tools=self._list,
                on_call_tool=self._call,
                on_set_logging_level=self._level,
                on_subscribe_resource=self._subscribe,
                on_subscriptions_listen=ListenHandler(self.bus),
                get_tool_input_schema=lambda name: None,
            )
        self.server.middleware.append(self._counted)
        self.manager: StreamableHTTPSessionManager
        self.watched: list[str] = []

    async def _counted(self, ctx: Any, call_next: Any) -> Any:
        self.methods[ctx.method] += 1
        return await call_next(ctx)

    async def _list(self, ctx: Any, params: Any) -> mcp.ListToolsResult:
        tools = [mcp.Tool(name=name, input_schema=SCHEMA) for name in TOOLS]
        return mcp.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    async def _level(self, ctx: Any, params: Any) -> mcp.EmptyResult:
        return mcp.EmptyResult()

    async def _subscribe(self, ctx: Any, params: Any) -> mcp.EmptyResult:
        self.watched.append(params.uri)
        await ctx.session.send_resource_updated(params.uri)
        return mcp.EmptyResult()

    async def _call(self, ctx: Any, params: mcp.CallToolRequestParams) -> Any:
        if ctx.request is not None:
            self.headers = dict(ctx.request.headers)
        given = params.arguments or {}
        return await getattr(self, f"_{params.name}")(ctx, given)

    async def _echo(self, ctx: Any, given: dict[str, Any]) -> Any:
        return _text(str(given.get("text", "")))

    async def _seen(self, ctx: Any, given: dict[str, Any]) -> Any:
        result = _text("")
        return result.model_copy(update={"structured_content": {"meta": dict(ctx.meta or {})}})

    async def _count(self, ctx: Any, given: dict[str, Any]) -> Any:
        for done in (1, 2, 3):
            await ctx.session.report_progress(done, 3, f"step {done}")
        return _text("counted")

    async def _log(self, ctx: Any, given: dict[str, Any]) -> Any:
        await ctx.session.send_log_message("info", {"so": "far"}, "shop", ctx.request_id)
        return _text("logged")

    async def _ask(self, ctx: Any, given: dict[str, Any]) -> Any:
        form = await ctx.session.elicit_form("Who?", FORM, ctx.request_id)
        return _text(f"{form.action} {(form.content or {}).get('name')}")

    async def _ask_aside(self, ctx: Any, given: dict[str, Any]) -> Any:
        form = await ctx.session.elicit_form("Who?", FORM)
        return _text(f"{form.action} {(form.content or {}).get('name')}")

    async def _hang(self, ctx: Any, given: dict[str, Any]) -> Any:
        self.hanging.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()

    async def _when_cancelled(self, ctx: Any, given: dict[str, Any]) -> Any:
        assert await anyio.to_thread.run_sync(self.cancelled.wait, 20)
        return _text("cancelled")

    async def _touch(self, ctx: Any, given: dict[str, Any]) -> Any:
        await self.bus.publish(ResourceUpdated(uri=given["uri"]))
        return _text("touched")

    async def _change(self, ctx: Any, given: dict[str, Any]) -> Any:
        await self.bus.publish(ToolsListChanged())
        if ctx.protocol_version < "2026":
            await ctx.session.send_tool_list_changed()
        return _text("changed")

    def app(self, *, json: bool = False) -> Starlette:
        """Streamable HTTP at ``/mcp``, both eras; HTTP+SSE at ``/sse``."""
        self.manager = StreamableHTTPSessionManager(self.server, json_response=json)
        old = SseServerTransport("/messages/")

        async def sse(request: Request) -> Response:
            streams = old.connect_sse(request.scope, request.receive, request._send)
            async with streams as (reading, writing):
                options = self.server.create_initialization_options()
                await self.server.run(reading, writing, options)
            return Response()

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with self.manager.run():
                yield

        routes = [
            Route("/mcp", endpoint=_Endpoint(self)),
            Route("/sse", endpoint=sse, methods=["GET"]),
            Mount("/messages/", app=old.handle_post_message),
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    def forget_sessions(self) -> None:
        """End every legacy session, as a restart would."""
        self.manager._server_instances.clear()


class _Endpoint:
    """An ASGI instance, so that Starlette passes every method through."""

    def __init__(self, server: SdkServer) -> None:
        self._server = server

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._server.manager.handle_request(scope, receive, send)


@contextmanager
def sdk_server(*, json: bool = False) -> Iterator[tuple[SdkServer, str]]:
    """Serve on loopback, in a thread; gives the server and its address without a path."""
    from tests.servers.serving import bound, serving

    made = SdkServer()
    with serving(made.app(json=json), bound(), lifespan=True) as url:
        yield made, url


async def _stdio() -> None:
    made = SdkServer()
    async with stdio_server() as (reading, writing):
        await made.server.run(reading, writing, made.server.create_initialization_options())


if __name__ == "__main__":
    sys.stderr.write("starting\n")
    anyio.run(_stdio)
