"""Portals that are killed at any moment: every answer is put to use, and none of them twice."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import OwnedDatabase, open_database
from tests.conftest import new_database
from tests.examples import times
from tests.servers.forked import Forked

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
COUNT = 16
"""Items that there are; each is answered once."""
KILLS = times(thorough=60, ordinary=4)
PATIENCE_SECONDS = 300.0
"""Seconds after which the portals that live on are believed to be stuck."""


def started(directory: Path, database: str) -> Forked:
    words = (str(directory), database, str(COUNT))
    return Forked(words, ROOT, os.environ, directory / "log", module="tests.gateway.work.worker")


async def kept(database: OwnedDatabase) -> Counter[str]:
    """How often each item was put to use."""
    async with database.begin() as connection:
        await connection.execute(text("CREATE TABLE IF NOT EXISTS clerk_kept (key TEXT)"))
        return Counter(await connection.scalars(text("SELECT key FROM clerk_kept")))


async def _live(
    folder: Path, address: str, replicas: int, told: Callable[[str, object], None]
) -> None:
    service = open_database(address, folder)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    await kept(database)
    homes = [folder if address == "sqlite" else folder / f"{n}" for n in range(replicas)]
    for each in homes:
        each.mkdir(exist_ok=True)
    portals = [started(each, address) for each in homes]
    try:
        for _ in range(KILLS):
            before = (await kept(database)).total()
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (now := (await kept(database)).total()) <= before and now < COUNT:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await asyncio.sleep(random.uniform(0, 0.3))
            victim = random.randrange(replicas)
            portals[victim].kill()
            portals[victim].wait()
            portals[victim] = started(homes[victim], address)
        told("kills", KILLS)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(await kept(database)) < COUNT:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        found = await kept(database)
        assert set(found) == {str(number) for number in range(COUNT)}, "An answer was lost."
        assert set(found.values()) == {1}, "An answer was put to use twice."
    finally:
        for portal in portals:
            portal.kill()
            portal.wait()
        await service.close()


async def test_a_portal_that_is_killed_loses_no_answer_and_doubles_none(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    await _live(tmp_path, "sqlite", 1, record_property)


async def test_two_replicas_that_are_killed_lose_no_answer_and_double_none(
    tmp_path: Path, postgres_url: str, record_property: Callable[[str, object], None]
) -> None:
    async with new_database(postgres_url) as url:
        await _live(tmp_path, url, 2, record_property)
