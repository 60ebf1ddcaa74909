"""Who was asked to open a link is told when it is done, and nobody else is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from auth import ANONYMOUS
from gateway.contract import Cache
from gateway.surfaces.mcp import elicitations
from gateway.surfaces.mcp.elicitations import Elicitations, completed
from gateway.surfaces.mcp.sessions import MAX_UNTOLD, Session, Sessions
from gateway.toolkit.background import background

KEY = b"k" * 32
HERS = "upstreams/far of-ana"


class Stream:
    """A client's stream, as a session tells it."""

    def __init__(self) -> None:
        self.heard: list[Mapping[str, Any]] = []

    def send(self, message: Mapping[str, Any]) -> None:
        self.heard.append(message)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def sessions(cache: Cache) -> Sessions:
    return Sessions(KEY, cache)


@pytest.fixture
async def here(cache: Cache, sessions: Sessions) -> AsyncIterator[Elicitations]:
    made = Elicitations(KEY, cache, sessions.live)
    async with background(made.listen()):
        await told_of(made, sessions)
        yield made


def begun(sessions: Sessions) -> tuple[Session, Stream]:
    session, stream = sessions.begin(ANONYMOUS, "2025-11-25", {}), Stream()
    session.streams.append(stream)  # type: ignore[arg-type]
    return session, stream


async def told_of(made: Elicitations, sessions: Sessions) -> None:
    """Wait until all that was said so far has been heard."""
    session, stream = begun(sessions)
    async with asyncio.timeout(60):
        while not stream.heard:
            made.ask(session, "last")
            made.complete("last")
            await asyncio.sleep(0.02)


async def test_all_who_were_asked_for_it_are_told_once(
    here: Elicitations, sessions: Sessions
) -> None:
    (one, hers), (other, also_hers), (third, others) = [begun(sessions) for _ in range(3)]
    asked = {here.ask(one, HERS), here.ask(one, HERS)}
    also = here.ask(other, HERS)
    here.ask(third, "upstreams/far of-ben")
    await told_of(here, sessions)
    here.complete(HERS)
    here.complete(HERS)
    await told_of(here, sessions)
    assert {each["params"]["elicitationId"] for each in hers.heard} == asked
    assert len(hers.heard) == 2
    assert also_hers.heard == [completed(also)]
    assert others.heard == []


async def test_what_nobody_of_the_replicas_has_said_is_not_believed(
    here: Elicitations, cache: Cache, sessions: Sessions
) -> None:
    session, stream = begun(sessions)
    stranger = Elicitations(b"o" * 32, cache, sessions.live)
    here.ask(session, HERS)
    await told_of(here, sessions)
    stranger.complete(HERS)
    await cache.publish("mcp-elicitations", b"{}")
    await told_of(here, sessions)
    assert stream.heard == []


async def test_a_session_that_is_over_or_gone_holds_up_nobody(
    here: Elicitations, sessions: Sessions
) -> None:
    (gone, _), (session, stream) = begun(sessions), begun(sessions)
    here.ask(gone, HERS)
    question = here.ask(session, HERS)
    await told_of(here, sessions)
    await sessions.end(gone)
    here.complete(HERS)
    await told_of(here, sessions)
    assert stream.heard == [completed(question)]


async def test_a_question_that_newer_ones_push_out_is_forgotten(
    here: Elicitations, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitations, "MAX_ASKED", 1)
    session, stream = begun(sessions)
    here.ask(session, HERS)
    await told_of(here, sessions)  # which asks another
    here.complete(HERS)
    await told_of(here, sessions)
    assert stream.heard == []


async def test_a_client_without_a_stream_is_kept_the_newest_that_it_has_missed(
    sessions: Sessions,
) -> None:
    session = sessions.begin(ANONYMOUS, "2025-11-25", {})
    for number in range(MAX_UNTOLD + 5):
        session.tell(completed(str(number)))
    stream = Stream()
    with session.stream(stream):  # type: ignore[arg-type]
        ids = [each["params"]["elicitationId"] for each in stream.heard]
    assert ids == [str(number) for number in range(5, MAX_UNTOLD + 5)]
