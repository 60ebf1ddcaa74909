"""Waiting a little for a job, for callers whose client follows no tasks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.contract import Jobs, JobStatus

PATIENCE_SECONDS = 15.0
"""Seconds that a call waits for a job before it answers that it goes on."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 1.0
UNDER_WAY = frozenset(("queued", "running"))
"""The states of a job that is not over."""


async def settled(jobs: Jobs, id: str, seconds: float = PATIENCE_SECONDS) -> JobStatus | None:
    """A job once it is over, or as it is when the time is up.

    Args:
        jobs: the plugin's jobs.
        id: the job's id.
        seconds: how long to wait at most.

    Returns:
        Where the job is; None where no such job is known.
    """
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE_SECONDS
    while True:
        status = await jobs.status(id)
        left = until - time.monotonic()
        if status is None or status.state not in UNDER_WAY or left <= 0:
            return status
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


async def under_way(jobs: Jobs, name: str) -> str | None:
    """The id of a job of that declaration that is not over, which others may wait for too.

    Args:
        jobs: the plugin's jobs.
        name: the declaration's name; it takes no arguments that would tell jobs apart.
    """
    newest = await jobs.list(name, limit=10)
    return next((each.id for each in newest if each.state in UNDER_WAY), None)
