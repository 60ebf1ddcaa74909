"""Two replicas behind cables to a real PostgreSQL and Redis, and what can be done to them."""

from __future__ import annotations

import random
import signal
import subprocess
import uuid
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx2

from benchmarks.processes import free_port
from tests.faults.conftest import Place, Portal, eventually
from tests.faults.playbook import tokens
from tests.journeys.balancer import empty_database
from tests.servers.cable import Cable, cabled

PEOPLE = ("ana", "ben")
PAGES = 40
CONFIG = """
services:
  database: env:ADDRESS
  cache: env:CACHE
  objects: {objects}
  embedding: none
plugins:
  knowledge: {{sources: [{{directory: ./content}}]}}
  workflows: {{enabled: false}}
  skills_repo: {{enabled: false}}
  codegraph: {{enabled: false}}
limits:
  calls: none
  operations:
    knowledge.batches: none
    knowledge.creates: none
    knowledge.batch_results: none
"""
_CLOCKS = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
"""Debian's libfaketime; without it no clock is skewed."""
SKEWS = ("+15m", "-15m") if _CLOCKS else ()
"""How far a replica's clock may be from the truth."""


class Replica:
    """One of the replicas, and the process that is it just now.

    Attributes:
        portal: the process.
        is_reliable: whether nothing was done to it.
    """

    def __init__(self, place: Place, data: Path, environment: dict[str, str]) -> None:
        self._place = place
        self._environment = environment
        self._words = ("--port", str(free_port()), "--data", str(data))
        self.data = data
        self.portal = self._started()
        self.is_reliable = True

    def _started(self, **more: str) -> Portal:
        return self._place.serve(*self._words, **self._environment, **more)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.portal.url

    def is_ready(self) -> bool:
        """Whether it serves everything."""
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=10).is_success
        except httpx2.TransportError:
            assert self.portal.process.poll() is None, self.portal.printed
            return False

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.is_reliable = False
        self.portal.kill()

    def start(self, clock: str = "") -> None:
        """Start it again, by a clock that may be wrong, and wait until it is ready."""
        skewed = {"LD_PRELOAD": str(_CLOCKS), "FAKETIME": clock, "DONT_FAKE_MONOTONIC": "1"}
        self.portal = self._started(**(skewed if clock else {}))
        try:
            eventually(self.is_ready, "it is ready")
        except AssertionError as late:
            late.add_note(self.portal.printed[-4000:])
            raise
        self.is_reliable = True

    def pause(self) -> None:
        """Let it stand still, as a machine does that is moved or swaps."""
        self.is_reliable = False
        self.portal.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        self.portal.process.send_signal(signal.SIGCONT)
        self.is_reliable = True


class World:
    """Everything that faults are done to.

    Args:
        replicas: the replicas.
        postgres: the cable to the database.
        redis: the cable to the cache.
    """

    def __init__(self, replicas: list[Replica], postgres: Cable, redis: Cable) -> None:
        self.replicas = replicas
        self.postgres = postgres
        self.redis = redis

    def reliable(self, chance: random.Random) -> Replica | None:
        """A replica to which nothing was done, as a balancer picks one."""
        able = [each for each in self.replicas if each.is_reliable]
        return chance.choice(able) if able else None


@contextmanager
def small_disk(at: Path, mebibytes: int) -> Generator[bool]:
    """A disk of that size at a path; whether one could be made."""
    at.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(at)]
    is_made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield is_made
    finally:
        if is_made:
            subprocess.run(["umount", "--lazy", str(at)], check=True)


@contextmanager
def world(root: Path, postgres_url: str, redis_url: str) -> Generator[World]:
    """Two replicas that are ready, for as long as the block lasts.

    Args:
        root: an empty directory.
        postgres_url: where a PostgreSQL server answers.
        redis_url: where a Redis answers.
    """
    place = Place(root)
    place.configure(CONFIG.format(objects=root / "objects"))
    for number in range(PAGES):
        place.page(f"garden-{number}", f"Garden {number}")
    with ExitStack() as stack:
        database = stack.enter_context(empty_database(postgres_url))
        postgres = stack.enter_context(cabled(database))
        redis = stack.enter_context(cabled(redis_url))
        environment = tokens(*PEOPLE) | {
            "ADDRESS": postgres.url,
            "CACHE": redis.url,
            "PORCH_SIGNING_KEY": uuid.uuid4().hex,
        }
        stack.callback(_end, place)
        disks = [root / "first", root / "second"]
        for disk in disks:
            stack.enter_context(small_disk(disk, 256))
        replicas = [Replica(place, disk / "data", environment) for disk in disks]
        for each in replicas:
            eventually(partial(Replica.is_ready, each), "it is ready")
        yield World(replicas, postgres, redis)


def _end(place: Place) -> None:
    for portal in place.running:
        portal.process.send_signal(signal.SIGCONT)
        portal.process.kill()
        portal.process.wait()
