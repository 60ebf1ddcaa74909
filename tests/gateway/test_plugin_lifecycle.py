"""A plugin is tried again when it fails while it opens, and nothing of the failed try is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest

from gateway import plugin_lifecycle
from gateway.contract import Host, Job, JobRun, Offer, Plugin, hookimpl
from gateway.testing import open_test_portal


async def test_a_plugin_that_fails_after_its_jobs_were_taken_in_is_served_when_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugin_lifecycle, "FIRST_RETRY_SECONDS", 0.01)
    ran, tries = list[int](), list[int]()

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        tries.append(1)
        which = len(tries)

        async def job(run: JobRun, payload: Mapping[str, Any]) -> None:
            ran.append(which)

        # What is no row kind is noticed after the jobs are taken in.
        rows: Any = ("no row kind",) if which == 1 else ()
        yield Offer(jobs=[Job("work", job)], rows=rows)

    module: Any = ModuleType("module_late")
    module.porch_plugin = hookimpl(lambda: Plugin("late", "A plugin.", opened))
    async with open_test_portal(module, wait_ready=False, schedules=True) as portal:
        running = portal.running

        async def until(said: Any) -> None:
            async with asyncio.timeout(60):
                while not said():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

        await until(lambda: "late" in running.plugins.offers and not running.board.opening)
        assert len(tries) == 2
        await running.services.for_plugin("late").jobs.enqueue("work", {})
        await until(lambda: ran)
    assert ran == [2], "the job is that of the opening that lasted"
