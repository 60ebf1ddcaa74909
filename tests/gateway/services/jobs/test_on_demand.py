"""When jobs start: as one is first queued, unless one may be waiting; and who comes meanwhile."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Job
from gateway.contract.jobs import JobRun
from gateway.services.jobs import queues
from gateway.services.jobs.service import JobsNotRunning, open_jobs
from tests.gateway.services.jobs.test_service import calculate, launched, reached


async def test_on_demand_nothing_starts_before_a_job_is_queued(tmp_path: Path) -> None:
    service = open_jobs("sqlite", tmp_path)
    service.register("garden", [Job("calculate", calculate)])
    await service.launch(on_demand=True)
    assert not (tmp_path / "jobs.db").exists()
    jobs = service.for_owner("garden")
    await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")
    await service.close()
    with pytest.raises(JobsNotRunning):
        await jobs.list()


async def test_on_demand_what_a_crash_interrupted_goes_on_at_once(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(run: JobRun, payload: Mapping[str, Any]) -> None:
        begun.set()
        await go_on.wait()

    async with launched("sqlite", tmp_path, Job("wait", wait)) as service:
        await service.for_owner("garden").enqueue("wait", {})
        await begun.wait()
    begun.clear()
    service = open_jobs("sqlite", tmp_path)
    service.register("garden", [Job("wait", wait)])
    await service.launch(on_demand=True)
    await begun.wait()
    go_on.set()
    await service.close()


async def test_a_plugin_that_opens_while_the_jobs_start_is_taken_up_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = open_jobs("sqlite", tmp_path)
    service.register("garden", [Job("calculate", calculate), Job("again", calculate)])
    real = queues.settings_of

    def declares_meanwhile(job: Job) -> dict[str, Any]:
        service.register("kitchen", [Job("calculate", calculate)])
        return real(job)

    monkeypatch.setattr(queues, "settings_of", declares_meanwhile)
    await service.launch()
    monkeypatch.undo()
    try:
        await service.take_up("kitchen")
        for plugin in ("garden", "kitchen"):
            jobs = service.for_owner(plugin)
            done = await reached(jobs, await jobs.enqueue("calculate", {"number": 4}), "done")
            assert done.result["doubled"] == 8
    finally:
        await service.close()
