"""A replica for ``test_jobs_replicas``: a process that works on jobs until it ends, or is ended.

What it does is written to a file that all replicas share, a line each: job, step, what, who.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gateway.contract import Job
from gateway.contract.jobs import JobRun
from gateway.services.jobs.service import open_jobs

STEPS = 3
SKEW_SECONDS = 3600.0


class Replica:
    """Works on jobs of ``STEPS`` steps.

    Args:
        name: who it is, in the file.
        root: where the file is, and the file ``go``, before which no job goes on.
        end: where it ends itself: ``job.step.what``, or nothing.
    """

    def __init__(self, name: str, root: Path, end: str) -> None:
        self.name = name
        self.root = root
        self.end = end

    def note(self, job: str, number: int, what: str) -> None:
        """Write a line; end here if that is the place."""
        with (self.root / "steps").open("a") as file:
            file.write(f"{job} {number} {what} {self.name}\n")
        if self.end == f"{job}.{number}.{what}":
            os.kill(os.getpid(), signal.SIGKILL)

    async def gate(self, name: str) -> None:
        """Wait until a file is there."""
        while not (self.root / name).exists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def step(self, job: str, number: int) -> int:
        """Begin, wait where the test wants it, and do the one thing that must not be done twice."""
        self.note(job, number, "begun")
        await self.gate(f"go-{number}" if job == "pause" else "go")
        self.note(job, number, "done")
        return number

    async def work(self, job: str, run: JobRun, _payload: Mapping[str, Any]) -> list[int]:
        """The job."""
        self.note(job, 0, "recorded")
        if job == "ask":
            question = {"method": "elicitation/create", "params": {}}
            self.note(job, 0, (await run.ask({"name": question}))["name"])
            return []
        await self.gate("go-0" if job == "pause" else "go")
        results = []
        for number in range(1, STEPS + 1):
            results.append(await run.step(f"step {number}", self.step, job, number))
            self.note(job, number, "recorded")
        return results


async def main(name: str, address: str, root: str, jobs: str, enqueue: str, end: str) -> None:
    """Serve until SIGTERM."""
    replica = Replica(name, Path(root), end)
    service = open_jobs(address, replica.root / name)
    declared = [Job(job, partial(replica.work, job)) for job in jobs.split()]
    service.register("garden", declared)
    await service.launch()
    for number, job in enumerate(enqueue.split()):
        await service.for_owner("garden").enqueue(job, {}, key=str(number))
    (replica.root / f"{name}.up").touch()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    await service.close()


if __name__ == "__main__":
    if sys.argv[1].startswith("skewed"):
        right = time.time
        time.time = lambda: right() + SKEW_SECONDS
    asyncio.run(main(*sys.argv[1:7]))
