"""What every forked process finds done: imported as the last by the one that they are forked from.

A portal with all plugins is opened here and closed again. So what each start would do anew is there
already: modules that are imported late, the schemas of tools, and the statements by which Alembic
makes the tables of an empty SQLite database.
"""

from __future__ import annotations

import asyncio
import gc
import threading

from gateway.testing import open_test_portal
from gateway.testing.migrations import replayed_migrations

__all__: list[str] = []


async def _opened_once() -> None:
    async with open_test_portal():
        pass


_replayed = replayed_migrations()  # kept, or its end would undo it
_replayed.__enter__()
asyncio.run(_opened_once())
# A thread would be missing from whoever is forked from here.
assert threading.enumerate() == [threading.main_thread()], threading.enumerate()
gc.collect()
gc.freeze()
