"""The servers that are compared, each with the same small tool.

``python -m benchmarks.peers NAME PORT TOOLS`` serves one of them on 127.0.0.1, with so many tools,
on uvicorn with uvloop and httptools, in one process.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from benchmarks.processes import ABOVE_LOAD, SERVER_CORE, free_port, running

if TYPE_CHECKING:
    from auth import StaticTokens


class Sum(BaseModel):
    """The answer of the small tool."""

    sum: int = Field(description="The sum.")


_SUM = (
    b'{"jsonrpc":"2.0","id":%(id)d,"result":{"content":[{"type":"text",'
    b'"text":"{\\"sum\\":%(sum)d}"}],"structuredContent":{"sum":%(sum)d}}}'
)
SUMMARY = "Add two numbers."
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "description": "One number."},
        "b": {"type": "integer", "description": "Another number."},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}


def names(tools: int) -> list[str]:
    """The names of so many tools: the one that is called, and others to make a long list."""
    return ["add", *(f"add_{number}" for number in range(1, tools))]


def starlette(tools: int) -> Any:
    """A bare Starlette endpoint that adds, without MCP; ``/list`` sends the bytes put there."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    held = b""

    async def add(request: Request) -> Response:
        message = await request.json()
        if message["method"] == "tools/list":
            return Response(held, media_type="application/json")
        arguments = message["params"]["arguments"]
        value = {"sum": arguments["a"] + arguments["b"]}
        content = [{"type": "text", "text": json.dumps(value)}]
        result = {"content": content, "structuredContent": value}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def hold(request: Request) -> Response:
        nonlocal held
        held = await request.body()
        return Response()

    return Starlette(
        routes=[Route("/mcp", add, methods=["POST"]), Route("/list", hold, methods=["PUT"])]
    )


def echo(tools: int) -> Any:
    """An application that does next to nothing, so that what is measured is the HTTP server."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        number = int(message["body"].partition(b'"id":')[2].partition(b",")[0])
        body = _SUM % {b"id": number, b"sum": number + 1}
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return answer


def work(tools: int) -> Any:
    """The work itself: arguments checked, the tool run, its answer as text and as JSON; no MCP."""
    from pydantic import TypeAdapter
    from pydantic_core import from_json, to_json
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    class Arguments(BaseModel, extra="forbid"):
        a: int
        b: int

    arguments, answer = TypeAdapter(Arguments), TypeAdapter(Sum)

    async def call(request: Request) -> Response:
        message = from_json(await request.body())
        given = arguments.validate_python(message["params"]["arguments"])
        found = answer.dump_json(Sum(sum=given.a + given.b))
        content = [{"type": "text", "text": found.decode()}]
        result = {"content": content, "structuredContent": from_json(found)}
        body = to_json({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route("/mcp", call, methods=["POST"])])


def mcp_server(tools: int, *, as_json: bool) -> Any:
    """A bare low-level server of the official SDK, with sessions on the legacy leg."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    offered = [
        types.Tool(
            name=name,
            description=SUMMARY,
            input_schema=dict(SCHEMA),
            output_schema=Sum.model_json_schema(),
        )
        for name in names(tools)
    ]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=offered)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        value = {"sum": params.arguments["a"] + params.arguments["b"]}
        text = types.TextContent(text=json.dumps(value))
        return types.CallToolResult(content=[text], structured_content=value)

    server = Server(
        "mcp",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: SCHEMA,
    )
    return hosted(server, as_json=as_json)


