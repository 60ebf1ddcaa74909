"""Members follow a resource of another server: it is asked once for all, and tells them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from auth import Tier
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.contract import Change
from gateway.testing import TestPortal
from tests.gateway.surfaces.mcp.conftest import LEGACY, Answer, Wire
from tests.plugins.upstreams.far import Far, Restartable
from tests.plugins.upstreams.portals import portal_before, until, until_offered

PLOT, BOARD = "plot://7", "ui://far/board/main"
UPDATED = "notifications/resources/updated"


@pytest.fixture(params=["modern", "legacy"])
def far(request: pytest.FixtureRequest) -> Iterator[Restartable]:
    restartable = Restartable(request.param, follows=True)
    yield restartable
    restartable.stop()


async def modern_follower(portal: TestPortal, *uris: str, tier: str = "open") -> Answer:
    wanted = {"resourceSubscriptions": list(uris), "toolsListChanged": True}
    listening = Wire(portal, tier).modern("subscriptions/listen", {"notifications": wanted})
    first = await listening.event()
    assert first is not None
    assert first["method"] == "notifications/subscriptions/acknowledged"
    return listening


async def legacy_follower(portal: TestPortal, uri: str) -> tuple[Wire, Answer]:
    session = await Wire(portal).begin()
    listening = session.send(b"", method="GET")
    await listening.chunk()
    assert "result" in await session.legacy("resources/subscribe", {"uri": uri}).reply()
    return session, listening


async def until_followed(server: Far, *uris: str) -> None:
    async def is_followed() -> bool:
        return sorted(server.followed) == sorted(uris)

    await until(is_followed)


async def told(listening: Answer) -> Any:
    event = await listening.event()
    assert event is not None
    return event["params"].get("uri") if event["method"] == UPDATED else event["method"]


async def test_many_follow_and_the_server_is_asked_once_until_the_last_has_left(
    far: Restartable,
) -> None:
    server = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        first, second = [await modern_follower(portal, PLOT) for _ in range(2)]
        session, third = await legacy_follower(portal, PLOT)
        await until_followed(server, PLOT)
        server.change(PLOT)
        assert [await told(each) for each in (first, second, third)] == [PLOT] * 3
        await first.leave()
        await second.leave()
        server.change(PLOT)
        assert await told(third) == PLOT
        await session.legacy("resources/unsubscribe", {"uri": PLOT}).reply()
        await until_followed(server)
        await third.leave()


async def test_a_session_that_its_client_ends_follows_nothing_more(far: Restartable) -> None:
    server = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        session, listening = await legacy_follower(portal, PLOT)
        await until_followed(server, PLOT)
        await session.send(b"", {"mcp-protocol-version": LEGACY}, method="DELETE").start()
        await until_followed(server)
        await listening.leave()


async def test_an_app_is_followed_by_the_name_that_it_has_here(far: Restartable) -> None:
    server = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        follower = await modern_follower(portal, BOARD)
        await until_followed(server, "ui://board/main")
        server.change("ui://board/main")
        while (said := await told(follower)) == "notifications/tools/list_changed":
            pass  # of the server's catalogue, which has just come
        assert said == BOARD
        await follower.leave()
        await until_followed(server)


async def test_only_who_follows_it_and_may_read_it_is_told(far: Restartable) -> None:
    server = far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        stranger, member = (
            await modern_follower(portal, PLOT),
            await modern_follower(portal, PLOT, tier="members"),
        )
        other = await modern_follower(portal, BOARD)
        await until_followed(server, PLOT, "ui://board/main")
        rule = Rule("upstreams/resource:far/plot://7", Tier.MEMBERS)
        portal.running.catalog.apply(TierRules((rule,), Tier.OPEN))
        server.change(PLOT)
        assert await told(member) == PLOT
        portal.running.changes.publish(Change("upstreams", "tools"))
        listed = "notifications/tools/list_changed"
        assert [await told(stranger), await told(other)] == [listed, listed]
        for each in (stranger, member, other):
            await each.leave()


@pytest.mark.timeout(300)
async def test_a_server_that_has_started_again_is_asked_again(far: Restartable) -> None:
    far.start()
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        follower = await modern_follower(portal, PLOT)
        far.stop()
        second = far.start()
        await until_followed(second, PLOT)
        second.change(PLOT)
        assert await told(follower) == PLOT
        await follower.leave()
        await until_followed(second)
