"""A job that runs, as its own code sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.contract.failures import ToolFailed
from gateway.observability.logs import get_logger
from gateway.services.jobs.lease import Lease
from gateway.services.jobs.postponed import Postponed, postponed_by, put_back
from gateway.services.jobs.progress import Progress, ProgressBoard
from gateway.services.jobs.questions import Questions
from gateway.toolkit.spans import span

if TYPE_CHECKING:
    from gateway.contract import Job

__all__ = ["Run", "as_json"]

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """A job that runs: the port ``JobRun``."""

    id: str
    board: ProgressBoard
    lease: Lease
    questions: Questions
    asked: set[str] = field(default_factory=set)

    async def result(self, name: str, job: Job, payload: Mapping[str, Any]) -> Any:
        """Run the job from where it stands.

        Args:
            name: its full name.
            job: what it does.
            payload: what was handed in when it was queued.

        Raises:
            Postponed: it waits for a budget or a model, and has not failed.
            ToolFailed: it has failed in a way that it tells; never one of a class of its own, as
                the record of the job knows an error by the name of its class.
        """
        try:
            return as_json(await job.run(self, payload), f"The result of {name}")
        except Postponed as later:
            await self._wait(later)
            raise
        except ToolFailed as failed:
            if (waits := postponed_by(failed)) is not None:
                await self._wait(waits)
                raise waits from failed
            raise ToolFailed(failed.code, failed.message, failed.details) from failed

    async def _wait(self, later: Postponed) -> None:
        """Put the job back into its queue; the run then ends as where the portal stops."""
        if await asyncio.to_thread(put_back, self.id, later.seconds):
            log.info("job_waits_for_budget", job=self.id, seconds=later.seconds)

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        """Run ``await function(*args)`` once; a restart returns the recorded result instead.

        Raises:
            TypeError: the result is not JSON.
        """
        from dbos import DBOS

        async def recorded() -> Any:
            # A replica that was paused must not begin what another one may be doing by now.
            await self.lease.hold()
            # Through JSON at once, so that the first run sees just what a later one would.
            with span(f"step {name}"):
                try:
                    return as_json(await function(*args), f"The result of step {name!r}")
                except ToolFailed as failed:
                    # What is raised here would be the step's result for ever.
                    raise postponed_by(failed) or failed from None

        return await DBOS.run_step_async({"name": name}, recorded)

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Say how far the job is, as often as it likes; returns at once."""
        self.board.report(self.id, Progress(done, total, message))

    async def ask(
        self, requests: Mapping[str, Mapping[str, Any]], *, seconds: float = 3600
    ) -> Mapping[str, Any]:
        """Wait until whoever follows the job has answered; a restart goes on waiting.

        Raises:
            ToolFailed: nobody has answered in time.
            TypeError: a request is not JSON.
            ValueError: a key was used before.
        """
        if again := self.asked & requests.keys():
            raise ValueError(f"The job {self.id} has asked under {sorted(again)} before.")
        self.asked.update(requests)
        await self.questions.ask(as_json(dict(requests), "What the job asks"))
        wait = self.questions.answered
        answers = await self.step("answers", wait, self.id, sorted(requests), seconds)
        await self.questions.ask({})
        if answers is None:
            raise ToolFailed("not_answered", f"Nobody has answered within {seconds:g} s.")
        found: Mapping[str, Any] = answers
        return found


def as_json(value: Any, what: str) -> Any:
    """A value as it is read back from JSON.

    Args:
        value: JSON, or not.
        what: the value in the words of an error.

    Raises:
        TypeError: the value is not JSON.
    """
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is not JSON: {error}.") from error
