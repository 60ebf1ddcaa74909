"""Replicas that die in the middle of calls: what the provider billed is in the table, once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.services.database.service import OwnedDatabase
from gateway.services.models.ledger import Ledger
from tests.examples import seed, times
from tests.gateway.services.models.conftest import rows
from tests.gateway.services.models.replicas import AT_ONCE
from tests.servers.openai_compatible import OpenAICompatible, Reply, failing

pytestmark = pytest.mark.heavy
PATIENCE_SECONDS = 120.0
LATER = timedelta(days=1)
KILLS, MAX_SECONDS = times(thorough=1_000, ordinary=4), 600.0
"""Kills, and after how many seconds no other one begins: two replicas make calls all the time."""


@asynccontextmanager
async def nursery(address: str, data_dir: Path, url: str) -> AsyncIterator[Callable[[], int]]:
    """Gives what starts a replica and says its process id."""
    program = "tests.gateway.services.models.replicas"
    words = [sys.executable, "-m", program, address, str(data_dir), url]
    process = await asyncio.to_thread(
        lambda: subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    )
    assert process.stdin
    assert process.stdout
    standard_in, standard_out = process.stdin, process.stdout

    def born() -> int:
        standard_in.write("\n")
        standard_in.flush()
        return int(standard_out.readline())

    try:
        yield born
    finally:
        standard_in.close()
        await asyncio.to_thread(process.wait, 60)
        standard_out.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not true():  # noqa: ASYNC110  (what another process does has no event)
            await asyncio.sleep(0.002)


async def killed(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_the_table_has_what_was_billed_whenever_replicas_die(
    address: str,
    database: OwnedDatabase,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    chance = random.Random(seed(20))
    with OpenAICompatible() as server:
        server.rule(lambda body: Reply(delay_s=chance.random() / 100))
        server.rule(lambda body: failing(503) if chance.random() < 0.1 else None)
        kills = 0
        async with nursery(address, tmp_path, server.url) as born:
            replicas = [await asyncio.to_thread(born), await asyncio.to_thread(born)]
            ends = time.monotonic() + MAX_SECONDS
            while kills < KILLS and time.monotonic() < ends:
                enough = len(server.asked) + chance.randrange(1, 25)
                await until(lambda enough=enough: len(server.asked) >= enough)  # type: ignore[misc]
                await killed(replicas.pop(chance.randrange(2)))
                kills += 1
                replicas.append(await asyncio.to_thread(born))
            for pid in replicas:
                await killed(pid)
                kills += 1
        record_property("kills", kills)
        assert await Ledger(database).sweep(datetime.now(UTC) + LATER) <= kills * AT_ONCE
    found = {row["id"]: row for row in await rows(database)}
    asked = {each.call: each for each in server.asked}
    assert len(asked) == len(server.asked), "a call was made twice"
    assert asked.keys() <= found.keys(), "a call is not in the table"
    assert {row["outcome"] for row in found.values()} <= {"ok", "provider_down", "unknown"}
    unknown = {id for id, row in found.items() if row["outcome"] == "unknown"}
    assert len(unknown) <= kills * AT_ONCE
    assert found.keys() - asked.keys() <= unknown, "only who died before it asked was not heard"
    billed = {id: each.billed[0] for id, each in asked.items() if each.billed and id not in unknown}
    counted = {id: row for id, row in found.items() if row["tokens_in"] is not None}
    assert {id: row["tokens_in"] for id, row in counted.items()} == {
        id: bill["prompt_tokens"] for id, bill in billed.items()
    }
    assert sum(row["tokens_out"] for row in counted.values()) == sum(
        bill["completion_tokens"] for bill in billed.values()
    )
    assert counted
