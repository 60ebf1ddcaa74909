"""Clients of those who may decide hear when a call begins to wait, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.surfaces.mcp.approval_news import ApprovalNews
from gateway.surfaces.mcp.sessions import Session, Sessions
from gateway.toolkit.background import background
from tests.gateway.approvals.portal import Treasury, open_treasury

KEY = b"k" * 32


class Stream:
    """A client's stream, as a session tells it."""

    def __init__(self) -> None:
        self.heard: list[Mapping[str, Any]] = []
        self.came = asyncio.Event()

    def send(self, message: Mapping[str, Any]) -> None:
        self.heard.append(message)
        self.came.set()


class Heard:
    """A treasury, and clients of its people that hear."""

    def __init__(self, treasury: Treasury, sessions: Sessions) -> None:
        self.treasury, self.sessions = treasury, sessions

    def client(self, who: str = "", level: str = "info") -> Stream:
        """A client of somebody, and what it hears from now on."""
        person = self.treasury.people[who].id if who else None
        caller = Caller(person, Tier.MEMBERS) if person else ANONYMOUS
        session: Session = self.sessions.begin(caller, "2025-11-25", {})
        session.log_level = level
        stream = Stream()
        session.streams.append(stream)  # type: ignore[arg-type]
        return stream

    async def all_told(self) -> None:
        """Wait until what waits so far has been told."""
        last = self.client("cy")
        await self.treasury.asked("bob", arguments={"to": "the last", "amount": 1})
        async with asyncio.timeout(60):
            await last.came.wait()


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    async with open_treasury() as treasury:
        running = treasury.portal.running
        cache = running.services.shared_cache
        sessions = Sessions(KEY, cache)
        news = ApprovalNews(KEY, cache, sessions.live, running.approvals)
        running.approvals.tell = news.asked
        async with background(news.listen()):
            await asyncio.sleep(0)  # so that it listens
            yield Heard(treasury, sessions)


async def test_who_may_decide_hears_once_where_and_nobody_else_hears(heard: Heard) -> None:
    bob, asker, stranger = heard.client("bob"), heard.client("ann"), heard.client()
    deaf = heard.client("bob", "error")
    asked = {"to": "the secret mason", "amount": 1}
    id = await heard.treasury.asked("ann", arguments=asked)
    assert await heard.treasury.asked("ann", arguments=asked) == id
    await heard.all_told()
    (told,) = bob.heard
    assert told["method"] == "notifications/message"
    assert told["params"]["level"] == "notice"
    assert told["params"]["data"]["page"].endswith(f"/approvals/{id}")
    assert "secret mason" not in str(told)
    assert [each["params"]["data"]["page"].endswith(id) for each in asker.heard] == [False]
    assert stranger.heard == deaf.heard == []


async def test_what_ones_own_person_decides_is_told_by_the_answer_alone(heard: Heard) -> None:
    ann, bob = heard.client("ann"), heard.client("bob")
    id = await heard.treasury.asked("ann", tool="settle")
    await heard.all_told()
    assert not [each for each in (*ann.heard, *bob.heard) if id in str(each)]
