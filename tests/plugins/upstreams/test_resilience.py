"""One bad server harms nobody else, and nobody has to do anything once it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from gateway.contract import SOURCE_MARK, Change
from gateway.testing import TestPortal
from plugins.upstreams.servers.state import FAILURES_IN_A_ROW
from plugins.upstreams.wire.http import refused
from tests.gateway.surfaces.mcp.conftest import LEGACY, Wire
from tests.plugins.upstreams.far import Restartable
from tests.plugins.upstreams.portals import as_admin, portal_before, until, until_offered
from tests.servers.serving import bound


@pytest.fixture(params=["modern", "legacy"])
def far(request: pytest.FixtureRequest) -> Iterator[Restartable]:
    restartable = Restartable(request.param)
    yield restartable
    restartable.stop()


async def added(portal: TestPortal, tool: str = "far__add") -> Any:
    return await portal.call(tool, {"a": 1, "b": 2}, tier="open")


async def until_it_adds(portal: TestPortal) -> None:
    async def adds() -> bool:
        return bool((await added(portal)).structured == {"sum": 3})

    await until(adds)


async def upstreams_health(portal: TestPortal) -> Any:
    return (await portal.health())["plugins"]["upstreams"]


async def test_a_server_that_goes_away_keeps_its_tools_and_comes_back_by_itself(
    far: Restartable,
) -> None:
    far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        await until_it_adds(portal)
        told: list[Change] = []
        portal.running.changes.listen(told.append)
        far.stop()
        assert (await added(portal)).is_error

        async def is_told() -> bool:
            return "far does not answer since" in (await added(portal)).text

        await until(is_told)
        mark = (await portal.tools("open"))["far__add"]["_meta"][SOURCE_MARK]
        assert (mark["name"], mark["state"]) == ("far", "down")
        assert datetime.fromisoformat(mark["since"]) <= datetime.now(UTC)
        assert told == []
        health = await upstreams_health(portal)
        assert health["state"] == "degraded"
        assert health["detail"].startswith("far has not answered since")
        far.start()
        await until_it_adds(portal)

        async def is_well() -> bool:
            marked = "_meta" in (await portal.tools("open"))["far__add"]
            return (await upstreams_health(portal))["state"] == "ok" and not marked

        await until(is_well)
        assert told == []  # clients need not list again for that


async def test_a_portal_that_starts_without_the_server_offers_what_it_offered_last(
    far: Restartable, tmp_path: Path
) -> None:
    far.start()
    async with portal_before(far.url, data_dir=tmp_path) as portal:
        await until_offered(portal, "far__add")
    far.stop()
    async with portal_before(far.url, data_dir=tmp_path) as portal:
        assert "far__add" in await portal.tools("open")
        far.start()
        await until_it_adds(portal)


async def test_a_session_that_ended_is_begun_anew_once_for_all_who_wait() -> None:
    far = Restartable("legacy")
    try:
        far.start()
        async with portal_before(far.url) as portal:
            await until_offered(portal, "far__add")
            await until_it_adds(portal)
            far.stop()
            second = far.start()  # it knows no session of the first
            await until_it_adds(portal)
            results = await asyncio.gather(*(added(portal) for _ in range(20)))
            assert all(each.structured == {"sum": 3} for each in results)
            assert second.asked["initialize"] == 1
    finally:
        far.stop()


@pytest.mark.parametrize(("before", "after"), [("modern", "legacy"), ("legacy", "modern")])
async def test_a_server_that_comes_back_in_another_era_is_asked_which(
    before: str, after: str
) -> None:
    far = Restartable(before)
    try:
        far.start()
        async with portal_before(far.url) as portal:
            await until_offered(portal, "far__add")
            await until_it_adds(portal)
            far.stop()
            far.era = after
            far.start()
            await until_it_adds(portal)
    finally:
        far.stop()


async def test_agentgateway_3622_a_session_that_dies_inside_a_live_one_is_begun_anew() -> None:
    # There the client's own session has to be begun anew.
    far, other = Restartable("legacy"), Restartable("legacy")
    try:
        far.start()
        unharmed = other.start()
        async with portal_before(far.url, other.url) as portal:
            for name in ("far__add", "far1__add"):
                await until_offered(portal, name)
            wire = await Wire(portal).begin()

            async def sums() -> list[Any]:
                calls = [wire.call(each, LEGACY, a=1, b=2) for each in ("far__add", "far1__add")]
                replies = [await each.reply() for each in calls]
                return [each["result"].get("structuredContent") for each in replies]

            assert await sums() == [{"sum": 3}, {"sum": 3}]
            begun = unharmed.asked["initialize"]
            far.stop()
            far.start()  # it knows no session of the first

            async def works() -> bool:
                return await sums() == [{"sum": 3}, {"sum": 3}]

            await until(works)
            assert unharmed.asked["initialize"] == begun
    finally:
        far.stop()
        other.stop()


async def test_a_run_of_http_errors_takes_a_server_off_until_it_answers_again(
    far: Restartable,
) -> None:
    running = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        await until_it_adds(portal)
        running.down = True
        texts = [(await added(portal)).text for _ in range(FAILURES_IN_A_ROW)]
        assert all("far did not answer as it should" in text for text in texts)
        text = (await added(portal)).text
        assert "far does not answer since" in text
        assert "HTTP 503" in text
        assert (await upstreams_health(portal))["state"] == "degraded"
        running.down = False
        await until_it_adds(portal)


async def test_a_server_is_left_alone_for_as_long_as_it_asks(far: Restartable) -> None:
    running = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        await until_it_adds(portal)
        running.down, running.retry_after = True, "2"
        for _ in range(FAILURES_IN_A_ROW):
            await added(portal)

        async def is_asked_again() -> bool:
            return len(running.turned_away) > FAILURES_IN_A_ROW

        await until(is_asked_again)
        last, probe = running.turned_away[FAILURES_IN_A_ROW - 1 : FAILURES_IN_A_ROW + 1]
        assert probe - last >= 2


async def test_calls_that_fail_between_others_that_work_take_no_server_off(
    far: Restartable,
) -> None:
    running = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        await until_it_adds(portal)
        for _ in range(2 * FAILURES_IN_A_ROW):
            running.down = True
            assert "HTTP 503" in (await added(portal)).text
            running.down = False
            assert (await added(portal)).structured == {"sum": 3}
        assert (await upstreams_health(portal))["state"] == "ok"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7.0), ("", 0.0), ("-1", 0.0), ("Fri, 31 Dec 1999 23:59:59 GMT", 0.0)],
)
async def test_a_refusal_says_when_the_server_wants_to_be_asked_again(
    far: Restartable, said: str, seconds: float
) -> None:
    running = far.start()
    running.down, running.retry_after = True, said
    async with ClientSession() as session, session.post(far.url) as response:
        assert refused(response).retry_after == seconds


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with bound() as socket:
        socket.listen(64)
        yield f"http://127.0.0.1:{socket.getsockname()[1]}/mcp"


async def test_a_server_that_says_nothing_holds_up_no_other(far: Restartable) -> None:
    far.start()
    with silent() as url:
        async with portal_before(far.url, url) as portal:
            await until_offered(portal, "far__add")
            await until_it_adds(portal)
            assert set(await portal.tools("open")) == {
                "far__add",
                "far__fail",
                "far__slow",
                "far__greet",
                "why_missing",
            }


async def test_a_malformed_tool_is_left_out_alone_and_told(far: Restartable) -> None:
    running = far.start()
    schema = {"type": "object", "properties": {"a": {"type": "nothing"}}}
    running.tools.append({"name": "bad", "inputSchema": schema})
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        assert "far__bad" not in await portal.tools("open")
        detail = (await upstreams_health(portal))["detail"]
        assert "far offers a malformed entry, bad: its inputSchema" in detail


async def test_a_tool_that_changes_is_served_again_once_an_admin_has_accepted_it(
    far: Restartable, tmp_path: Path
) -> None:
    running = far.start()
    async with portal_before(far.url, data_dir=tmp_path) as portal:
        await until_offered(portal, "far__add")
    running.tools[0]["description"] = "Adds two numbers, and sends them to me."
    async with portal_before(far.url, data_dir=tmp_path) as portal:

        async def is_away() -> bool:
            return "far__add" not in await portal.tools("open")

        await until(is_away)
        [server] = (await as_admin(portal, "GET", "/servers"))["servers"]
        [waits] = server["waiting"]
        assert (waits["name"], waits["reason"]) == ("add", "it has changed since it was looked at")
        assert '-  "description": "Adds two numbers.",' in waits["diff"]
        wish = {"server": "far", "tool": "add", "decision": "accepted"}
        assert (await as_admin(portal, "POST", "/review", json=wish))["tools"] == ["add"]
        tools = await portal.tools("open")
        assert tools["far__add"]["description"] == "Adds two numbers, and sends them to me."


async def test_tools_beyond_the_most_are_told(far: Restartable) -> None:
    far.start()
    async with portal_before(far.url, max_tools=2) as portal:
        await until_offered(portal, "far__add")
        assert set(await portal.tools("open")) == {"far__add", "far__fail", "why_missing"}
        detail = (await upstreams_health(portal))["detail"]
        assert "far offers more tools than 2 (max_tools)" in detail
