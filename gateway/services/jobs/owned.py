"""The jobs as one plugin sees them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.contract.failures import ToolFailed
from gateway.contract.jobs import JobStatus
from gateway.services.jobs.postponed import waits_until

if TYPE_CHECKING:
    from dbos import WorkflowStatus

    from gateway.services.jobs.service import JobService

_STATES = {
    "ENQUEUED": "queued",
    "DELAYED": "queued",
    "PENDING": "running",
    "SUCCESS": "done",
    "CANCELLED": "cancelled",
}
"""Our states by DBOS's; any other state of DBOS is a failure."""
_OPEN = ("queued", "running")


class OwnedJobs:
    """The port ``Jobs``.

    Args:
        service: the jobs of all plugins.
        plugin: whose these are.
    """

    def __init__(self, service: JobService, plugin: str) -> None:
        self._service = service
        self._plugin = plugin

    async def enqueue(
        self, name: str, payload: Mapping[str, Any], *, key: str | None = None
    ) -> str:
        """Queue a job that the plugin declared.

        Raises:
            KeyError: the plugin declares no such job.
            TypeError: the payload is not JSON.
            JobsNotRunning: the service is not launched.
        """
        full = f"{self._plugin}/{name}"
        return await self._service.enqueue(full, payload, f"{full}/{key or uuid.uuid4()}")

    async def status(self, job_id: str) -> JobStatus | None:
        """Where the job is, or None where the plugin has no such job.

        Raises:
            JobsNotRunning: the service is not launched.
        """
        found = await self._service.status(job_id)
        if found is None or not found.name.startswith(f"{self._plugin}/"):
            return None
        status = await self._status(found)
        if status.state != "running":
            return status
        return replace(status, asks=await self._service.questions.open(job_id))

    async def list(self, name: str | None = None, *, limit: int = 50) -> Sequence[JobStatus]:
        """The plugin's jobs, the newest first.

        Raises:
            KeyError: the plugin declares no job of that name.
            JobsNotRunning: the service is not launched.
        """
        names = self._service.names(self._plugin)
        if name is not None and f"{self._plugin}/{name}" not in names:
            raise KeyError(f"No plugin declares the job {self._plugin}/{name}.")
        asked = names if name is None else [f"{self._plugin}/{name}"]
        found = await self._service.listed(asked, limit) if asked else []
        return [await self._status(each) for each in found]

    async def cancel(self, job_id: str) -> bool:
        """End a job that is queued or running; false where there is none.

        Raises:
            JobsNotRunning: the service is not launched.
        """
        found = await self.status(job_id)
        if found is None or found.state not in _OPEN:
            return False
        await self._service.cancel(job_id)
        return True

    async def answer(self, job_id: str, answers: Mapping[str, Any]) -> None:
        """Answer what the job asks (``JobRun.ask``), as far as it does; no part of the port."""
        await self._service.questions.answer(job_id, answers)

    async def _status(self, found: WorkflowStatus) -> JobStatus:
        progress = await self._service.board.read(found.workflow_id)
        error: Any = found.error
        is_told = getattr(error, "name", "") == ToolFailed.__name__
        return JobStatus(
            id=found.workflow_id,
            state=_STATES.get(found.status, "failed"),
            result=found.output,
            error=None if found.error is None else str(found.error),
            name=found.name.removeprefix(f"{self._plugin}/"),
            done=progress.done,
            total=progress.total,
            message=waits_until(found) or progress.message,
            failure=str(error.code) if is_told else "",
            queued=_moment(found.created_at),
            changed=_moment(found.updated_at),
        )


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
