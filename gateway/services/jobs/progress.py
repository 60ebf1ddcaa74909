"""The progress of running jobs: written often, kept briefly, visible to every replica."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass

from gateway.contract.services import Cache
from gateway.observability.logs import get_logger

WRITE_INTERVAL_SECONDS = 0.5
"""Seconds between two writes of one job's progress to the cache."""
RETENTION_SECONDS = 3600.0
"""Seconds for which a job's last progress is kept."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """A job's last progress: ``done`` of ``total`` (0 if unknown), and a text."""

    done: int = 0
    total: int = 0
    message: str = ""


class ProgressBoard:
    """The progress of all jobs. It is no part of a job's record: a restart begins it anew.

    Args:
        cache: where other replicas read it, or None where this process is the only one.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache
        self._own: dict[str, Progress] = {}
        self._written: dict[str, float] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def report(self, job_id: str, progress: Progress) -> None:
        """Report the progress of a job of this process; returns at once."""
        self._own[job_id] = progress
        now = time.monotonic()
        last = progress.total and progress.done >= progress.total
        if self._cache is None or (
            now - self._written.get(job_id, 0) < WRITE_INTERVAL_SECONDS and not last
        ):
            return
        self._written[job_id] = now
        task = asyncio.get_running_loop().create_task(self._write(job_id, progress))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def read(self, job_id: str) -> Progress:
        """A job's last progress, or None if there is none."""
        if job_id in self._own or self._cache is None:
            return self._own.get(job_id, Progress())
        try:
            kept = await self._cache.get(_key(job_id))
        except OSError:  # what is away with it is no more than a number
            return Progress()
        return Progress(**json.loads(kept)) if kept else Progress()

    def ended(self, job_id: str) -> None:
        """Forget a job of this process."""
        self._own.pop(job_id, None)
        self._written.pop(job_id, None)

    async def _write(self, job_id: str, progress: Progress) -> None:
        assert self._cache is not None  # noqa: S101  (asked before)
        try:
            await self._cache.set(
                _key(job_id), json.dumps(asdict(progress)).encode(), RETENTION_SECONDS
            )
        except OSError as error:
            log.debug("progress_not_shared", reason=str(error))


def _key(job_id: str) -> str:
    return f"job-progress/{job_id}"
