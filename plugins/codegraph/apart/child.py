"""The process: ``python -m plugins.codegraph.apart.child``; it answers one request, and ends.

It only reads the database. Others go first: it runs with a lower priority.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from gateway.toolkit.sql import batches
from plugins.codegraph.apart.request import END, FAILED, RESULT, Request, frame

NICENESS = 5
STATEMENTS = 1_000
"""Statements in a frame."""


class _Reading:
    """The plugin's database, to be read alone."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._reader = engine.execution_options(isolation_level="AUTOCOMMIT")

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """As ``Database.read``."""
        return self._reader.connect()


async def _answers(request: Request) -> AsyncIterator[bytes]:
    engine = create_async_engine(request.database, hide_parameters=True)
    database: Any = _Reading(engine)
    try:
        answer = _rules if request.what == "rules" else _health
        async for each in answer(database, request):
            yield each
    finally:
        await engine.dispose()


async def _rules(database: Any, request: Request) -> AsyncIterator[bytes]:
    from plugins.codegraph.justification.justifier import Justifier
    from plugins.codegraph.justification.outline import packed
    from plugins.codegraph.store.store import GraphStore

    said = await Justifier(database, GraphStore(database)).said(request.view)
    yield packed(said.outline)
    for some in batches(said.statements, STATEMENTS):
        yield msgspec.msgpack.encode(some)


async def _health(database: Any, request: Request) -> AsyncIterator[bytes]:
    from pathlib import Path

    from plugins.codegraph.health.analysis import health_report

    root = Path(request.root) if request.root else None
    report = await health_report(database, request.view, root)
    yield report.model_dump_json(by_alias=True).encode()


async def _run(request: Request, output: Any) -> None:
    try:
        async for each in _answers(request):
            output.write(frame(RESULT, each))
            output.flush()
    except Exception as error:
        output.write(frame(FAILED, f"{type(error).__name__}: {error}".encode()))
        return
    output.write(frame(END))


def main() -> None:
    """Answer the request on standard input."""
    # Output printed by a library must not mix with the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    request = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Request)
    with output:
        asyncio.run(_run(request, output))


if __name__ == "__main__":
    main()