def hosted(server: Any, *, as_json: bool) -> Any:
    """A low-level server of the official SDK as an application over HTTP."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = StreamableHTTPSessionManager(server, json_response=as_json)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncGenerator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Route("/mcp", endpoint=manager.asgi_app)], lifespan=lifespan)


def fastmcp_server(tools: int, *, as_json: bool) -> Any:
    """A FastMCP server, with sessions on the legacy leg."""
    from fastmcp import FastMCP

    server: Any = FastMCP("fastmcp")

    async def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        return Sum(sum=a + b)

    for name in names(tools):
        server.tool(add, name=name)
    return server.http_app(path="/mcp", json_response=as_json, stateless_http=False)


def adder(tools: int) -> Any:
    """A plugin of Porch with the same tools."""
    from gateway.contract import Offer, Plugin, PluginConfig, Tool

    async def add(a: int, b: int) -> Sum:
        """Add two numbers.

        Args:
            a: one number.
            b: another number.
        """
        return Sum(sum=a + b)

    @asynccontextmanager
    async def opened(config: PluginConfig, host: Any) -> AsyncGenerator[Offer]:
        yield Offer(tools=[Tool.of(add, name=name) for name in names(tools)])

    return Plugin("adder", SUMMARY, opened)


def plugin_module(tools: int) -> Any:
    """The module of that plugin, in place of the installed ones."""
    from gateway.contract import hookimpl

    class Module:
        @staticmethod
        @hookimpl
        def porch_plugin() -> Any:
            return adder(tools)

    return Module()


def serve_porch(port: int, tools: int) -> None:
    """Porch with everything on and nobody signed in."""
    with tempfile.TemporaryDirectory() as place:
        config = Path(place, "config")
        config.mkdir()
        (config / "tiers.yaml").write_text("default: open\n")
        serve_portal(Path(place), port, plugin_module(tools))


def serve_portal(place: Path, port: int, *plugins: Any, tokens: StaticTokens | None = None) -> None:
    """A portal as ``porch serve`` runs it, with traces and no exporter.

    Args:
        place: the directory of its ``config`` and ``data``.
        port: where to listen on 127.0.0.1.
        plugins: the modules of its plugins.
        tokens: the static tokens.
    """
    import uvloop

    from gateway.app import PortalApp
    from gateway.config.portal import load_portal
    from gateway.observability import logs, telemetry
    from gateway.server.data_directory import held
    from gateway.server.server import serve

    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    data = place / "data"
    portal = load_portal(place / "config", {"listen": {"port": port}, "limits": ABOVE_LOAD})
    app = PortalApp(portal, data, tokens, modules=plugins)
    with held(data):
        uvloop.run(serve(app, portal.config, data, lambda _: None))


PEERS: Mapping[str, Callable[[int], Any]] = {
    "starlette": starlette,
    "work": work,
    "mcp": partial(mcp_server, as_json=True),
    "mcp-sse": partial(mcp_server, as_json=False),
    "fastmcp": partial(fastmcp_server, as_json=True),
    "fastmcp-sse": partial(fastmcp_server, as_json=False),
}


@dataclass(frozen=True, slots=True)
class Served:
    """A peer that runs: its port and its process."""

    port: int
    pid: int


@contextmanager
def serving(names: Iterable[str], tools: int) -> Generator[dict[str, Served]]:
    """Serve peers while the block lasts, on one core."""
    with ExitStack() as stack:
        served = {}
        for name in names:
            port = free_port()
            command = ["-m", "benchmarks.peers", name, str(port), str(tools)]
            process = stack.enter_context(running(command, port, core=SERVER_CORE))
            served[name] = Served(port, process.pid)
        yield served


def main() -> None:
    """Serve the peer that the command line names."""
    name, port, tools = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if name == "porch":
        return serve_porch(port, tools)
    if name == "http":
        from gateway.server.connections import bounded_protocol

        return serve_peer(echo(tools), port, bounded_protocol(60, 60, 1_000))
    return serve_peer(PEERS[name](tools), port)


def serve_peer(app: Any, port: int, http: Any = "httptools") -> None:
    """Serve an application.

    Args:
        app: what is served.
        port: where, on 127.0.0.1.
        http: the protocol of its connections: uvicorn's, or the portal's own.
    """
    import uvicorn

    uvicorn.run(app, port=port, loop="uvloop", http=http, log_level="error")


if __name__ == "__main__":
    main()
