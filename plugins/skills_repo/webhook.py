"""GitHub's ``push`` deliveries: ``POST /hooks/skills_repo/github``."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.contract import Cache, Jobs, ToolFailed, Webhook
from plugins.skills_repo.config import Source

REMEMBERED_SECONDS = 24 * 3600.0
"""How long a delivery is known again."""
JOB = "index"

_SCHEME = "sha256="


class GithubWebhook:
    """Queues a build of the sources that a push concerns.

    Args:
        secret: what GitHub signs with.
        sources: the configured sources.
        cache: remembers deliveries.
        jobs: builds.
    """

    def __init__(self, secret: str, sources: Sequence[Source], cache: Cache, jobs: Jobs) -> None:
        self._secret = secret.encode()
        self._sources = [source for source in sources if source.github]
        self._cache = cache
        self._jobs = jobs

    def declared(self) -> Webhook:
        """What the plugin offers."""
        return Webhook(name="github", verify=self.verify, run=self.run)

    def verify(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether the shared secret signed the raw body (HMAC SHA-256), in constant time."""
        given = headers.get("x-hub-signature-256", "")
        expected = _SCHEME + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())

    async def run(self, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """Take a delivery whose signature is right; says which sources are built anew.

        Raises:
            ToolFailed: ``bad_delivery``, it is not as GitHub sends one.
        """
        event = headers.get("x-github-event", "")
        if event != "push":
            return {"sources": [], "reason": f"nothing to do for the event {event[:40]!r}"}
        delivery = headers.get("x-github-delivery", "")
        if not delivery or len(delivery) > 100:
            raise ToolFailed("bad_delivery", "Send the delivery's id in X-GitHub-Delivery.")
        names = self._concerned(_pushed(body))
        if not names:
            return {"sources": [], "reason": "no source is of this repository and branch"}
        if await self._is_replayed(delivery, body):
            return {"sources": [], "reason": "this delivery was taken before"}
        job = await self._jobs.enqueue(JOB, {"sources": names})
        return {"sources": names, "job": job}

    def _concerned(self, push: tuple[str, str]) -> list[str]:
        repository, ref = push
        return [
            source.name
            for source in self._sources
            if (source.github or "").lower() == repository.lower()
            and ref == f"refs/heads/{source.ref}"
        ]

    async def _is_replayed(self, delivery: str, body: bytes) -> bool:
        # The id is not signed, so that the body itself is remembered too. Both count up.
        signed = hashlib.sha256(body).hexdigest()
        seen = [
            await self._cache.increment(f"delivery:{each}", REMEMBERED_SECONDS)
            for each in (hashlib.sha256(delivery.encode()).hexdigest(), signed)
        ]
        return max(seen) > 1


def _pushed(body: bytes) -> tuple[str, str]:
    """The repository and the ref that a push names."""
    try:
        push = json.loads(body)
        return str(push["repository"]["full_name"]), str(push["ref"])
    except (ValueError, KeyError, TypeError, RecursionError):
        message = "The delivery is not a push as GitHub sends it; choose application/json there."
        raise ToolFailed("bad_delivery", message) from None
