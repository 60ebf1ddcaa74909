"""Asks a process of its own about a whole graph, where that takes long enough to be worth it.

Threads would not do: whatever computes in one keeps the interpreter from all others, and what it
holds in memory has the collector hold everybody up for a second.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
from sqlalchemy import func, select

from gateway.contract import Database
from gateway.toolkit.child_process import PIPE, Child, spawn
from plugins.codegraph.apart.request import END, FAILED, Request
from plugins.codegraph.health.report import HealthReport
from plugins.codegraph.justification.outline import Outline, unpacked
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import entities

LARGE = 5_000
"""Entities from which on a process is started, which takes a second by itself."""
_decoder = msgspec.msgpack.Decoder(list[Statement])


class AnalysisFailed(Exception):
    """The process could not answer; the message says why, for an admin."""


async def is_large(database: Database, view: RepositoryView) -> bool:
    """Whether a repository is large enough for a process of its own."""
    some = select(entities.c.id).where(
        entities.c.layer == view.layer, entities.c.repo == view.id, entities.c.org == view.org
    )
    query = select(func.count()).select_from(some.limit(LARGE).subquery())
    async with database.read() as connection:
        return int(await connection.scalar(query) or 0) >= LARGE


async def rules(database: Database, view: RepositoryView) -> tuple[Outline, list[Statement]]:
    """What the rules say of a repository, with its outline (``Justifier.said``).

    Args:
        database: the plugin's database.
        view: the repository, whose texts have been read.

    Raises:
        AnalysisFailed: the process could not say it.
    """
    outline, statements = Outline(), list[Statement]()
    async with _asked("rules", database, view) as answers:
        outline = unpacked(await anext(answers))
        async for each in answers:
            statements += _decoder.decode(each)
    return outline, statements


async def health(database: Database, view: RepositoryView, root: Path | None) -> HealthReport:
    """The health report of a repository (``analysis.health_report``).

    Args:
        database: the plugin's database.
        view: the repository.
        root: its files, for Git's history; None for none.

    Raises:
        AnalysisFailed: the process could not make it.
    """
    async with _asked("health", database, view, root) as answers:
        report = HealthReport.model_validate_json(await anext(answers))
        async for _ in answers:
            """It says only that it has ended."""
    return report


@asynccontextmanager
async def _asked(
    what: Literal["rules", "health"],
    database: Database,
    view: RepositoryView,
    root: Path | None = None,
) -> AsyncGenerator[AsyncIterator[bytes]]:
    request = Request(
        what,
        database.engine.url.render_as_string(hide_password=False),
        view,
        root="" if root is None else str(root),
    )
    paths = [path for path in sys.path if path]
    child = await spawn(
        *(sys.executable, "-m", "plugins.codegraph.apart.child"),
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,  # Ctrl-C goes to the portal alone, which then ends it
    )
    try:
        assert child.stdin is not None  # noqa: S101  (a pipe was asked for)
        child.stdin.write(msgspec.msgpack.encode(request))
        child.stdin.close()
        async with aclosing(_frames(child)) as answers:
            yield answers
    finally:
        child.kill()
        await child.wait()


async def _frames(child: Child) -> AsyncGenerator[bytes]:
    """The results, up to the end."""
    assert child.stdout is not None  # noqa: S101  (a pipe was asked for)
    while True:
        try:
            size = int.from_bytes(await child.stdout.readexactly(4), "big")
            data = await child.stdout.readexactly(size)
        except EOFError:  # asyncio.IncompleteReadError
            code = await child.wait()
            raise AnalysisFailed(
                f"The process that looks at the whole graph ended with code {code}. Where that is "
                "-9, the machine may have had too little memory for it."
            ) from None
        if data[:1] == END:
            return
        if data[:1] == FAILED:
            raise AnalysisFailed(data[1:].decode("utf-8", "replace"))
        yield data[1:]
