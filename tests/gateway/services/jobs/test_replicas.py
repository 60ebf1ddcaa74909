"""Replicas that die or are paused with jobs: others take over, each recorded step once."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.contract import Job
from gateway.contract.jobs import Jobs
from gateway.services.jobs.lease import HEARTBEAT_SECONDS, Lease
from gateway.services.jobs.service import SCHEMA, open_jobs
from tests.gateway.services.jobs.job_replica import STEPS
from tests.gateway.services.jobs.test_service import calculate

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

TAKEOVER_SECONDS = 30.0
"""Seconds within which a living replica goes on with what a dead one ran."""
PLACES = [
    (0, "recorded"),
    *((number, what) for number in range(1, STEPS + 1) for what in ("begun", "done", "recorded")),
]
"""Where a replica is killed: with its job just begun, and in and after each of its steps."""
HALVES = [PLACES[: len(PLACES) // 2], PLACES[len(PLACES) // 2 :]]
"""A dozen replicas at once would take two thirds of the connections that PostgreSQL has."""


class Replicas:
    """The processes of one test, and what they wrote."""

    def __init__(self, root: Path, address: str) -> None:
        self.root = root
        self.address = address
        self.all: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, jobs: str, enqueue: str = "", end: str = "") -> None:
        module = "tests.gateway.services.jobs.job_replica"
        words = [name, self.address, str(self.root), jobs, enqueue, end]
        self.all[name] = subprocess.Popen([sys.executable, "-m", module, *words])

    def start_again(self) -> None:
        """Start those again that could not begin: a busy database may refuse them at first."""
        for name, process in self.all.items():
            if (process.poll() or 0) > 0 and not self.is_up(name):
                self.all[name] = subprocess.Popen(process.args)

    def lines(self) -> list[list[str]]:
        path = self.root / "steps"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def count(self, *wanted: str) -> int:
        return sum(line[: len(wanted)] == list(wanted) for line in self.lines())

    def is_up(self, name: str) -> bool:
        return (self.root / f"{name}.up").exists()

    def go(self, gate: str = "go") -> None:
        (self.root / gate).touch()


@pytest.fixture
def replicas(postgres: str, tmp_path: Path) -> Iterator[Replicas]:
    made = Replicas(tmp_path, postgres)
    yield made
    for process in made.all.values():
        process.kill()
        process.wait()


async def until(true: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.05)


async def leases(address: str) -> list[str]:
    """The names of the lives that have a lease, whether it has run out or not."""
    lease = Lease(address, SCHEMA)
    connection = await lease._connected()
    try:
        rows = await connection.fetch(f"SELECT executor FROM {SCHEMA}.executor_lease")
        return [row["executor"] for row in rows]
    finally:
        await connection.close()


async def until_begun(replicas: Replicas, true: Callable[[], bool]) -> None:
    """Wait for replicas as whoever operates them does: by starting again what ended."""
    deadline = time.monotonic() + 120
    while not true():
        ends = {name: each.poll() for name, each in replicas.all.items()}
        assert time.monotonic() < deadline, f"waited in vain; ended: {ends}"
        await asyncio.sleep(0.5)
        replicas.start_again()


async def states(address: str, data: Path, names: list[str]) -> dict[str, str]:
    """Where the jobs are, asked as a portal asks that knows none of their queues."""
    service = open_jobs(address, data)
    service.register("garden", [Job("calculate", calculate)])
    await service.launch()
    try:
        jobs: Jobs = service.for_owner("garden")
        found = {name: await jobs.status(f"garden/{name}/0") for name in names}
        return {name: each.state if each else "unknown" for name, each in found.items()}
    finally:
        await service.close()


@pytest.mark.parametrize("places", HALVES, ids=["its-beginning", "its-end"])
async def test_killed_at_any_step_another_goes_on_and_does_each_recorded_step_once(
    replicas: Replicas,
    tmp_path: Path,
    places: list[tuple[int, str]],
    record_property: Callable[[str, object], None],
) -> None:
    record_property("kills", len(places))
    cases = {f"dig-{number}-{what}": (number, what) for number, what in places}
    for job, (number, what) in cases.items():
        replicas.start(f"v-{job}", job, job, f"{job}.{number}.{what}" if number else "")
    await until_begun(
        replicas, lambda: all(replicas.count(job, "0", "recorded") == 1 for job in cases)
    )
    for survivor in ("one", "skewed-two"):
        replicas.start(survivor, " ".join(cases))
    await until_begun(replicas, lambda: replicas.is_up("one") and replicas.is_up("skewed-two"))
    if (0, "recorded") in places:
        replicas.all["v-dig-0-recorded"].kill()
    replicas.go()
    for job in cases:
        await asyncio.to_thread(replicas.all[f"v-{job}"].wait, 60)
        shutil.rmtree(tmp_path / f"v-{job}", ignore_errors=True)  # its disk is gone too
    killed_at = time.monotonic()
    last = str(STEPS)
    await until(lambda: all(_by_a_survivor(replicas, job, last) for job in cases))
    assert time.monotonic() - killed_at < TAKEOVER_SECONDS
    await asyncio.sleep(2 * HEARTBEAT_SECONDS)  # whoever took it up a second time would show by now
    for job, (number, what) in cases.items():
        done = Counter(int(line[1]) for line in replicas.lines() if line[::2] == [job, "done"])
        # What was done and not recorded is done again: a step may run twice, if killed in it.
        assert done == {n: 1 + ((n, "done") == (number, what)) for n in range(1, STEPS + 1)}, job
    found = await states(replicas.address, tmp_path / "asking", list(cases))
    assert found == dict.fromkeys(cases, "done")


def _by_a_survivor(replicas: Replicas, job: str, number: str) -> bool:
    return any(replicas.count(job, number, "recorded", who) for who in ("one", "skewed-two"))


async def test_the_queue_of_a_dead_replica_goes_on_with_what_waits_behind_its_job(
    replicas: Replicas,
) -> None:
    replicas.start("one", "dig", "dig dig dig", "dig.1.begun")
    replicas.go()
    await asyncio.to_thread(replicas.all["one"].wait, 60)
    replicas.start("two", "dig")
    await until(lambda: replicas.is_up("two"))
    await until(lambda: replicas.count("dig", "3", "recorded", "two") == 3, TAKEOVER_SECONDS)


async def test_a_paused_replica_that_comes_back_does_nothing_of_what_others_took_over(
    replicas: Replicas,
) -> None:
    replicas.start("paused", "pause", "pause")
    for gate in ("go-0", "go-1"):
        replicas.go(gate)
    await until(lambda: replicas.count("pause", "2", "begun", "paused") == 1)
    replicas.all["paused"].send_signal(signal.SIGSTOP)
    replicas.start("other", "pause dig")
    await until(lambda: replicas.count("pause", "2", "begun", "other") == 1)
    replicas.all["paused"].send_signal(signal.SIGCONT)
    await asyncio.sleep(1)
    replicas.go("go-2")
    await until(lambda: replicas.count("pause", "3", "begun", "other") == 1)
    replicas.go("go-3")
    await until(lambda: replicas.count("pause", "3", "recorded", "other") == 1)
    mine = [line[1:3] for line in replicas.lines() if line[3] == "paused"]
    begun = [["0", "recorded"], ["1", "begun"], ["1", "done"], ["1", "recorded"], ["2", "begun"]]
    assert mine[: len(begun)] == begun
    assert mine[len(begun) :] == [], "it went on with what was another's"


async def test_a_paused_replica_lives_again_and_takes_over_in_turn(replicas: Replicas) -> None:
    replicas.start("paused", "dig", "dig")
    await until(lambda: replicas.count("dig", "0", "recorded", "paused") == 1)
    replicas.all["paused"].send_signal(signal.SIGSTOP)
    replicas.start("other", "dig", "", "dig.2.begun")
    await until(lambda: replicas.count("dig", "0", "recorded", "other") == 1)
    replicas.all["paused"].send_signal(signal.SIGCONT)
    replicas.go()
    await asyncio.to_thread(replicas.all["other"].wait, 60)
    await until(lambda: replicas.count("dig", "3", "recorded", "paused") == 1, TAKEOVER_SECONDS)
    done = Counter(line[1] for line in replicas.lines() if line[2] == "done")
    assert done == {"1": 1, "2": 1, "3": 1}


async def test_a_replica_that_ends_leaves_its_jobs_to_others_at_once(replicas: Replicas) -> None:
    replicas.start("one", "dig", "dig")
    await until(lambda: replicas.count("dig", "0", "recorded", "one") == 1)
    replicas.start("two", "dig")
    await until(lambda: replicas.is_up("two"))
    replicas.all["one"].terminate()
    await asyncio.to_thread(replicas.all["one"].wait, 60)
    # Nobody has to wait until its lease has run out.
    assert len(await leases(replicas.address)) == 1
    replicas.go()
    await until(lambda: replicas.count("dig", "3", "recorded", "two") == 1)


async def test_an_answer_reaches_a_job_whose_replica_died_while_it_waited(
    replicas: Replicas,
) -> None:
    replicas.start("a", "ask", "ask")
    await until_begun(replicas, lambda: replicas.count("ask", "0", "recorded") == 1)
    service = open_jobs(replicas.address, replicas.root / "here")
    service.register("garden", [Job("calculate", calculate)])
    await service.launch()
    try:
        jobs = service.for_owner("garden")
        async with asyncio.timeout(90):
            while True:
                status = await jobs.status("garden/ask/0")
                if status is not None and status.asks:
                    break
                await asyncio.sleep(0.05)
        replicas.all["a"].kill()
        await jobs.answer("garden/ask/0", {"name": "Ada"})
        await jobs.answer("garden/ask/0", {"name": "Bob"})
        replicas.start("b", "ask")
        await until_begun(replicas, lambda: replicas.count("ask", "0", "Ada", "b") == 1)
        assert replicas.count("ask", "0", "Bob") == 0
    finally:
        await service.close()
