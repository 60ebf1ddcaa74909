"""Killed with -9 in the middle of a batch, a restart completes it, and no entry is there twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.memory.store import tables
from tests.examples import seed, times
from tests.plugins.knowledge.memory.batches.crash import ANA, TIERS
from tests.servers.forked import Forked

pytestmark = pytest.mark.anyio
ENTRIES = 120
OTHERS = times(thorough=4, ordinary=2)
"""Moments after the first."""


async def killed(data: Path, moment: int) -> str:
    """Let a portal die after that many statements; where the batch's results are."""
    said = data / "said"
    words = (str(data), str(moment), str(ENTRIES))
    module = "tests.plugins.knowledge.memory.batches.crash"
    process = Forked(words, Path.cwd(), os.environ, said, module=module)
    code = await asyncio.to_thread(process.wait)
    assert code == -signal.SIGKILL, said.read_text()
    return next(line for line in said.read_text().splitlines() if line.startswith("/openspec/"))


@pytest.mark.heavy
@pytest.mark.parametrize(
    "moment",
    [0, *sorted(random.Random(seed(7)).sample(range(30, 1300), OTHERS))],
    ids=range(OTHERS + 1),
)
async def test_a_portal_that_is_killed_completes_the_batch_at_its_next_start(
    tmp_path: Path, moment: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", 1)
    url = await killed(tmp_path, moment)
    async with open_test_portal(plugin, data_dir=tmp_path, tiers=TIERS) as portal:
        await portal.sign_in("ana", ANA)
        while True:
            report = (await portal.get(url, tier="ana")).json()
            if report["status"] not in ("pending", "processing"):
                break
            await asyncio.sleep(0.05)
        assert report["status"] == "completed"
        assert (report["results"]["succeeded"], report["results"]["failed"]) == (ENTRIES, 0)
        database = portal.running.services.for_plugin("knowledge").database
        async with database.read() as connection:
            contents = list(await connection.scalars(sa.select(tables.entries.c.content)))
            versions = list(await connection.scalars(sa.select(tables.versions.c.version)))
            kinds = list(await connection.scalars(sa.select(tables.events.c.kind)))
            audit_records = list(await connection.scalars(sa.select(tables.audit.c.operation)))
        assert sorted(contents) == sorted(f"Seed {n} of beans." for n in range(ENTRIES))
        assert versions == [1] * ENTRIES
        assert kinds == ["created"] * ENTRIES
        assert audit_records == ["create"] * ENTRIES
