"""A chaotic while from its beginning to its reckoning."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx2

from tests.chaos.clients import API, GRACE_SECONDS, Clients, running
from tests.chaos.faults import Fault, schedule
from tests.chaos.ledger import PATIENCE_SECONDS, Ledger
from tests.chaos.world import PEOPLE, World, world
from tests.faults.playbook import token_of

FAULT_SECONDS = (3.0, 12.0)
KILLED_SECONDS = 35.0
"""Seconds for which a replica stays dead at times: long enough for others to take its work."""
CALM_SECONDS = (4.0, 8.0)
SKEW = timedelta(minutes=20)
"""How far the clock of a replica may be off, and somewhat more."""
ONE = timedelta(microseconds=1)

Tell = Callable[[str], None]


def chaos(
    seed: int,
    minutes: float,
    postgres_url: str,
    redis_url: str,
    tell: Tell,
    only: str = "",
    *,
    pause_seconds: float = 0.1,
) -> Ledger:
    """Let faults and load go on beside each other, and see what was kept.

    Args:
        seed: decides the faults, their order and their length.
        minutes: how long, before the reckoning.
        postgres_url: where a PostgreSQL server answers.
        redis_url: where a Redis answers.
        tell: takes a line about each fault.
        only: what the names of the faults hold; all of them by default.
        pause_seconds: how long a client waits on average between two requests.
    """
    ledger, began = Ledger(tell), datetime.now(UTC)
    with (
        tempfile.TemporaryDirectory() as root,
        world(Path(root) / _made(root), postgres_url, redis_url) as all_of_it,
    ):
        asyncio.run(_endured(all_of_it, ledger, seed, minutes * 60, tell, only, pause_seconds))
        _reckon(all_of_it, ledger, began)
        for portal in {each.portal for each in all_of_it.replicas}:
            before, traceback, after = portal.printed.partition("Traceback")
            if traceback:
                ledger.broke(f"a traceback: {before[-500:]}{traceback}{after[:4000]}")
    return ledger


def _made(root: str) -> str:
    (Path(root) / "world").mkdir()
    return "world"


async def _endured(
    world: World,
    ledger: Ledger,
    seed: int,
    seconds: float,
    tell: Tell,
    only: str,
    pause_seconds: float,
) -> None:
    chance = random.Random(seed)
    clients = Clients(world, ledger, random.Random(chance.random()), pause_seconds)
    async with running(clients):
        await asyncio.sleep(max(CALM_SECONDS))
        for fault in schedule(chance, time.monotonic() + seconds, only):
            await _suffered(fault, world, clients, chance, tell)
            healed_at = time.monotonic()
            await asyncio.sleep(chance.uniform(*CALM_SECONDS))
            ledger.watch_queues(healed_at)
        healed_at = time.monotonic()
        while any(ledger.waiting()) and time.monotonic() < healed_at + 2 * PATIENCE_SECONDS:
            await asyncio.sleep(1)
            ledger.watch_queues(healed_at)


async def _suffered(
    fault: Fault, world: World, clients: Clients, chance: random.Random, tell: Tell
) -> None:
    is_long = fault.name.endswith("killed") and chance.random() < 0.5
    seconds = KILLED_SECONDS if is_long else chance.uniform(*FAULT_SECONDS)
    tell(f"{fault.name} for {seconds:.0f} s")
    clients.fault = fault.name
    if fault.breaks_database:
        clients.refusable_until = float("inf")
    done = fault.done(world, chance)
    await asyncio.to_thread(done.__enter__)  # type: ignore[attr-defined]
    try:
        await asyncio.sleep(seconds)
    finally:
        await asyncio.to_thread(partial(done.__exit__, None, None, None))  # type: ignore[attr-defined]
        clients.fault = "calm"
        if fault.breaks_database:
            clients.refusable_until = time.monotonic() + GRACE_SECONDS


def _reckon(world: World, ledger: Ledger, began: datetime) -> None:
    """See that everything acknowledged is there once, and nothing twice."""
    there: Counter[str] = Counter()
    for person in PEOPLE:
        there += _texts_of(person, world.replicas[0].url, began)
    done = [text for batch in ledger.batches if batch.done_at is not None for text in batch.texts]
    for text in (*ledger.written, *done):
        if there[text] == 0:
            ledger.broke(f"lost: {text}")
    for text, times in there.items():
        if times > 1:
            ledger.broke(f"{times} times: {text}")


def _texts_of(person: str, url: str, began: datetime) -> Counter[str]:
    """What somebody has written, minute by minute, as a list ends after 10,000 entries."""
    texts: Counter[str] = Counter()
    minute, since = timedelta(minutes=1), began - SKEW
    headers = {"authorization": f"Bearer {token_of(person)}"}
    with httpx2.Client(base_url=f"{url}{API}", headers=headers, timeout=60, verify=False) as http:
        while since < datetime.now(UTC) + SKEW:
            asked = {
                "mine": "true",
                "since": since.isoformat(),
                "until": (since + minute - ONE).isoformat(),
            }
            while True:
                page = http.get("/entries", params=asked).raise_for_status().json()
                texts.update(each["content"] for each in page["data"])
                if not (cursor := page.get("pagination", {}).get("cursor")):
                    break
                asked["cursor"] = cursor
            since += minute
    return texts
