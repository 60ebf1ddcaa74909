import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Job
from gateway.contract.jobs import JobRun
from tests.gateway.services.jobs.test_service import calculate, fail, launched, reached


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


async def test_jobs_that_are_open_and_that_ended_are_counted(address: str, tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def wait(run: JobRun, payload: Mapping[str, Any]) -> None:
        await go_on.wait()

    declared = (Job("wait", wait, concurrency=1), Job("fail", fail), Job("calculate", calculate))
    async with launched(address, tmp_path, *declared) as service:
        jobs = service.for_owner("garden")
        first = await jobs.enqueue("wait", {})
        await reached(jobs, first, "running")
        last = await jobs.enqueue("wait", {})
        await reached(jobs, await jobs.enqueue("fail", {"thing": "seeds"}), "failed")
        await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")
        await service.tally.refresh()
        found = service.tally.open
        assert {key: each.number for key, each in found.items()} == {
            ("garden/wait", "running"): 1,
            ("garden/wait", "waiting"): 1,
        }
        running, waiting = found["garden/wait", "running"], found["garden/wait", "waiting"]
        assert running.oldest_seconds >= waiting.oldest_seconds >= 0
        go_on.set()
        await reached(jobs, last, "done")
        await service.tally.refresh()
        assert service.tally.open == {}
        assert service.tally.ended == {
            ("garden/wait", "done"): 2,
            ("garden/fail", "failed"): 1,
            ("garden/calculate", "done"): 1,
        }
