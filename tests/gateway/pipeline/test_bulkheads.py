"""What one plugin takes leaves the others what they need."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from gateway.cli.mcp_client import RequestRefused
from gateway.contract import Offer, Plugin, PluginConfig, Tool, hookimpl
from gateway.testing import TestPortal, open_test_portal


class Text(BaseModel):
    """A result of one text."""

    text: str


class Hall:
    """A plugin whose calls wait until they are let go."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.inside = 0

    async def wait(self) -> str:
        """Wait to be let go."""
        self.inside += 1
        await self.go_on.wait()
        return "done"

    async def quick(self) -> str:
        """Answer at once."""
        return "at once"

    async def shout(self, mebibytes: int) -> Text:
        """Answer at length.

        Args:
            mebibytes: how long.
        """
        return Text(text="a" * (mebibytes * 2**20))

    async def leave(self, how: str) -> str:
        """Try to end the portal.

        Args:
            how: by which error.
        """
        if how == "exit":
            sys.exit(3)
        if how == "interrupt":
            raise KeyboardInterrupt
        return str(self._deeper(0))

    def _deeper(self, depth: int) -> int:
        return self._deeper(depth + 1) + 1

    def module(self, name: str, **more: Any) -> Any:
        """The plugin, of that name."""

        @asynccontextmanager
        async def opened(config: PluginConfig, host: Any) -> AsyncGenerator[Offer]:
            functions = (self.wait, self.quick, self.shout, self.leave)
            tools = [
                Tool.of(each, name=f"{name}_{each.__name__}", **more.get(each.__name__, {}))
                for each in functions
            ]
            yield Offer(tools=tools)

        module: Any = ModuleType(f"module_{name}")
        module.porch_plugin = hookimpl(lambda: Plugin(name, "A hall.", opened))
        return module


@asynccontextmanager
async def portal_of(
    hall: Hall, bulkhead: Mapping[str, Any], **more: Any
) -> AsyncGenerator[TestPortal]:
    config = {"plugins": {"hall": {"bulkhead": bulkhead}}}
    async with open_test_portal(
        hall.module("hall", **more), Hall().module("other"), config=config
    ) as portal:
        yield portal


async def said(portal: TestPortal, tool: str) -> str:
    return (await portal.call(tool)).text


async def until(hall: Hall, inside: int) -> None:
    async with asyncio.timeout(60):
        while hall.inside < inside:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_is_over_waits_and_what_is_over_that_is_told_who_is_busy() -> None:
    hall = Hall()
    async with portal_of(hall, {"calls": 2, "queue": 1}) as portal:
        running = [asyncio.create_task(said(portal, "hall_wait")) for _ in range(3)]
        await until(hall, 2)
        busy = await portal.call("hall_quick")
        assert busy.is_error
        assert busy.text == "hall is busy: 2 calls run and 1 wait. Retry after 5 s."
        assert "retry_after_seconds" in busy.content[1]["text"]
        assert await said(portal, "other_quick") == "at once"
        assert b'porch_calls_waiting{plugin="hall"} 1.0' in portal.running.metrics.render()
        hall.go_on.set()
        assert await asyncio.gather(*running) == ["done"] * 3
        assert await said(portal, "hall_quick") == "at once"


@pytest.mark.parametrize(
    ("bulkhead", "more"),
    [
        ({"items": {"hall_wait": {"calls": 1, "queue": 0}}}, {}),
        ({"queue": 0}, {"wait": {"calls_at_once": 1}}),
    ],
    ids=["an admin", "its author"],
)
async def test_an_item_has_bounds_of_its_own(bulkhead: Any, more: Any) -> None:
    hall = Hall()
    async with portal_of(hall, bulkhead, **more) as portal:
        running = asyncio.create_task(said(portal, "hall_wait"))
        await until(hall, 1)
        assert (await said(portal, "hall_wait")).startswith("hall/hall_wait is busy: 1 call runs")
        assert await said(portal, "hall_quick") == "at once"
        hall.go_on.set()
        assert await running == "done"
        assert await said(portal, "hall_wait") == "done"


async def test_who_gives_up_waiting_takes_no_place() -> None:
    hall = Hall()
    async with portal_of(hall, {"calls": 1, "items": {"hall_quick": {"time": "1s"}}}) as portal:
        first = asyncio.create_task(said(portal, "hall_wait"))
        await until(hall, 1)
        given_up = asyncio.create_task(said(portal, "hall_quick"))
        await asyncio.sleep(0.05)
        given_up.cancel()
        assert "hall is busy: 1 call runs" in await said(portal, "hall_quick")
        hall.go_on.set()
        assert await first == "done"
        assert await said(portal, "hall_quick") == "at once"


async def test_an_answer_that_is_too_large_is_refused_with_its_size() -> None:
    async with portal_of(Hall(), {"bytes": "1MiB"}) as portal:
        refused = await portal.call("hall_shout", {"mebibytes": 3})
        assert "about 3.0 MiB, and 1.0 MiB is the most" in refused.text
        whole = await portal.call("other_shout", {"mebibytes": 3})
        assert len(whole.structured["text"]) == 3 * 2**20


@pytest.mark.parametrize("how", ["exit", "interrupt", "recursion"])
async def test_what_would_end_a_process_is_a_failed_call_like_any_other(how: str) -> None:
    async with portal_of(Hall(), {}) as portal:
        with capture_logs() as lines, pytest.raises(RequestRefused, match="request id"):
            await portal.call("hall_leave", {"how": how})
        assert portal.running.metrics.in_flight == 0
        assert b'item="hall_leave",kind="tool",outcome="internal_error"' in (
            portal.running.metrics.render()
        )
        (line,) = [each for each in lines if each["event"] == "call_failed"]
        assert len(line["exception"].splitlines()) < 60
        assert await said(portal, "hall_quick") == "at once"
