"""The faults: each is done for a while and undone, and says what it may break meanwhile."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.chaos.world import SKEWS, Replica, World

SLOW_SECONDS = 0.05
"""Seconds that a slowed cable takes for each piece of data."""


class Fault(NamedTuple):
    """Something that goes wrong.

    Attributes:
        name: what it is called.
        done: the fault, for as long as the block lasts.
        breaks_database: whether what needs the database may be refused meanwhile, by a 503.
    """

    name: str
    done: Callable[[World, random.Random], object]
    breaks_database: bool = False


@contextmanager
def killed(world: World, chance: random.Random) -> Generator[None]:
    """A replica is dead; its work is the other's."""
    replica = chance.choice(world.replicas)
    replica.kill()
    yield
    replica.start()


@contextmanager
def paused(world: World, chance: random.Random) -> Generator[None]:
    """A replica stands still, and goes on as if nothing had been."""
    replica = chance.choice(world.replicas)
    replica.pause()
    yield
    replica.go_on()


@contextmanager
def skewed(world: World, chance: random.Random) -> Generator[None]:
    """A replica's clock is a quarter of an hour off."""
    replica = chance.choice(world.replicas)
    replica.kill()
    replica.start(chance.choice(SKEWS))
    yield
    replica.kill()
    replica.start()


@contextmanager
def full_disk(world: World, chance: random.Random) -> Generator[None]:
    """No byte fits on a replica's disk."""
    replica: Replica = chance.choice(world.replicas)
    filler = replica.data.parent / "everything-else"
    _fill(filler)
    yield
    filler.unlink()


def _fill(path: Path) -> None:
    try:
        with path.open("wb", buffering=0) as file:
            while file.write(b"x" * 2**20):
                pass
    except OSError:
        pass


def _cable(name: str, how: str) -> Callable[[World, random.Random], object]:
    @contextmanager
    def done(world: World, chance: random.Random) -> Generator[None]:
        cable = world.redis if name == "Redis" else world.postgres
        if how == "slow":
            cable.delay_seconds = SLOW_SECONDS
            yield
            cable.delay_seconds = 0.0
        elif how == "cut":
            cable.cut()
            yield
            cable.join()
        else:
            cable.freeze()
            yield
            cable.thaw()

    return done


FAULTS = (
    Fault("a replica is killed", killed),
    Fault("a replica is paused", paused),
    Fault("Redis is cut", _cable("Redis", "cut")),
    Fault("Redis is a black hole", _cable("Redis", "frozen")),
    Fault("Redis is slow", _cable("Redis", "slow")),
    Fault("PostgreSQL is cut", _cable("PostgreSQL", "cut"), breaks_database=True),
    Fault("PostgreSQL is a black hole", _cable("PostgreSQL", "frozen"), breaks_database=True),
    Fault("PostgreSQL is slow", _cable("PostgreSQL", "slow")),
    Fault("a disk is full", full_disk, breaks_database=True),
    *((Fault("a clock is skewed", skewed),) if SKEWS else ()),
)


def schedule(chance: random.Random, until: float, only: str = "") -> Generator[Fault]:
    """Faults until a time, every one once before any comes again.

    Args:
        chance: decides the order.
        until: the end, in the clock's seconds.
        only: what the names of the faults hold.

    Raises:
        ValueError: no name holds that.
    """
    possible = [fault for fault in FAULTS if only in fault.name]
    if not possible:
        raise ValueError(f"no fault is called {only!r}")
    while True:
        for fault in chance.sample(possible, len(possible)):
            if time.monotonic() >= until:
                return
            yield fault
