"""Memory's upkeep: a scheduled job, and a loop in each process for its working memory.

Each part works in small, repeatable transactions: it may be killed at any moment and run in two
processes at once, and the next pass finds what one leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.contract import Job, JobRun
from gateway.toolkit.reasons import log_fields
from plugins.knowledge.memory.upkeep.working_moves import WorkingMoves

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

JOB = "upkeep"
WORKING_INTERVAL_S = 60.0
"""How often working memory is looked through."""
MAX_CONCURRENT_PASSES = 4
"""Passes at a time: one whose process died must not hold up those of other replicas."""
Part = Callable[[], Awaitable[Mapping[str, int]]]
"""One part of a pass; says what it did, as counts by their names."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The upkeep.

    Attributes:
        parts: what a pass does, by name, in order.
        working_moves: promotes out of working memory.
        log: for the admin: one line a pass.
        schedule: when there is a pass, as a cron expression in UTC.
    """

    parts: Mapping[str, Part]
    working_moves: WorkingMoves
    log: FilteringBoundLogger
    schedule: str
    _running: asyncio.Lock = field(default_factory=asyncio.Lock)

    def declaration(self) -> Job:
        """The job that the plugin declares."""
        return Job(JOB, self.run, schedule=self.schedule, concurrency=MAX_CONCURRENT_PASSES)

    async def run(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """One pass, as a job."""

        async def step(name: str, part: Callable[[], Awaitable[Any]]) -> Any:
            run.progress(list(self.parts).index(name), len(self.parts), name)
            return await run.step(name, part)

        return await self.once(step)

    async def once(self, step: Callable[..., Awaitable[Any]] | None = None) -> dict[str, Any]:
        """One pass; a part that fails costs the others nothing.

        Args:
            step: runs a part by its name; each is simply called where this is not given.

        Returns:
            What was done, as counts, and under ``failed`` the parts that did not work.
        """
        if self._running.locked():
            return {"superseded": True}  # the last pass still runs in this process
        async with self._running:
            counts: dict[str, Any] = {}
            failed: list[str] = []
            for name in self.parts:
                part = self._guarded(name)
                done = await (part() if step is None else step(name, part))
                if done is None:
                    failed.append(name)
                else:
                    counts |= done
            self._tell(counts, failed)
            return {**counts, "failed": failed}

    async def run_working_moves(self) -> None:
        """Look through working memory now and then, for as long as it is awaited."""
        while True:
            await asyncio.sleep(WORKING_INTERVAL_S)
            await self.promote_working()

    async def promote_working(self) -> None:
        """Promote what deserves it out of working memory; a failure is logged."""
        try:
            if promoted := await self.working_moves():
                self.log.info("memory upkeep", promoted=promoted, layer="working")
        except Exception as error:
            self.log.error("memory upkeep failed", part="working", **log_fields(error))

    def _guarded(self, name: str) -> Callable[[], Awaitable[Any]]:
        async def part() -> Any:
            try:
                return dict(await self.parts[name]())
            except Exception as error:
                self.log.error("memory upkeep failed", part=name, **log_fields(error))
                return None

        return part

    def _tell(self, counts: Mapping[str, int], failed: Sequence[str]) -> None:
        done = {name: count for name, count in counts.items() if count}
        self.log.info("memory upkeep", **done, failed=list(failed))
