"""A job that lacks a budget, or a model's provider, waits and goes on with the step it had reached.

What raises ``budget_reached`` has not failed for good: the month ends, or somebody grants credits.
Nor has what finds a provider away or throttling. So the job goes back into its queue, holds no
place in it meanwhile, and is tried again now and then (issue seed 003, phase 8: "queued, not
dropped").
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from gateway.contract.failures import ToolFailed
from gateway.contract.models import ModelFailed

if TYPE_CHECKING:
    from dbos import WorkflowStatus

__all__ = ["Postponed", "postponed_by", "put_back", "waits_until"]

BUDGET_REACHED = "budget_reached"
"""The code of the failure for which a job waits."""
_AWAY = frozenset({"throttled", "provider_down", "timeout"})
"""Failures of a model for which it waits too."""
AWAY_SECONDS = 300.0
"""Seconds after which a provider is asked again that has not said when."""
SHORTEST_SECONDS, LONGEST_SECONDS = 1.0, 3600.0
"""Seconds for which a job waits: at most so long, as credits may be granted, or a plan changed."""


class Postponed(asyncio.CancelledError):
    """Ends the run of a job, not the job; no step keeps it as its result.

    Args:
        seconds: for how long.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"postponed for {seconds:g} s")
        self.seconds = seconds


def postponed_by(failed: ToolFailed) -> Postponed | None:
    """What a failure means for a job: it waits, or None where it has failed."""
    away = isinstance(failed, ModelFailed) and failed.code in _AWAY
    if failed.code != BUDGET_REACHED and not away:
        return None
    wanted = failed.details.get("retry_after_s")
    unsaid = AWAY_SECONDS if away else LONGEST_SECONDS
    seconds = float(wanted) if isinstance(wanted, int | float) else unsaid
    return Postponed(min(max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS))


def put_back(job_id: str, seconds: float) -> bool:
    """Put a job that runs here back into its queue; it blocks, so call it in a thread.

    DBOS has delays for jobs that are queued, and none for those that run. The row is written as
    DBOS writes it when it queues a job with a delay, and when it gives one back.

    Returns:
        Whether it ran; one that was cancelled stays so.
    """
    from dbos._dbos import _get_dbos_instance
    from sqlalchemy import update

    database = _get_dbos_instance()._sys_db
    jobs = database.tables.workflow_status
    now = int(time.time() * 1000)
    running = (jobs.c.workflow_uuid == job_id, jobs.c.status == "PENDING")
    waits = (
        update(jobs)
        .where(*running)
        .values(
            status="DELAYED",
            delay_until_epoch_ms=now + int(seconds * 1000),
            owner_xid=None,
            recovery_attempts=0,  # it has not crashed, however often it waits
            started_at_epoch_ms=None,
            updated_at=now,
        )
    )
    with database.engine.begin() as connection:
        return connection.execute(waits).rowcount == 1


def waits_until(found: WorkflowStatus) -> str:
    """What a job that waits is told to wait for; empty for every other one."""
    if found.status != "DELAYED" or found.delay_until_epoch_ms is None:
        return ""
    at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(found.delay_until_epoch_ms / 1000))
    return f"Waits for a language model, or its budget; tried again at {at} UTC."
