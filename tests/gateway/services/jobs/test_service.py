"""The jobs port over SQLite and PostgreSQL: steps, queues, schedules and crashes.

DBOS is one for the whole process; each test closes its service, which resets it.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Job
from gateway.contract.jobs import JobRun, Jobs, JobStatus
from gateway.services.cache.memory import MemoryCache
from gateway.services.jobs.progress import Progress, ProgressBoard
from gateway.services.jobs.service import JobService, JobsNotRunning, open_jobs


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Each implementation's address, of an empty database."""
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


@asynccontextmanager
async def launched(address: str, data_dir: Path, *jobs: Job) -> AsyncIterator[JobService]:
    service = open_jobs(address, data_dir)
    service.register("garden", jobs)
    await service.launch()
    try:
        yield service
    finally:
        await service.close()


async def reached(jobs: Jobs, job_id: str, state: str, message: str = "") -> JobStatus:
    async with asyncio.timeout(60):
        while True:
            status = await jobs.status(job_id)
            if status is not None and status.state == state and message in status.message:
                return status
            await asyncio.sleep(0.02)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.02)


async def double(number: int) -> int:
    return 2 * number


async def calculate(run: JobRun, payload: Mapping[str, Any]) -> Any:
    doubled = await run.step("double", double, payload["number"])
    return {"doubled": doubled, "id": run.id}


async def fail(run: JobRun, payload: Mapping[str, Any]) -> Any:
    raise RuntimeError(f"no {payload['thing']} left")


async def test_a_job_runs_and_its_result_is_kept(address: str, tmp_path: Path) -> None:
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("calculate", {"number": 21})
        done = await reached(jobs, job_id, "done")
        result = {"doubled": 42, "id": job_id}
        assert done == JobStatus(job_id, "done", result, None, "calculate")


