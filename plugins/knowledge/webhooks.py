"""``POST /hooks/knowledge/github``: a push to a source's branch queues its sync."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.contract import Jobs, Webhook
from gateway.repositories import Deliveries, Push, pushed
from plugins.knowledge.jobs import SYNC
from plugins.knowledge.sync.follower import Follower


def push_webhook(followers: Sequence[Follower], jobs: Jobs, deliveries: Deliveries) -> Webhook:
    """The webhook that GitHub calls at a push.

    Args:
        followers: the sources on GitHub.
        jobs: the plugin's jobs.
        deliveries: tells whether a delivery is GitHub's, and new.
    """

    async def run(body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        push = pushed(body, headers)
        if push is None:
            event = headers.get("x-github-event", "")
            return {"jobs": [], "reason": f"nothing to do for the event {event[:40]!r}"}
        sources = [follower.source for follower in followers]
        concerned = [each for each in sources if push.is_of(each.repository, each.branch)]
        if not concerned:
            return {"jobs": [], "reason": "no source is of this repository and branch"}
        async with deliveries.taking(body, headers) as is_new:
            if not is_new:
                return {"jobs": [], "reason": "this delivery was taken before"}
            queued = []
            for source in concerned:
                dates = {path: date for path, date in _dates(push).items() if source.is_note(path)}
                payload = {"source": source.key, "after": push.after, "dates": dates}
                queued.append(await jobs.enqueue(SYNC, payload))
            return {"jobs": queued}

    return Webhook(name="github", verify=deliveries.verify, run=run)


def _dates(push: Push) -> dict[str, str]:
    """When the push's commits last wrote each file; a hint, on which only dates rely."""
    return {
        path: commit.timestamp.isoformat()
        for commit in push.commits
        for path in (*commit.added, *commit.modified)
    }
