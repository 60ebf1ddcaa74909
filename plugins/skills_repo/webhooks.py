"""GitHub's ``push`` deliveries: ``POST /hooks/skills_repo/github``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.contract import Jobs, Webhook
from gateway.repositories import Deliveries, pushed
from plugins.skills_repo.config import Source

INDEX_JOB = "index"


class GithubWebhook:
    """Queues a build of the sources that a push concerns.

    Args:
        deliveries: tells whether they are GitHub's, and new.
        sources: the configured sources.
        jobs: builds.
    """

    def __init__(self, deliveries: Deliveries, sources: Sequence[Source], jobs: Jobs) -> None:
        self._deliveries = deliveries
        self._sources = [source for source in sources if source.github]
        self._jobs = jobs

    def declared(self) -> Webhook:
        """What the plugin offers."""
        return Webhook(name="github", verify=self._deliveries.verify, run=self.run)

    async def run(self, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """Take a delivery whose signature is right; says which sources are built anew.

        Raises:
            ToolFailed: ``bad_delivery``, it is not as GitHub sends one.
        """
        push = pushed(body, headers)
        if push is None:
            event = headers.get("x-github-event", "")
            return {"sources": [], "reason": f"nothing to do for the event {event[:40]!r}"}
        names = [
            source.name
            for source in self._sources
            if push.is_of(source.github or "", source.ref or "")
        ]
        if not names:
            return {"sources": [], "reason": "no source is of this repository and branch"}
        async with self._deliveries.taking(body, headers) as is_new:
            if not is_new:
                return {"sources": [], "reason": "this delivery was taken before"}
            job = await self._jobs.enqueue(INDEX_JOB, {"sources": names})
            return {"sources": names, "job": job}