async def test_a_job_that_raises_has_failed_and_says_why(address: str, tmp_path: Path) -> None:
    async with launched(address, tmp_path, Job("fail", fail)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("fail", {"thing": "water"})
        assert (await reached(jobs, job_id, "failed")).error == "no water left"


async def test_others_may_use_threads_while_the_jobs_end(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def work() -> int:
        turns = 0
        while not ended.is_set():
            turns += await asyncio.to_thread(lambda: 1)
        return turns

    async with launched("sqlite", tmp_path, Job("calculate", calculate)) as service:
        jobs = service.for_owner("garden")
        await reached(jobs, await jobs.enqueue("calculate", {"number": 1}), "done")
        working = [asyncio.create_task(work()) for _ in range(60)]  # more than there are threads
        await asyncio.sleep(0)
    ended.set()
    assert all(await asyncio.gather(*working))


async def test_a_second_job_with_the_same_key_is_the_first_one(
    address: str, tmp_path: Path
) -> None:
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        jobs = service.for_owner("garden")
        first = await jobs.enqueue("calculate", {"number": 1}, key="today")
        await reached(jobs, first, "done")
        assert await jobs.enqueue("calculate", {"number": 2}, key="today") == first
        assert (await reached(jobs, first, "done")).result["doubled"] == 2
        assert await jobs.enqueue("calculate", {"number": 2}) != first


async def test_no_more_run_at_once_than_the_job_allows(address: str, tmp_path: Path) -> None:
    running, most, go_on = 0, 0, asyncio.Event()

    async def wait(run: JobRun, payload: Mapping[str, Any]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go_on.wait()
        running -= 1

    async with launched(address, tmp_path, Job("wait", wait, concurrency=2)) as service:
        jobs = service.for_owner("garden")
        waiting = [await jobs.enqueue("wait", {}) for _ in range(4)]
        await until(lambda: running == 2)
        states = sorted([(await jobs.status(job)).state for job in waiting])  # type: ignore[union-attr]
        assert states == ["queued", "queued", "running", "running"]
        go_on.set()
        for job in waiting:
            await reached(jobs, job, "done")
    assert most == 2


async def test_a_schedule_queues_its_job_and_is_gone_with_its_declaration(
    address: str, tmp_path: Path
) -> None:
    seen: list[tuple[str, Mapping[str, Any]]] = []

    async def tick(run: JobRun, payload: Mapping[str, Any]) -> None:
        seen.append((run.id, payload))

    async with launched(address, tmp_path, Job("tick", tick, schedule="* * * * * *")) as service:
        await until(lambda: len(seen) > 0)
        job_id, payload = seen[0]
        assert list(payload) == ["scheduled"]
        await reached(service.for_owner("garden"), job_id, "done")
    async with launched(address, tmp_path, Job("calculate", calculate)):
        from dbos import DBOS

        assert await DBOS.list_schedules_async() == []


async def test_what_is_not_json_is_refused(address: str, tmp_path: Path) -> None:
    async def bad(run: JobRun, payload: Mapping[str, Any]) -> Any:
        return object()

    async with launched(address, tmp_path, Job("bad", bad)) as service:
        jobs = service.for_owner("garden")
        with pytest.raises(TypeError, match="payload of garden/bad is not JSON"):
            await jobs.enqueue("bad", {"when": object()})
        job_id = await jobs.enqueue("bad", {})
        failed = await reached(jobs, job_id, "failed")
        assert "result of garden/bad is not JSON" in (failed.error or "")


async def test_a_plugin_sees_its_own_jobs_only(address: str, tmp_path: Path) -> None:
    async with launched(address, tmp_path, Job("calculate", calculate)) as service:
        job_id = await service.for_owner("garden").enqueue("calculate", {"number": 1})
        assert await service.for_owner("gard").status(job_id) is None
        assert await service.for_owner("garden").status("no such job") is None
        with pytest.raises(KeyError, match="No plugin declares the job gard/calculate"):
            await service.for_owner("gard").enqueue("calculate", {"number": 1})


async def test_a_job_that_a_shutdown_stops_goes_on_at_the_next_start(
    address: str, tmp_path: Path
) -> None:
    calls: list[str] = []
    blocked = asyncio.Event()

    async def note(name: str) -> str:
        calls.append(name)
        return name

    async def wait() -> None:
        await blocked.wait()

    async def work(run: JobRun, payload: Mapping[str, Any]) -> Any:
        first = await run.step("first", note, "first")
        calls.append("reached")
        await run.step("wait", wait)
        return first

    async with launched(address, tmp_path, Job("work", work)) as service:
        job_id = await service.for_owner("garden").enqueue("work", {})
        await until(lambda: calls == ["first", "reached"])
    blocked.set()
    async with launched(address, tmp_path, Job("work", work)) as service:
        assert (await reached(service.for_owner("garden"), job_id, "done")).result == "first"
    assert calls == ["first", "reached", "reached"]
    assert await asyncio.to_thread(lambda: "the loop has threads") == "the loop has threads"


async def test_a_running_job_says_how_far_it_is(address: str, tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def dig(run: JobRun, payload: Mapping[str, Any]) -> None:
        run.progress(3, 10, "digging")
        await go_on.wait()

    async with launched(address, tmp_path, Job("dig", dig)) as service:
        jobs = service.for_owner("garden")
        job_id = await jobs.enqueue("dig", {})
        status = await reached(jobs, job_id, "running", "digging")
        assert (status.done, status.total, status.message) == (3, 10, "digging")
        go_on.set()
        await reached(jobs, job_id, "done")


async def read(board: ProgressBoard, progress: Progress) -> None:
    async with asyncio.timeout(60):
        while True:
            if await board.read("dig/1") == progress:
                return
            await asyncio.sleep(0.01)


async def test_the_replicas_see_each_others_progress() -> None:
    cache = MemoryCache()
    one, other = ProgressBoard(cache), ProgressBoard(cache)
    one.report("dig/1", Progress(3, 10, "digging"))
    await read(other, Progress(3, 10, "digging"))
    one.report("dig/1", Progress(4, 10))
    assert await one.read("dig/1") == Progress(4, 10)
    assert await other.read("dig/1") == Progress(3, 10, "digging"), "written not so often"
    one.report("dig/1", Progress(10, 10))
    await read(other, Progress(10, 10))


async def test_jobs_are_listed_newest_first_and_by_name(address: str, tmp_path: Path) -> None:
    declared = (Job("calculate", calculate), Job("fail", fail))
    async with launched(address, tmp_path, *declared) as service:
        jobs = service.for_owner("garden")
        ids = [await jobs.enqueue("calculate", {"number": number}) for number in range(3)]
        failed = await jobs.enqueue("fail", {"thing": "water"})
        await reached(jobs, failed, "failed")
        for job_id in ids:
            await reached(jobs, job_id, "done")
        assert [each.id for each in await jobs.list()] == [failed, *reversed(ids)]
        assert [each.id for each in await jobs.list("calculate", limit=2)] == [ids[2], ids[1]]
        assert {each.name for each in await jobs.list("fail")} == {"fail"}
        with pytest.raises(KeyError, match="No plugin declares the job garden/weed"):
            await jobs.list("weed")
        assert await service.for_owner("gard").list() == []


async def test_a_cancelled_job_ends_at_once_and_never_comes_back(
    address: str, tmp_path: Path
) -> None:
    begun: list[str] = []
    ended = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def dig(run: JobRun, payload: Mapping[str, Any]) -> None:
        begun.append(run.id)
        await run.step("wait", wait)

    async with launched(address, tmp_path, Job("dig", dig)) as service:
        jobs = service.for_owner("garden")
        running, queued = await jobs.enqueue("dig", {}), await jobs.enqueue("dig", {})
        await until(lambda: begun == [running])
        assert not await service.for_owner("gard").cancel(running)
        assert await jobs.cancel(queued)
        assert await jobs.cancel(running)
        async with asyncio.timeout(60):
            await ended.wait()
        await reached(jobs, running, "cancelled")
        await reached(jobs, queued, "cancelled")
        assert not await jobs.cancel(running)
        later = await jobs.enqueue("dig", {})
        await until(lambda: begun == [running, later])
    async with launched(address, tmp_path, Job("dig", dig)) as service:
        await until(lambda: begun == [running, later, later])


CRASH = """
import asyncio, os, signal, sys
from pathlib import Path
from gateway.contract import Job
from gateway.services.jobs.service import open_jobs

address, data_dir, crash = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "crash"

async def step(number):
    with (data_dir / "steps").open("a") as file:
        file.write(f"{number} ")
    if crash and number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number

async def work(run, payload):
    return [await run.step(f"step {number}", step, number) for number in (1, 2, 3)]

async def main():
    service = open_jobs(address, data_dir)
    service.register("garden", [Job("dig", work)])
    await service.launch()
    jobs = service.for_owner("garden")
    if crash:
        await jobs.enqueue("dig", {}, key="once")
    while (status := await jobs.status("garden/dig/once")).state != "done":
        await asyncio.sleep(0.02)
    print(status.result)
    await service.close()

asyncio.run(main())
"""


async def test_a_killed_process_goes_on_with_the_step_it_had_reached(
    address: str, tmp_path: Path
) -> None:
    def run(how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", CRASH, address, str(tmp_path), how]
        return subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)

    killed = await asyncio.to_thread(run, "crash")
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "steps").read_text() == "1 2 "
    finished = await asyncio.to_thread(run, "go on")
    assert (finished.stdout.splitlines()[-1], finished.stderr) == ("[1, 2, 3]", "")
    assert (tmp_path / "steps").read_text() == "1 2 2 3 "


async def test_without_a_declared_job_nothing_is_imported_or_written(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; "
        "from gateway.services.jobs.service import *\n"
        "async def main():\n"
        "    jobs = open_jobs('sqlite', Path(sys.argv[1]))\n"
        "    await jobs.launch(); await jobs.close(); print('dbos' in sys.modules)\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "data")]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert not (tmp_path / "data").exists()


async def test_a_service_that_is_not_launched_says_what_to_do(tmp_path: Path) -> None:
    service = open_jobs("sqlite", tmp_path)
    service.register("garden", [Job("calculate", calculate)])
    jobs = service.for_owner("garden")
    with pytest.raises(JobsNotRunning, match="porch serve"):
        await jobs.enqueue("calculate", {"number": 1})
    with pytest.raises(JobsNotRunning, match="porch serve"):
        await jobs.status("any")


def test_declarations_that_cannot_work_are_refused_by_name(tmp_path: Path) -> None:
    service = open_jobs("sqlite", tmp_path)
    with pytest.raises(ValueError, match=r"garden/tick is no cron expression: 'hourly'"):
        service.register("garden", [Job("tick", calculate, schedule="hourly")])
    with pytest.raises(ValueError, match="declares the job twice twice"):
        service.register("garden", [Job("twice", calculate), Job("twice", calculate)])


def test_an_unknown_address_names_what_is_possible(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'sqlite' or at a postgresql:// URL"):
        open_jobs("temporal://127.0.0.1", tmp_path)
