"""A process that dies, hangs, cannot open or loses its portal is nobody else's affair."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gateway.contract import Offer, Plugin, hookimpl
from gateway.isolation import plugin as isolated
from gateway.testing import open_test_portal
from tests.gateway.isolation.portals import eventually, is_there, portal_of, process_of
from tests.journeys import garden


async def test_one_that_dies_fails_its_calls_by_name_and_is_started_again(tmp_path: Path) -> None:
    async with portal_of(garden) as portal:
        first = await process_of(portal)
        waiting = asyncio.create_task(portal.call("wait", {"mark": str(tmp_path / "mark")}))
        await eventually(lambda: asyncio.to_thread((tmp_path / "mark").exists))
        killed = await portal.call("fail", {"how": "kill"})
        for failed in (killed, await waiting):
            assert failed.is_error
            assert "The process of workshop has been ended by SIGKILL" in failed.text
            assert '"code":"unavailable"' in failed.content[1]["text"]
        away = await portal.call("make", {"thing": "x"})
        assert '"retry_after_seconds"' in away.content[1]["text"]
        health = await portal.health()
        assert health["status"] == "ok"
        how = health["plugins"]["workshop"]
        assert how["state"] == "degraded"
        assert how["detail"].startswith("Its process has been ended by SIGKILL, at 20")
        assert (await portal.call("harvest")).text == "Harvested."

        async def back() -> bool:
            return not (await portal.call("make", {"thing": "x"})).is_error

        await eventually(back)
        assert await process_of(portal) != first
        assert not is_there(first)
        facts = (await portal.health())["plugins"]["workshop"]["facts"]
        assert facts == {"saws": 3, "process_starts": 2}


async def test_one_that_does_not_open_again_is_tried_with_pauses_and_then_counts_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "STEADY_SECONDS", 0.2)
    once = tmp_path / "once"
    once.touch()
    async with portal_of(once=str(once)) as portal:
        once.unlink()
        await portal.call("fail", {"how": "kill"})

        async def failed() -> Any:
            how = (await portal.health())["plugins"]["workshop"]
            return how if how["state"] == "failed" and "door" in how["detail"] else None

        how = await eventually(failed)
        assert "ended, and does not open again: RuntimeError: The door is locked." in how["detail"]
        once.touch()

        async def well() -> bool:
            return bool((await portal.health())["status"] == "ok")

        await eventually(well)


async def test_while_one_computes_the_others_are_served_and_health_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolated, "BUSY_SECONDS", 0.1)
    async with portal_of(garden) as portal:
        computing = asyncio.create_task(portal.call("compute", {"seconds": 3}))
        await asyncio.sleep(0.1)
        served = 0
        while not computing.done():
            assert (await portal.call("harvest")).text == "Harvested."
            how = (await portal.health())["plugins"]["workshop"]
            served += how["detail"] == "Its process computes, and does not say how it is."
        assert (await computing).text == "computed"
        assert served


async def test_one_that_hangs_is_ended_and_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "HANG_SECONDS", 2.0)
    monkeypatch.setattr(isolated, "_PING_SECONDS", 0.1)
    async with portal_of() as portal:
        failed = await portal.call("compute", {"seconds": 60})
        assert "The process of workshop has been ended by SIGKILL" in failed.text


async def test_nothing_is_left_once_the_portal_is_closed() -> None:
    async with portal_of() as portal:
        process = await process_of(portal)
        assert is_there(process)
        computing = asyncio.create_task(portal.call("compute", {"seconds": 60}))
        await asyncio.sleep(0.1)
        computing.cancel()
    assert not is_there(process)


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"breaks": "jobs"}, "declares jobs"),
        ({"breaks": "vectors"}, "uses the embedded vector store"),
    ],
    ids=["jobs", "vectors"],
)
async def test_what_cannot_run_there_is_refused_by_file_and_line(
    section: dict[str, Any], reason: str
) -> None:
    async with portal_of(garden, **section) as portal:
        detail = (await portal.health())["plugins"]["workshop"]["detail"]
        assert detail.startswith("config/portal.yaml:")
        assert "plugins.workshop.isolation: cannot be process, for the plugin " + reason in detail
        assert (await portal.call("harvest")).text == "Harvested."


def _module(name: str, **more: Any) -> Any:
    module: Any = ModuleType(name)

    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
        yield Offer()

    module.porch_plugin = hookimpl(lambda: Plugin("workshop", "Here.", opened, **more))
    return module


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (_module("nowhere_to_be_found"), "comes from no module that can be imported"),
        (_module("x", in_portal="runs jobs"), "for the plugin runs jobs; leave the key out"),
    ],
    ids=["no module", "its author"],
)
async def test_one_that_cannot_be_found_there_or_says_so_is_refused(
    module: Any, reason: str
) -> None:
    config = {"plugins": {"workshop": {"isolation": "process"}}}
    async with open_test_portal(module, config=config) as portal:
        assert reason in (await portal.health())["plugins"]["workshop"]["detail"]


@pytest.mark.parametrize("breaks", ["raise", "exit"])
async def test_one_that_does_not_open_says_why_as_any_other(breaks: str) -> None:
    async with portal_of(garden, breaks=breaks) as portal:
        detail = (await portal.health())["plugins"]["workshop"]["detail"]
        assert ("The door is locked" if breaks == "raise" else "exit code 7") in detail


PROGRAM = """
import asyncio, os
from gateway.testing import open_test_portal
from tests.gateway.isolation import workshop

async def main():
    config = {"plugins": {"workshop": {"isolation": "process"}}}
    async with open_test_portal(workshop, config=config) as portal:
        print("process", (await portal.call("where")).structured["process"], flush=True)
        await portal.call("COMPUTE", ARGUMENTS)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "call", [("compute", "{'seconds': 600}"), ("wait", "{'mark': '/dev/null'}")], ids=str
)
async def test_it_ends_with_a_portal_that_is_killed(call: tuple[str, str]) -> None:
    program = PROGRAM.replace("COMPUTE", call[0]).replace("ARGUMENTS", call[1])
    portal = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert portal.stdout is not None
    while not (line := await portal.stdout.readline()).startswith(b"process "):
        assert line, "the portal has ended"
    process = int(line.split()[1])
    assert is_there(process)
    portal.send_signal(signal.SIGKILL)
    await portal.wait()

    async def gone() -> bool:
        return not is_there(process)

    await eventually(gone)
