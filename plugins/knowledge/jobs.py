"""The jobs that sync with GitHub: one for each source that a push or the schedule concerns, and one
for all of them that somebody has asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gateway.contract import Job, JobRun, Jobs
from plugins.knowledge.sync.follower import Follower

if TYPE_CHECKING:
    from plugins.knowledge.sync.sync_loop import SyncLoop

SYNC = "sync"
SYNC_ALL = "sync_all"
LOOK = "look"
PROGRESS_SECONDS = 0.5
"""Seconds between two reports of how far a sync of everything is."""
MAX_CONCURRENT_SYNCS = 8
"""Syncs that run, or wait for their source, at the same time."""


class SyncJobs:
    """The jobs over the sources on GitHub.

    Args:
        followers: the sources on GitHub.
        jobs: the plugin's jobs.
        loop: syncs all sources, and says how far it is.
    """

    def __init__(self, followers: Sequence[Follower], jobs: Jobs, loop: SyncLoop) -> None:
        self._loop = loop
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
            Job(SYNC_ALL, self.sync_all),
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

    async def sync_all(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Bring every source to the head of its branch, as a job that somebody waits for."""
        syncing = asyncio.ensure_future(self._loop.sync_all())
        try:
            while not (await asyncio.wait((syncing,), timeout=PROGRESS_SECONDS))[0]:
                at = self._loop.progress
                run.progress(at.done, at.total, at.doing)
            return {"errors": syncing.result(), "documents": self._loop.documents}
        finally:
            syncing.cancel()

    async def look(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Queue a sync of every source; each finds out itself whether there is anything new."""
        queued = [
            await self._jobs.enqueue(SYNC, {"source": key, "scheduled": True})
            for key in self._followers
        ]
        return {"jobs": queued}
