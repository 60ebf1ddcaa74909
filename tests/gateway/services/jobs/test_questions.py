"""Jobs that ask, over SQLite and PostgreSQL: answers by key, once each, and through restarts."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Job, JobRun, ToolFailed
from gateway.services.jobs.owned import OwnedJobs
from tests.gateway.services.jobs.test_service import launched, reached

NAME = {"method": "elicitation/create", "params": {"message": "What is your name?"}}


class Refused(ToolFailed):
    """A failure of a plugin's own kind."""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Each implementation's address, of an empty database."""
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


async def greet(run: JobRun, payload: Mapping[str, Any]) -> Any:
    names = await run.ask({"first": NAME, "last": NAME})
    return f"{names['first']} {names['last']}"


async def hurry(run: JobRun, payload: Mapping[str, Any]) -> Any:
    return await run.ask({"name": NAME}, seconds=0.01)


async def asked(jobs: OwnedJobs, job_id: str, *keys: str) -> None:
    async with asyncio.timeout(60):
        while True:
            status = await jobs.status(job_id)
            if status is not None and sorted(status.asks) == sorted(keys):
                return
            await asyncio.sleep(0.02)


async def test_a_job_goes_on_once_all_that_it_asks_is_answered(
    address: str, tmp_path: Path
) -> None:
    async with launched(address, tmp_path, Job("greet", greet)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("greet", {})
        await asked(jobs, job_id, "first", "last")
        await jobs.answer(job_id, {"last": "Lovelace", "age": 36})
        await asked(jobs, job_id, "first")
        await jobs.answer(job_id, {"first": "Ada", "last": "Byron"})
        done = await reached(jobs, job_id, "done")
        assert (done.result, dict(done.asks)) == ("Ada Lovelace", {})


async def test_what_was_answered_while_nothing_ran_is_there_after_the_start(
    address: str, tmp_path: Path
) -> None:
    async with launched(address, tmp_path, Job("greet", greet)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("greet", {})
        await asked(jobs, job_id, "first", "last")
        await jobs.answer(job_id, {"first": "Ada"})
    async with launched(address, tmp_path, Job("greet", greet)) as service:
        jobs = service.for_owner("garden")
        await asked(jobs, job_id, "last")
        await jobs.answer(job_id, {"last": "Lovelace"})
        assert (await reached(jobs, job_id, "done")).result == "Ada Lovelace"


async def test_a_job_that_nobody_answers_fails_and_asks_no_more(tmp_path: Path) -> None:
    async with launched("sqlite", tmp_path, Job("hurry", hurry)) as service:
        jobs = service.for_owner("garden")
        failed = await reached(jobs, await jobs.enqueue("hurry", {}), "failed")
        assert (failed.failure, dict(failed.asks)) == ("not_answered", {})


async def test_a_key_is_used_once_in_a_job(tmp_path: Path) -> None:
    async def twice(run: JobRun, payload: Mapping[str, Any]) -> None:
        for _ in range(2):
            try:
                await run.ask({"name": NAME}, seconds=0.01)
            except ToolFailed:
                continue

    async with launched("sqlite", tmp_path, Job("twice", twice)) as service:
        jobs = service.for_owner("garden")
        failed = await reached(jobs, await jobs.enqueue("twice", {}), "failed")
        assert "has asked under ['name'] before" in (failed.error or "")
        assert failed.failure == ""


async def test_a_job_that_waits_can_be_cancelled(address: str, tmp_path: Path) -> None:
    async with launched(address, tmp_path, Job("greet", greet)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("greet", {})
        await asked(jobs, job_id, "first", "last")
        assert await jobs.cancel(job_id)
        assert dict((await reached(jobs, job_id, "cancelled")).asks) == {}


async def test_a_failure_of_a_class_of_its_own_keeps_its_code(tmp_path: Path) -> None:
    async def refuse(run: JobRun, payload: Mapping[str, Any]) -> None:
        raise Refused("no_water", "There is no water left.")

    async with launched("sqlite", tmp_path, Job("refuse", refuse)) as service:
        jobs = service.for_owner("garden")
        failed = await reached(jobs, await jobs.enqueue("refuse", {}), "failed")
        assert (failed.failure, failed.error) == ("no_water", "There is no water left.")
