"""A server is killed and started again under load, as often as PORCH_TEST_RESTARTS says.

``make restarts`` has it a thousand times.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from resource import getpagesize

import pytest

from gateway.testing import CallResult, TestPortal
from tests.plugins.upstreams.mortal import Mortal
from tests.plugins.upstreams.portals import portal_before, until, until_offered

RESTARTS = int(os.environ.get("PORCH_TEST_RESTARTS", "12")) // 2
"""Of a server of each era."""
CALLERS = 8
RIGHT = "right answers"
MAX_MORE_FILES, MAX_MORE_MIB = 8, 32
"""What the portal may hold more at the end: open files, and MiB."""


@pytest.fixture(params=["modern", "legacy"])
def far(request: pytest.FixtureRequest) -> Iterator[Mortal]:
    mortal = Mortal(request.param)
    mortal.start()
    yield mortal
    mortal.kill()
    mortal.close()


async def added(portal: TestPortal) -> CallResult:
    return await portal.call("far__add", {"a": 1, "b": 2}, tier="open")


def kind_of(answer: CallResult) -> str:
    """What a call came to; the whole text where it is none of what callers are promised."""
    if answer.structured == {"sum": 3} and not answer.is_error:
        return RIGHT
    if answer.is_error and answer.text.startswith("far does not answer since "):
        return "told that it is down, and not run"
    if answer.is_error and answer.text.startswith("far did not answer as it should: "):
        if answer.text.endswith(" It may have done what it was asked: look before you ask again."):
            return "broken off, and may have run"
        return "broken off, and not run"
    return f"UNTYPED {answer}"


async def call_on(portal: TestPortal, kinds: Counter[str], stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        kinds[kind_of(await added(portal))] += 1
        await asyncio.sleep(0.002)


async def works_again(portal: TestPortal) -> None:
    """Wait until the server counts as back; the next call after that works."""

    async def is_back() -> bool:
        return kind_of(await added(portal)) == RIGHT

    await until(is_back)
    assert kind_of(await added(portal)) == RIGHT


def held() -> tuple[int, float]:
    """The files that this process has open, and its memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len([*Path("/proc/self/fd").iterdir()]), pages * getpagesize() / 2**20


@pytest.mark.heavy
@pytest.mark.timeout(3600)
async def test_every_failure_has_its_type_and_the_next_call_after_works(
    far: Mortal, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, kinds, stopping = random.Random(16), Counter[str](), asyncio.Event()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        async with asyncio.TaskGroup() as load:
            for _ in range(CALLERS):
                load.create_task(call_on(portal, kinds, stopping))
            held_before: tuple[int, float] | None = None
            for number in range(RESTARTS):
                if number == RESTARTS // 4:  # pools and caches have their sizes by now
                    held_before = held()
                await asyncio.to_thread(far.kill)
                await asyncio.sleep(chance.uniform(0, 0.05))
                await asyncio.to_thread(far.start)
                await works_again(portal)
            stopping.set()
        held_after = held()
    assert held_before is not None
    untyped = {kind: count for kind, count in kinds.items() if kind.startswith("UNTYPED")}
    assert untyped == {}
    (files, memory), (files_after, memory_after) = held_before, held_after
    with capsys.disabled():
        sys.stdout.write(
            f"\n{RESTARTS:,} restarts: {dict(sorted(kinds.items()))}; open files {files} and then "
            f"{files_after}, memory {memory:.0f} and then {memory_after:.0f} MiB\n"
        )
    assert files_after <= files + MAX_MORE_FILES
    assert memory_after <= memory + MAX_MORE_MIB
