"""A conversation over two processes that share PostgreSQL and Redis, one of which may die."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.faults.conftest import MEMBER, Place, Portal, eventually
from tests.journeys.balancer import empty_database
from tests.servers.openai_compatible import OpenAICompatible, Reply

pytestmark = pytest.mark.heavy
CHAT = "/api/v1/assistant/conversations"
KEY = "0123456789abcdef" * 4
SLOW = Reply(text=" ".join(f"word{number}" for number in range(3000)), pause_s=0.02)


@pytest.fixture
def server() -> Iterator[OpenAICompatible]:
    with OpenAICompatible() as server:
        yield server


@pytest.fixture
def two(
    place: Place, server: OpenAICompatible, postgres_url: str, redis_url: str
) -> Iterator[tuple[Portal, Portal]]:
    """Two portals over the same servers, each with a directory of its own."""
    models = {
        "providers": {"it": {"kind": "compatible", "url": server.url}},
        "chat": "it/m",
        "retries": 0,
    }
    with empty_database(postgres_url) as database:
        services = {"embedding": "none", "database": database, "cache": redis_url}
        place.configure(f"services: {json.dumps({**services, 'models': models})}")
        one = place.serve("--data", str(place.root / "one"), PORCH_SIGNING_KEY=KEY).ready()
        other = place.serve("--data", str(place.root / "other"), PORCH_SIGNING_KEY=KEY).ready()
        yield one, other
        one.kill()
        other.kill()


def begin(portal: Portal, message: str) -> str:
    answer = httpx2.post(f"{portal.url}{CHAT}", json={"message": message}, headers=MEMBER)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["conversation"])


def last(portal: Portal, id: str) -> dict[str, Any]:
    """The last turn of a conversation, as a portal has it."""
    turn: dict[str, Any] = portal.get(f"{CHAT}/{id}", headers=MEMBER).json()["turns"][-1]
    return turn


def said(turn: dict[str, Any]) -> str:
    return "".join(part["text"] for part in turn["parts"] if part["kind"] == "text")


def test_what_one_process_writes_is_followed_and_stopped_on_the_other(
    two: tuple[Portal, Portal], server: OpenAICompatible
) -> None:
    one, other = two
    server.then(Reply(text="From afar."))
    id = begin(one, "Anybody?")
    stream = other.get(f"{CHAT}/{id}/stream", headers={**MEMBER, "last-event-id": "0.0."})
    assert "From " in stream.text
    assert "afar." in stream.text
    server.then(SLOW)
    id = begin(one, "Tell me everything")
    eventually(lambda: "word3" in said(last(other, id)), "the other one sees the words")
    httpx2.post(f"{other.url}{CHAT}/{id}/stop", headers=MEMBER, timeout=60)
    eventually(lambda: server.streaming == 0, "nobody reads the model any more")
    for each in two:
        assert last(each, id)["state"] == "stopped"


def test_what_a_killed_process_was_writing_is_said_to_be_interrupted_and_goes_on_elsewhere(
    two: tuple[Portal, Portal], server: OpenAICompatible
) -> None:
    one, other = two
    server.then(SLOW)
    id = begin(one, "Tell me everything")
    eventually(lambda: "word3" in said(last(other, id)), "the other one sees the words")
    one.kill()
    # It says so by itself, to who follows it: nobody writes any more, and what was saved is kept.
    stream = other.get(f"{CHAT}/{id}/stream", headers={**MEMBER, "last-event-id": "0.0."})
    assert '"abort"' in stream.text
    turn = last(other, id)
    assert turn["state"] == "interrupted"
    assert turn["error"]["code"] == "interrupted"
    assert "word3" in said(turn)
    server.then(Reply(text="Where were we?"))
    headers = {**MEMBER, "accept": "text/event-stream"}
    httpx2.post(f"{other.url}{CHAT}/{id}/continue", headers=headers, timeout=60)
    turn = last(other, id)
    assert turn["state"] == "done"
    assert "Where were we?" in said(turn)
