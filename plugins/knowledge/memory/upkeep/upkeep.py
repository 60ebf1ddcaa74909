"""Keeps memory in order, now and then: as a job, and in the process for working memory.

Each part does its work in small transactions that can be repeated: it may be killed at any moment
and run in two processes at once, and what one pass leaves the next one finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.contract import Job, JobRun
from plugins.knowledge.memory.upkeep.pads import Pads

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

JOB = "upkeep"
EVERY_TEN_MINUTES = "*/10 * * * *"
PADS_SECONDS = 60.0
"""How often working memory is looked through."""
AT_ONCE = 4
"""Passes at a time: one whose process died must not hold up those of other replicas."""
Part = Callable[[], Awaitable[Mapping[str, int]]]
"""One part of a pass; says what it did, as counts by their names."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The upkeep.

    Attributes:
        parts: what a pass does, by name, in order.
        pads: promotes out of working memory.
        log: for the admin: one line a pass.
        schedule: when there is a pass, as a cron expression in UTC.
    """

    parts: Mapping[str, Part]
    pads: Pads
    log: FilteringBoundLogger
    schedule: str = EVERY_TEN_MINUTES
    _running: asyncio.Lock = field(default_factory=asyncio.Lock)

    def declared(self) -> Job:
        """The job that the plugin declares."""
        return Job(JOB, self.run, schedule=self.schedule, concurrency=AT_ONCE)

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

    async def follow_pads(self) -> None:
        """Look through working memory now and then, for as long as it is awaited."""
        while True:
            await asyncio.sleep(PADS_SECONDS)
            await self.promote_pads()

    async def promote_pads(self) -> None:
        """Promote what deserves it out of working memory; a failure is logged."""
        try:
            if promoted := await self.pads():
                self.log.info("memory upkeep", promoted=promoted, layer="working")
        except Exception as error:
            self.log.error("memory upkeep failed", part="working", exc_info=error)

    def _guarded(self, name: str) -> Callable[[], Awaitable[Any]]:
        async def part() -> Any:
            try:
                return dict(await self.parts[name]())
            except Exception as error:
                self.log.error("memory upkeep failed", part=name, exc_info=error)
                return None

        return part

    def _tell(self, counts: Mapping[str, int], failed: Sequence[str]) -> None:
        done = {name: count for name, count in counts.items() if count}
        self.log.info("memory upkeep", **done, failed=list(failed))
