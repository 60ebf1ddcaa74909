"""Replicas on one PostgreSQL database renew a member's token once, whoever of them is called."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.gateway.surfaces.mcp.conftest import LEGACY, Wire
from tests.journeys.balancer import empty_database
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until, until_offered

pytestmark = pytest.mark.heavy

CALLS = 5


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    with guarded_server() as guarded:
        yield guarded


@pytest.fixture
def settings(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What makes replicas of portals: one database, and one signing key."""
    monkeypatch.setenv("PORCH_SIGNING_KEY", "a signing key of the tests, for two replicas")
    with empty_database(postgres_url) as address:
        monkeypatch.setenv("TEST_DATABASE", address)
        yield {"services": {"database": "env:TEST_DATABASE"}}


async def adding(portal: TestPortal, bearer: str, number: int) -> Any:
    headers = {"authorization": bearer}
    arguments = {"a": number, "b": 2}
    return await portal.call("far__add", arguments, tier="open", headers=headers)


async def test_two_replicas_that_are_refused_at_once_renew_once(
    guarded: Guarded, settings: dict[str, Any]
) -> None:
    async with AsyncExitStack() as stack:
        replicas = [
            await stack.enter_async_context(portal_of(guarded, settings=settings)) for _ in range(2)
        ]
        ana = await member(replicas[0], "ana")
        await ana.connect(guarded)
        bearer = replicas[0].http("ana").headers["authorization"]
        await until_offered(replicas[0], "far__add", tier="ana")
        for each in replicas:  # each has read her token, and has a connection with it
            await until_it_adds(each, bearer)
        guarded.calls.clear()
        guarded.forget_access()
        guarded.turned_away, guarded.renews_after = 0, 2 * CALLS
        answers = await asyncio.gather(
            *(adding(each, bearer, number) for each in replicas for number in range(CALLS))
        )
        assert {each.text for each in answers if each.is_error} == set()
        assert guarded.refreshes == {"ana-there": 1}
        assert guarded.reused == []
        assert len(guarded.calls) == 2 * CALLS


async def test_the_replica_with_the_clients_stream_tells_what_was_done_at_another(
    guarded: Guarded, settings: dict[str, Any], redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_CACHE", redis_url)
    settings["services"]["cache"] = "env:TEST_CACHE"
    async with AsyncExitStack() as stack:
        here, there = [
            await stack.enter_async_context(portal_of(guarded, settings=settings)) for _ in range(2)
        ]
        ben, ana = [await member(here, name) for name in ("ben", "ana")]
        await ben.connect(guarded)
        await until_offered(here, "far__add", tier="ben")
        wire = await Wire(here, "ana").begin({"elicitation": {"url": {}}})
        bearer = here.http("ana").headers["authorization"]
        headers = {"mcp-protocol-version": LEGACY, "authorization": bearer}
        elsewhere = Wire(there, session=wire.session)
        stream = await elsewhere.send(method="GET", headers=headers).start()
        answer = await wire.call("far__add", LEGACY, a=1, b=2).reply()
        [question] = answer["error"]["data"]["elicitations"]
        await ana.connect(guarded)
        while (event := await stream.event()) is not None:
            if event["method"] == "notifications/elicitation/complete":
                break
        assert event is not None
        assert event["params"] == {"elicitationId": question["elicitationId"]}
        await stream.leave()


async def until_it_adds(portal: TestPortal, bearer: str) -> None:
    async def is_offered() -> bool:
        return "far__add" in {each["name"] for each in await http.list("tools")}

    http = portal.mcp("open", headers={"authorization": bearer})
    await until(is_offered)
    assert not (await adding(portal, bearer, 1)).is_error
