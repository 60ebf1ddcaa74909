"""Two portals that share a database and are killed at any moment: no yes is spent twice."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.approvals.counting import Voter
from gateway.approvals.store import ApprovalStore
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import open_database
from tests.examples import times
from tests.servers.forked import Forked

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
COUNT = 40
"""Different calls that wait; those of an even amount are approved."""
KILLS = times(thorough=30, ordinary=6)


def started(directory: Path, database: str) -> Forked:
    words = (str(directory), str(COUNT), database)
    module = "tests.gateway.approvals.payer"
    return Forked(words, ROOT, os.environ, Path(os.devnull), module=module)


async def approve(store: ApprovalStore, approved: Counter[int]) -> None:
    """Say yes to what waits, where its amount is even."""
    for each in await store.open():
        amount = -1 if each.arguments is None else each.arguments["amount"]
        if each.state == "waiting" and amount % 2 == 0:
            await store.decide(each.id, Voter("bob"), yes=True)
            approved[amount] += 1


async def test_killed_at_any_moment_nothing_runs_unapproved_and_nothing_twice(
    address: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", KILLS)
    service = open_database(address, tmp_path)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    store, approved, killed = ApprovalStore(database), Counter[int](), 0
    portals = [started(tmp_path, address) for _ in range(2)]
    try:
        while killed < KILLS:
            deadline, seen = time.monotonic() + 120, len(paid(tmp_path))
            while len(paid(tmp_path)) <= seen and time.monotonic() < deadline:
                await approve(store, approved)
                await asyncio.sleep(0.05)
            await asyncio.sleep(random.uniform(0, 0.3))
            victim = random.randrange(2)
            portals[victim].kill()
            portals[victim].wait()
            killed += 1
            portals[victim] = started(tmp_path, address)
    finally:
        for each in portals:
            each.kill()
            each.wait()
        await service.close()
    runs = Counter(paid(tmp_path))
    assert runs
    # Those that were killed between the yes and the run have lost it: fewer, and never more.
    assert runs <= approved, "It ran unapproved, or twice by one yes."


def paid(directory: Path) -> list[int]:
    """The amounts that were paid."""
    file = directory / "paid"
    return [int(line) for line in file.read_text().split()] if file.exists() else []
