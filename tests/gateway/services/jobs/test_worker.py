"""Jobs are taken up when something says that they can be, and by a slow look where nothing does."""

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from dbos._dbos import _get_dbos_instance

from gateway.contract import Job
from gateway.contract.jobs import JobRun
from gateway.services.jobs import worker as jobs_worker
from gateway.services.jobs.service import open_jobs
from tests.gateway.services.jobs.test_service import address, calculate, launched, reached

__all__ = ["address"]


async def test_what_is_queued_runs_without_a_look_now_and_then(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_worker, "POLL_SECONDS", 3600.0)
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        jobs = service.for_owner("garden")
        await asyncio.sleep(0.2)  # the look with which the worker begins has been
        await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")


async def test_the_end_of_a_job_is_the_turn_of_the_next_one(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_worker, "POLL_SECONDS", 3600.0)
    go_on = asyncio.Event()

    async def dig(run: JobRun, payload: Mapping[str, Any]) -> None:
        await go_on.wait()

    async with launched(address, tmp_path, Job("dig", dig, concurrency=1)) as service:
        jobs = service.for_owner("garden")
        waiting = [await jobs.enqueue("dig", {}) for _ in range(3)]
        await reached(jobs, waiting[0], "running")
        await asyncio.sleep(0.2)
        go_on.set()
        for job in waiting:
            await reached(jobs, job, "done")


async def test_what_another_process_queues_is_found_by_looking(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_worker, "POLL_SECONDS", 0.05)
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        service._worker.wake = lambda: None  # type: ignore[method-assign]
        jobs = service.for_owner("garden")
        await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")


async def test_nothing_is_looked_for_in_queues_that_are_empty(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_worker, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(jobs_worker, "PAUSE_SECONDS", 0.01)
    looks: list[str] = []
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        look = service._worker._take_from

        def noted(queue: Any, dbos: Any) -> None:
            looks.append(queue.name)
            look(queue, dbos)

        monkeypatch.setattr(service._worker, "_take_from", noted)
        await asyncio.sleep(0.3)
        assert looks == []
        jobs = service.for_owner("garden")
        await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")
        assert set(looks) == {"garden/calculate"}


def test_a_job_taken_up_while_the_loop_pauses_runs_on_that_loop_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    paused = threading.Event()

    async def note(run: JobRun, payload: Mapping[str, Any]) -> None:
        threads.append(threading.get_ident())

    service = open_jobs("sqlite", tmp_path)
    service.register("garden", [Job("note", note)])
    jobs = service.for_owner("garden")
    with asyncio.Runner() as runner:
        runner.run(service.launch())
        try:
            database = _get_dbos_instance()._sys_db
            take = database.start_queued_workflows

            def take_in_the_pause(*args: Any, **options: Any) -> Any:
                paused.wait()
                return take(*args, **options)

            monkeypatch.setattr(database, "start_queued_workflows", take_in_the_pause)
            queued = runner.run(jobs.enqueue("note", {}))
            runner.run(asyncio.sleep(0.2))  # the worker has seen what waits
            paused.set()
            time.sleep(0.5)
            runner.run(reached(jobs, queued, "done"))
        finally:
            paused.set()
            runner.run(service.close())
    assert threads == [threading.get_ident()]
