"""What every forked process finds done: imported as the last by the one that they are forked from.

A portal is opened here and closed again. So what each start would do anew is there already: modules
that are imported late, the schemas of tools, and the statements by which Alembic makes the tables
of an empty SQLite database.

No plugin that uses the object store as it opens takes part: the store's library starts threads,
and a thread is missing from whoever is forked from here, which then waits for it.
"""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path

from gateway.testing import open_test_portal
from gateway.testing.migrations import replayed_migrations
from plugins.codegraph import plugin as codegraph
from plugins.knowledge.knowledge import MIGRATIONS
from plugins.upstreams import plugin as upstreams
from plugins.workflows import plugin as workflows

__all__: list[str] = []

_THREADS = Path("/proc/self/task")


async def _opened_once() -> None:
    config = {"plugins": {"workflows": {"starter": False}}}
    async with open_test_portal(codegraph, upstreams, workflows, config=config) as portal:
        await portal.running.services.for_plugin("knowledge").database.migrate(MIGRATIONS)


_replayed = replayed_migrations()  # kept, or its end would undo it
_replayed.__enter__()
asyncio.run(_opened_once())
# Those of closed connections may still be ending.
_until = time.monotonic() + 60
while (_threads := sorted(_THREADS.glob("*")))[1:]:
    assert time.monotonic() < _until, f"Threads that would be missing from a fork: {_threads}"
    time.sleep(0.01)
gc.collect()
gc.freeze()
