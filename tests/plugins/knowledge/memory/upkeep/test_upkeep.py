"""A pass as a durable job: a step a part, none of which costs another, one at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import structlog

from gateway.contract.backend_errors import DatabaseAway
from plugins.knowledge.config import KnowledgeConfig
from tests.plugins.knowledge.memory.conftest import ANA, Opener, World

pytestmark = pytest.mark.anyio


class Run:
    """A job's run, which remembers its steps and their results."""

    id = "a-run"

    def __init__(self) -> None:
        self.done: dict[str, Any] = {}

    async def step(self, name: str, function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        if name not in self.done:
            self.done[name] = await function(*args)
        return self.done[name]

    async def ask(self, requests: Any, *, seconds: float = 0) -> Any:
        raise NotImplementedError

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        assert done < total
        assert message


async def test_each_part_is_a_step_and_a_run_that_goes_on_repeats_none(world: World) -> None:
    await world.remember(ANA, "A.", layer="session", importance=1.0, confidence=1.0)
    run = Run()
    counts = await world.memory.upkeep.run(run, {})
    assert list(run.done) == [
        "move",
        "deduplicate",
        "entries",
        "events",
        "requests",
        "batches",
        "reviews",
        "sweep",
    ]
    assert (counts["promoted"], counts["filled"], counts["failed"]) == (1, 1, [])
    assert await world.memory.upkeep.run(run, {}) == counts


async def test_a_portal_without_a_model_has_no_vectors_to_sweep(open_world: Opener) -> None:
    world = await open_world()
    await world.remember(ANA, "A.", layer="episodic", importance=1.0, confidence=1.0)
    counts = await world.memory.upkeep.once()
    assert (counts["promoted"], counts["failed"]) == (1, [])
    assert "filled" not in counts


async def test_a_part_that_meets_an_outage_says_why_in_a_line(world: World) -> None:
    async def away() -> dict[str, int]:
        raise DatabaseAway("PostgreSQL does not answer.")

    logger: Any = structlog.get_logger()
    parts = {"first": away, "entries": world.memory.upkeep.parts["entries"]}
    with structlog.testing.capture_logs() as lines:
        counts = await replace(world.memory.upkeep, parts=parts, log=logger).once()
    assert counts["failed"] == ["first"]
    (failed,) = (line for line in lines if line["event"] == "memory upkeep failed")
    assert (failed["part"], failed["reason"]) == ("first", "PostgreSQL does not answer.")
    assert "exc_info" not in failed


async def test_two_passes_do_not_run_in_one_process_at_a_time(world: World) -> None:
    first = asyncio.ensure_future(world.memory.upkeep.once())
    await asyncio.sleep(0)
    assert await world.memory.upkeep.once() == {"superseded": True}
    assert (await first)["failed"] == []


async def test_two_replicas_at_once_do_everything_once(world: World) -> None:
    """Two upkeeps over the same stores, as two processes have them."""
    memory = world.memory
    for number in range(6):
        await world.remember(
            ANA, f"Bed {number}.", layer="episodic", importance=1.0, confidence=1.0
        )
    other = replace(memory.upkeep, _running=asyncio.Lock())
    both = await asyncio.gather(memory.upkeep.once(), other.once())
    assert [each["failed"] for each in both] == [[], []]
    assert sum(each["promoted"] for each in both) == 6
    counts = await memory.upkeep.once()
    assert {name: count for name, count in counts.items() if count} == {}


@pytest.mark.parametrize("schedule", ["", "often", "* * *"])
def test_a_schedule_that_is_none_is_refused(schedule: str) -> None:
    with pytest.raises(ValueError, match="no cron expression"):
        KnowledgeConfig.model_validate({"memory": {"upkeep": schedule}})


async def test_the_job_runs_when_the_setting_says(world: World) -> None:
    job = world.memory.upkeep.declaration()
    assert (job.name, job.schedule) == ("upkeep", "*/10 * * * *")
    assert job.concurrency > 1  # a replica that died must not hold up the others
