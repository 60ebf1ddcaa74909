"""What starts a sync with GitHub: a push, a schedule, or the portal's start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gateway.contract import Job, JobRun, Jobs, Webhook
from gateway.repositories import Deliveries, Push, pushed
from plugins.knowledge.sync.follow import Follower

SYNC = "sync"
LOOK = "look"
AT_ONCE = 8
"""So many syncs run, or wait for their source, at a time."""


class Hooks:
    """Queues a sync of the sources that a push, or the schedule, concerns.

    Args:
        followers: the sources on GitHub.
        jobs: the plugin's jobs.
    """

    def __init__(self, followers: Sequence[Follower], jobs: Jobs) -> None:
        self._followers = {follower.source.key: follower for follower in followers}
        self._jobs = jobs

    def jobs(self, schedule: str) -> tuple[Job, ...]:
        """The jobs that the plugin declares.

        Args:
            schedule: when to look for what no push told of, as a cron expression.
        """
        if not self._followers:
            return ()
        return (
            Job(SYNC, self.sync, concurrency=AT_ONCE),
            Job(LOOK, self.look, schedule=schedule),
        )

    def webhook(self, deliveries: Deliveries) -> Webhook:
        """``POST /hooks/knowledge/github``.

        Args:
            deliveries: tells whether they are GitHub's, and new.
        """

        async def run(body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
            return await self._delivered(deliveries, body, headers)

        return Webhook(name="github", verify=deliveries.verify, run=run)

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
        """Queue a sync of every source, which finds out by itself whether there is anything new."""
        queued = [
            await self._jobs.enqueue(SYNC, {"source": key, "scheduled": True})
            for key in self._followers
        ]
        return {"jobs": queued}

    async def _delivered(
        self, deliveries: Deliveries, body: bytes, headers: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Take a delivery whose signature is right; says which syncs it has queued.

        Raises:
            ToolFailed: ``bad_delivery``, it is not as GitHub sends one.
        """
        push = pushed(body, headers)
        if push is None:
            event = headers.get("x-github-event", "")
            return {"jobs": [], "reason": f"nothing to do for the event {event[:40]!r}"}
        concerned = [
            follower.source
            for follower in self._followers.values()
            if push.is_of(follower.source.repository, follower.source.branch)
        ]
        if not concerned:
            return {"jobs": [], "reason": "no source is of this repository and branch"}
        if await deliveries.is_replayed(body, headers):
            return {"jobs": [], "reason": "this delivery was taken before"}
        queued = []
        for source in concerned:
            dates = {path: date for path, date in _dates(push).items() if source.is_note(path)}
            payload = {"source": source.key, "after": push.after, "dates": dates}
            queued.append(await self._jobs.enqueue(SYNC, payload))
        return {"jobs": queued}


def _dates(push: Push) -> dict[str, str]:
    """When the push's commits last wrote each file; a hint, which nothing but dates relies on."""
    return {
        path: commit.timestamp.isoformat()
        for commit in push.commits
        for path in (*commit.added, *commit.modified)
    }
