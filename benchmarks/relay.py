"""What it costs to reach another MCP server through the portal: a small tool of a server beside it.

Everybody has the same server behind them, the official SDK's, which runs on the load generator's
core; each relay has a core of its own. Porch relays with everything on. Rounds are interleaved, and
a ratio is the median of the rounds' own ratios.

``python -m benchmarks.relay NAME PORT URL`` serves one of the relays on 127.0.0.1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.load import Figures, middle
from benchmarks.peers import Served, serve_peer, serve_portal
from benchmarks.processes import CLIENT_CORE, SERVER_CORE, free_port, running
from benchmarks.rounds import CONNECTIONS, Measured, figures_row, in_rounds, rates, ratio_row
from benchmarks.table import Bar, Row
from benchmarks.wire import ERAS, Era

SECTION = "relay"
NAMES: Mapping[str, str] = {
    "direct": "the server itself",
    "fastmcp": "FastMCP's proxy as documented",
    "fastmcp-shared": "FastMCP's proxy, one shared client",
    "pooled": "the SDK's server before one pooled SDK client",
    "porch": "through Porch, everything on",
}
BAR, GOAL = 1.0, 2.0
"""Porch's calls per second over those of the SDK with a pooled client: the bar, and the goal."""
_TOOL = "add"


def measure() -> list[Row]:
    """Calls per second, p50, p99 and processor time of every relay, and Porch's ratios."""
    with _serving() as served:
        calls = [(name, era, at) for era in ERAS for at in CONNECTIONS for name in NAMES]
        found = in_rounds(served, calls)
    rows = [_figures(*key, middle(rounds)) for key, rounds in found.items()]
    return rows + [_ratio(found, era, at) for era in ERAS for at in CONNECTIONS]


@contextmanager
def _serving() -> Generator[dict[str, Served]]:
    """Serve the server and all relays while the block lasts."""
    with ExitStack() as stack:

        def started(module: str, name: str, last: str, core: int) -> Served:
            port = free_port()
            process = stack.enter_context(
                running(["-m", module, name, str(port), last], port, core=core)
            )
            return Served(port, process.pid)

        served = {"direct": started("benchmarks.peers", "mcp", "1", CLIENT_CORE)}
        url = f"http://127.0.0.1:{served['direct'].port}/mcp"
        for name in RELAYS:
            served[name] = started("benchmarks.relay", name, url, SERVER_CORE)
        yield served


def _figures(name: str, era: Era, connections: int, figures: Figures) -> Row:
    what = f"another server's tool, {NAMES[name]}, {era} at {connections}"
    return figures_row(SECTION, what, figures, headline=connections > 1)


def _ratio(found: Measured, era: Era, at: int) -> Row:
    what = f"Porch's calls/s over those of {NAMES['pooled']}, {era} at {at}"
    ratios = rates(found, ("porch", era, at), ("pooled", era, at))
    return ratio_row(SECTION, what, ratios, Bar("at least", BAR), f"; the goal is {GOAL:g}")


def _fastmcp(url: str) -> Any:
    from fastmcp.server import create_proxy

    return create_proxy(url).http_app(path="/mcp", json_response=True, stateless_http=False)


def _fastmcp_shared(url: str) -> Any:
    """The proxy with a client that is connected once, and used by all requests."""
    from fastmcp import Client
    from fastmcp.server.providers.proxy import FastMCPProxy
    from starlette.applications import Starlette

    client: Any = Client(url)
    app: Any = FastMCPProxy(client_factory=lambda: client).http_app(
        path="/mcp", json_response=True, stateless_http=False
    )

    @asynccontextmanager
    async def lifespan(outer: Starlette) -> AsyncGenerator[None]:
        async with client, app.router.lifespan_context(app):
            yield

    return Starlette(routes=app.routes, middleware=app.user_middleware, lifespan=lifespan)


def _pooled(url: str) -> Any:
    """The SDK's own server and client, with nothing else between them."""
    from mcp import Client
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    client: Any = Client(url)

    async def list_tools(context: Any, params: Any) -> Any:
        return await client.list_tools()

    async def call_tool(context: Any, params: Any) -> Any:
        return await client.session.call_tool(params.name, params.arguments or {})

    server: Any = Server(
        "pooled",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: None,
    )
    manager = StreamableHTTPSessionManager(server, json_response=True)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with client, manager.run():
            yield

    return Starlette(routes=[Route("/mcp", endpoint=manager.asgi_app)], lifespan=lifespan)


RELAYS: Mapping[str, Callable[[str], Any] | None] = {
    "fastmcp": _fastmcp,
    "fastmcp-shared": _fastmcp_shared,
    "pooled": _pooled,
    "porch": None,
}


def _serve_porch(port: int, url: str) -> None:
    import yaml

    from plugins.upstreams import plugin

    server = {"name": "far", "url": url, "tools": {"alias": {_TOOL: _TOOL}}}
    with tempfile.TemporaryDirectory() as place:
        config = Path(place, "config")
        config.mkdir()
        (config / "tiers.yaml").write_text("default: open\n")
        written = {"plugins": {"upstreams": {"servers": [server]}}}
        (config / "portal.yaml").write_text(yaml.safe_dump(written))
        serve_portal(Path(place), port, plugin)


def main() -> None:
    """Serve the relay that the command line names."""
    name, port, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    made = RELAYS[name]
    if made is None:
        return _serve_porch(port, url)
    return serve_peer(made(url), port)


if __name__ == "__main__":
    main()
