"""A job without budget is queued and not dropped: it goes on with the step that it had reached."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Job, JobRun, ModelFailed, ToolFailed
from gateway.services.jobs import worker
from gateway.services.jobs.postponed import AWAY_SECONDS, LONGEST_SECONDS, Postponed, postponed_by
from tests.gateway.services.jobs.test_service import address as address
from tests.gateway.services.jobs.test_service import launched, reached, until


class Purse:
    """A budget that tests fill."""

    def __init__(self) -> None:
        self.filled = False
        self.steps: list[str] = []
        self.asked = 0

    async def look(self) -> str:
        self.steps.append("look")
        return "seen"

    async def pay(self) -> str:
        self.asked += 1
        if not self.filled:
            raise ToolFailed("budget_reached", "Nothing is left.", {"retry_after_s": 1})
        self.steps.append("pay")
        return "paid"

    async def in_steps(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        return [await run.step("look", self.look), await run.step("pay", self.pay)]

    async def outside_steps(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        return [await run.step("look", self.look), await self.pay()]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """DBOS looks often for delays that have passed."""
    monkeypatch.setattr(worker, "BACKGROUND_SECONDS", 0.1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("way", ["in_steps", "outside_steps"])
async def test_a_job_without_budget_goes_on_once_it_has_one(
    address: str, tmp_path: Path, way: str
) -> None:
    purse = Purse()
    async with launched(address, tmp_path, Job("learn", getattr(purse, way))) as service:
        jobs = service.for_owner("garden")
        id = await jobs.enqueue("learn", {})
        status = await reached(jobs, id, "queued", "Waits for a language model, or its budget")
        assert status.error is None
        assert not status.failure
        await until(lambda: purse.asked >= 3)  # it comes back again and again
        purse.filled = True
        done = await reached(jobs, id, "done")
        assert done.result == ["seen", "paid"]
        assert purse.steps == ["look", "pay"]


@pytest.mark.usefixtures("quick")
async def test_a_job_that_waits_holds_no_place_in_its_queue(address: str, tmp_path: Path) -> None:
    purse = Purse()

    async def work(run: JobRun, payload: Mapping[str, Any]) -> Any:
        return await run.step("pay", purse.pay) if payload["dear"] else "free"

    async with launched(address, tmp_path, Job("learn", work, concurrency=1)) as service:
        jobs = service.for_owner("garden")
        dear = await jobs.enqueue("learn", {"dear": True})
        await reached(jobs, dear, "queued", "Waits")
        free = await jobs.enqueue("learn", {"dear": False})
        assert (await reached(jobs, free, "done")).result == "free"
        purse.filled = True
        assert (await reached(jobs, dear, "done")).result == "paid"


@pytest.mark.usefixtures("quick")
async def test_a_job_that_waits_is_there_after_a_restart(address: str, tmp_path: Path) -> None:
    purse = Purse()
    job = Job("learn", purse.in_steps)
    async with launched(address, tmp_path, job) as service:
        id = await service.for_owner("garden").enqueue("learn", {})
        await reached(service.for_owner("garden"), id, "queued", "Waits")
    purse.filled = True
    async with launched(address, tmp_path, job) as service:
        assert (await reached(service.for_owner("garden"), id, "done")).result == ["seen", "paid"]
    assert purse.steps == ["look", "pay"]


async def test_a_job_that_waits_can_be_cancelled(address: str, tmp_path: Path) -> None:
    purse = Purse()
    async with launched(address, tmp_path, Job("learn", purse.in_steps)) as service:
        jobs = service.for_owner("garden")
        id = await jobs.enqueue("learn", {})
        await reached(jobs, id, "queued", "Waits")
        assert await jobs.cancel(id)
        assert (await reached(jobs, id, "cancelled")).result is None


async def test_every_other_failure_fails_the_job(address: str, tmp_path: Path) -> None:
    async def throttled() -> None:
        raise ToolFailed("throttled", "Too much.", {"retry_after_s": 1})

    async def work(run: JobRun, payload: Mapping[str, Any]) -> Any:
        await run.step("ask", throttled)

    async with launched(address, tmp_path, Job("learn", work)) as service:
        jobs = service.for_owner("garden")
        status = await reached(jobs, await jobs.enqueue("learn", {}), "failed")
        assert status.failure == "throttled"


@pytest.mark.parametrize(
    ("details", "seconds"),
    [({}, LONGEST_SECONDS), ({"retry_after_s": 5.0}, 5.0), ({"retry_after_s": 10**7}, 3600.0)],
)
def test_a_job_is_tried_again_within_the_hour(details: dict[str, Any], seconds: float) -> None:
    later = postponed_by(ToolFailed("budget_reached", "Nothing is left.", details))
    assert isinstance(later, Postponed)
    assert later.seconds == seconds


@pytest.mark.parametrize("code", ["throttled", "provider_down", "timeout"])
def test_a_job_whose_models_provider_is_away_waits_and_has_not_failed(code: Any) -> None:
    later = postponed_by(ModelFailed(code, "Later."))
    assert isinstance(later, Postponed)
    assert later.seconds == AWAY_SECONDS
    said = postponed_by(ModelFailed(code, "Later.", 7.0))
    assert said is not None
    assert said.seconds == 7.0


@pytest.mark.parametrize("code", ["refused", "invalid_answer", "misconfigured", "no_model"])
def test_what_would_be_the_same_again_fails_the_job(code: Any) -> None:
    assert postponed_by(ModelFailed(code, "No.")) is None
