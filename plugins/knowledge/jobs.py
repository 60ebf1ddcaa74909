"""The jobs that sync with GitHub: one for each source that a push or the schedule concerns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gateway.contract import Job, JobRun, Jobs
from plugins.knowledge.sync.follower import Follower

SYNC = "sync"
LOOK = "look"
MAX_CONCURRENT_SYNCS = 8
"""Syncs that run, or wait for their source, at the same time."""


class SyncJobs:
    """The jobs over the sources on GitHub.

    Args:
        followers: the sources on GitHub.
        jobs: the plugin's jobs.
    """

    def __init__(self, followers: Sequence[Follower], jobs: Jobs) -> None:
        self._followers = {follower.source.key: follower for follower in followers}
        self._jobs = jobs

    def declarations(self, schedule: str) -> tuple[Job, ...]:
        """The jobs that the plugin declares; none without a source on GitHub.

        Args:
            schedule: when to look for what no push announced, as a cron expression in UTC.
        """
        if not self._followers:
            return ()
        return (
            Job(SYNC, self.sync, concurrency=MAX_CONCURRENT_SYNCS),
            Job(LOOK, self.look, schedule=schedule),
        )

    async def sync(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Bring one source to the head of its branch, as a job."""
        follower = self._followers.get(str(payload.get("source")))
        if follower is None:
            return {"error": "this source is not configured any more"}
        if payload.get("scheduled") and follower.is_busy:
            return {"source": follower.source.key, "superseded": True}
        told = payload.get("dates") or {}
        dates = {path: datetime.fromisoformat(date) for path, date in told.items()}
        return await follower.follow(run.step, str(payload.get("after") or ""), dates)

    async def look(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Queue a sync of every source; each finds out itself whether there is anything new."""
        queued = [
            await self._jobs.enqueue(SYNC, {"source": key, "scheduled": True})
            for key in self._followers
        ]
        return {"jobs": queued}
