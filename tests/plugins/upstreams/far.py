"""A server of the official SDK on loopback: what others run, and the portal stands before."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from benchmarks.processes import free_port
from tests.plugins.upstreams.far_content import Far
from tests.servers.legacy_only import LegacyOnly
from tests.servers.serving import bound, serving

__all__ = ["Far", "Restartable", "far_server"]


class _App:
    """The SDK's server as an ASGI application that starts itself and counts what it is asked."""

    def __init__(self, far: Far, server: Any) -> None:
        self._far = far
        self._manager = StreamableHTTPSessionManager(server)
        self._ready: asyncio.Event | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._ready is None:
            self._ready, self._loop = asyncio.Event(), asyncio.get_running_loop()
            self._far.loop = self._loop
            self._task = asyncio.create_task(self._run())
        await self._ready.wait()
        self._far.headers = {k.decode(): v.decode() for k, v in scope["headers"]}
        if self._far.down:
            if scope["method"] == "POST":
                self._far.turned_away.append(time.monotonic())
            headers = [(b"retry-after", self._far.retry_after.encode())]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        message = await receive()
        self._count(message.get("body", b""))
        told = [message]

        async def again() -> Any:
            return told.pop() if told else await receive()

        await self._manager.asgi_app(scope, again, send)

    def end(self) -> None:
        """End all streams; from another thread."""
        if self._ready is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
            self._loop.call_soon_threadsafe(self._far.silence)

    async def _run(self) -> None:
        assert self._ready is not None
        async with self._manager.run():
            self._ready.set()
            await asyncio.Event().wait()

    def _count(self, body: bytes) -> None:
        try:
            told = json.loads(body)
            self._far.asked[told["method"]] += 1
        except (ValueError, KeyError):
            self._far.asked["GET"] += 1
            return
        self._far.headers_of[told["method"]] = self._far.headers
        if told["method"] in ("tools/call", "prompts/get", "resources/read"):
            self._far.metas.append(told["params"].get("_meta", {}))


@contextmanager
def far_server(
    era: str = "modern",
    port: int = 0,
    around: Callable[[Any], Any] = lambda app: app,
    *,
    follows: bool = False,
    instructions: str = "It holds numbers.",
    skills: bool = False,
    tools: list[dict[str, Any]] | None = None,
) -> Iterator[Far]:
    """Run the server for as long as the block lasts.

    Args:
        era: ``modern``, or ``legacy`` for a server that knows the older era alone.
        port: where it listens.
        around: puts something before it.
        follows: whether its resources can be followed.
        instructions: what it says of itself.
        skills: whether it has the Skills extension.
        tools: what it lists, in place of what it has.
    """
    far = Far()
    far.tools = tools or far.tools
    server: Any = Server(
        "far",
        version="7",
        instructions=instructions,
        on_list_tools=far.list_tools,
        on_call_tool=far.call_tool,
        on_list_prompts=far.list_prompts,
        on_get_prompt=far.get_prompt,
        on_completion=far.complete,
        on_list_resources=far.list_resources,
        on_list_resource_templates=far.list_templates,
        on_read_resource=far.read,
        on_subscribe_resource=far.subscribe if follows else None,
        on_unsubscribe_resource=far.unsubscribe if follows else None,
        on_subscriptions_listen=far.listen if follows else None,
        get_tool_input_schema=lambda name: None,
    )
    server.add_request_handler("skills/list", types.RequestParams, far.list_skills)
    if skills:
        server.extensions = {"io.modelcontextprotocol/skills": {}}
        options = server.create_initialization_options
        server.create_initialization_options = partial(
            options, experimental_capabilities=server.extensions
        )
    app: Any = (started := _App(far, server))
    if era == "legacy":
        app = LegacyOnly(app)
    with serving(around(app), bound(port)) as base:
        far.url = f"{base}/mcp"
        try:
            yield far
        finally:
            started.end()


class Restartable:
    """A server at one port that can be taken away and brought back."""

    def __init__(self, era: str, *, follows: bool = False) -> None:
        self.era = era
        self._follows = follows
        self._running = ExitStack()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def start(self, tools: list[dict[str, Any]] | None = None) -> Far:
        return self._running.enter_context(
            far_server(self.era, self.port, follows=self._follows, tools=tools)
        )

    def stop(self) -> None:
        self._running.close()
