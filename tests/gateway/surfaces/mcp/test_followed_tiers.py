"""Who follows a resource hears of it for as long as they may read it, and no longer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from eth_account import Account as Key

from auth import Account, Tier
from gateway.contract import Change
from gateway.testing import TestPortal, open_test_portal

DIARY, SHARED = "moods://diary", "moods://shared"
ROLE = Account.of_key(Key.create().address)
OWN = Account.of_key(Key.create().address)


@pytest.fixture
async def portal(moods) -> AsyncIterator[TestPortal]:
    """A portal whose members are those who have linked one wallet."""
    access = f"access:\n  members: {{any_of: [{{address: '{ROLE.address}'}}]}}\n"
    async with open_test_portal(moods, tiers=moods.TIERS + access) as portal:
        yield portal


class Person:
    """A member in a legacy session, with a token of their own."""

    def __init__(self, portal: TestPortal, wire: Any, id: str) -> None:
        self.portal = portal
        self.who = portal.running.authentication
        self.wire = wire
        self.id = id

    async def token(self, ceiling: Tier = Tier.MEMBERS) -> dict[str, str]:
        """The header of a new API token."""
        expires = datetime.now(UTC) + timedelta(days=1)
        made = await self.who.api_tokens.create(
            self.id, "a token", ceiling=ceiling, expires=expires
        )
        return {"authorization": f"Bearer {made[1]}"}

    async def begins(self, headers: dict[str, str]) -> None:
        """Begin a session and follow what members and what all may read."""
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = await self.wire.send(self.wire.message("initialize", params), headers).start()
        self.wire.session = answer.headers["mcp-session-id"]
        for uri in (DIARY, SHARED):
            followed = await self.wire.legacy("resources/subscribe", {"uri": uri}, headers).reply()
            assert followed["result"] == {}

    async def hears(self, headers: dict[str, str]) -> list[str]:
        """What a new stream tells of a change of both."""
        stream = self.wire.send(b"", headers, "GET")
        while not stream.ids:
            assert await stream.chunk() is not None, stream.status
        for uri in (DIARY, SHARED):
            self.portal.running.changes.publish(Change("moods", "resource", uri))
        self.portal.running.changes.publish(Change("moods", "prompts"))
        return await resources(stream, "prompts")

    async def missed(self, headers: dict[str, str]) -> list[str]:
        """What a stream tells that goes on from a place that is not known any more."""
        stream = self.wire.send(b"", {**headers, "last-event-id": "of another process"}, "GET")
        return await resources(stream, "resources")


async def resources(stream: Any, until: str) -> list[str]:
    """The resources that are told of before a list."""
    found: list[str] = []
    while True:
        event = await stream.event()
        assert event is not None, found
        if event["method"] == f"notifications/{until}/list_changed":
            await stream.leave()
            return found
        found += [event["params"]["uri"]] if "uri" in event["params"] else []


@pytest.fixture
async def ann(portal, moods) -> Person:
    person = await portal.running.authentication.accounts.sign_in(OWN)
    await portal.running.authentication.accounts.link(person.id, ROLE)
    return Person(portal, moods.Wire(portal), person.id)


async def test_who_loses_the_tier_hears_no_more_of_what_they_followed_with_it(ann: Person) -> None:
    token = await ann.token()
    await ann.begins(token)
    assert await ann.hears(token) == [DIARY, SHARED]
    await ann.who.accounts.unlink(ann.id, ROLE.subject)
    assert await ann.hears(token) == [SHARED]
    # Nor as one of many things that may have changed while they were away.
    assert await ann.missed(token) == [SHARED]


async def test_a_token_that_goes_less_far_hears_less_in_the_same_session(ann: Person) -> None:
    token = await ann.token()
    await ann.begins(token)
    assert await ann.hears(await ann.token(Tier.PUBLIC)) == [SHARED]
    assert await ann.hears(token) == [DIARY, SHARED]
