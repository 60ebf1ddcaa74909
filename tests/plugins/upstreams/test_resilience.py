"""One bad server harms nobody else, and nobody has to do anything once it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import TestPortal
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
        far.stop()
        assert (await added(portal)).is_error

        async def is_told() -> bool:
            return "far does not answer since" in (await added(portal)).text

        await until(is_told)
        assert "far__add" in await portal.tools("open")
        health = await upstreams_health(portal)
        assert health["state"] == "degraded"
        assert health["detail"].startswith("far has not answered since")
        far.start()
        await until_it_adds(portal)

        async def is_well() -> bool:
            return bool((await upstreams_health(portal))["state"] == "ok")

        await until(is_well)


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
