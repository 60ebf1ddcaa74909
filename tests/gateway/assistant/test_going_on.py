"""An answer goes on after a reload and on another replica, and ends when its person says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.assistant import assistant as of
from gateway.testing import TestPortal
from tests.gateway.assistant.garden import (
    CHAT,
    LOOK,
    PLANT,
    Garden,
    chat_of,
    heard,
    kinds,
    open_garden,
    said,
)
from tests.servers.openai_compatible import OpenAICompatible, Reply
from tests.servers.streaming import Served, over_network, until

WORDS = " ".join(f"word{number}" for number in range(2000))
SLOW = Reply(text=WORDS, pause_s=0.02)


@pytest.fixture
async def served(portal: TestPortal) -> AsyncIterator[Served]:
    async with over_network(portal) as served:
        yield served


async def begin(portal: TestPortal, message: str = "Tell me everything") -> str:
    answer = await portal.http("ann").post(CHAT, json={"message": message})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["conversation"])


async def words_of(portal: TestPortal, id: str) -> str:
    turn = (await chat_of(portal, id))["turns"][-1]
    return "".join(each.get("text", "") for each in turn["parts"])


async def until_said(portal: TestPortal, id: str, word: str) -> None:
    """Wait until a word is saved."""
    async with asyncio.timeout(60):
        while word not in await words_of(portal, id):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.05)


@asynccontextmanager
async def listening(served: Served, id: str, last: str = "") -> AsyncIterator[httpx2.Response]:
    headers = served.headers("ann") | ({"last-event-id": last} if last else {})
    url = f"http://{served.address}{CHAT}/{id}/stream"
    async with httpx2.AsyncClient(timeout=60) as client:
        async with client.stream("GET", url, headers=headers) as response:
            yield response


async def first_events(response: httpx2.Response, word: str) -> str:
    """What a stream sends up to a word."""
    text = ""
    async with asyncio.timeout(60):
        async for piece in response.aiter_text():
            text += piece
            if word in text and text.endswith("\n\n"):
                return text
    raise AssertionError("it ended before")


async def test_who_reloads_hears_what_there_is_and_goes_on(
    portal: TestPortal, served: Served, server: OpenAICompatible
) -> None:
    gate = threading.Event()
    server.then(LOOK, Reply(text="The end of it.", hold=gate))
    id = await begin(portal)
    async with listening(served, id) as response:
        before = await first_events(response, "source-url")
    last = next(each.id for each in reversed(heard(before)) if each.id)
    async with listening(served, id, last) as response:
        gate.set()
        after = heard((await response.aread()).decode())
    assert "tool-input-available" not in kinds(after)
    assert said(after) == "The end of it."
    async with listening(served, id) as response:
        assert response.status_code == 204


async def test_stopping_ends_the_providers_stream_and_keeps_what_was_said(
    portal: TestPortal, served: Served, server: OpenAICompatible
) -> None:
    server.then(SLOW)
    id = await begin(portal)
    async with listening(served, id) as response:
        await first_events(response, "word3")
    assert server.streaming == 1
    stopped = await portal.http("ann").post(f"{CHAT}/{id}/stop")
    assert stopped.json()["turn"]["state"] == "stopped"
    await until(lambda: server.streaming == 0)
    assert "word3" in await words_of(portal, id)
    assert "word1999" not in await words_of(portal, id)
    server.then(Reply(text="More."))
    await portal.http("ann").post(f"{CHAT}/{id}/continue", headers={"accept": "text/event-stream"})
    assert "More." in await words_of(portal, id)


async def test_what_is_stopped_before_its_writer_has_begun_ends_for_all_who_follow_it(
    portal: TestPortal, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(of.Assistant, "_task", never)
    id = await begin(portal)
    async with asyncio.timeout(60), listening(served, id) as response:
        stopped = await portal.http("ann").post(f"{CHAT}/{id}/stop")
        assert stopped.json()["turn"]["state"] == "stopped"
        await response.aread()


async def test_a_deleted_conversation_is_written_no_more(
    portal: TestPortal, served: Served, server: OpenAICompatible
) -> None:
    server.then(SLOW)
    id = await begin(portal)
    async with listening(served, id) as response:
        await first_events(response, "word3")
    await portal.http("ann").delete(f"{CHAT}/{id}")
    await until(lambda: server.streaming == 0)
    assert (await portal.http("ann").get(f"{CHAT}/{id}")).status_code == 404


@asynccontextmanager
async def two(
    server: OpenAICompatible, garden: Garden, folder: Path
) -> AsyncIterator[tuple[TestPortal, TestPortal]]:
    """Two replicas over one database, with one key."""
    async with open_garden(server, garden, data_dir=folder) as one:
        async with open_garden(server, garden, data_dir=folder) as other:
            other._tokens.update(one._tokens)
            yield one, other


async def test_another_replica_shows_an_answer_stops_it_and_takes_up_what_waits(
    server: OpenAICompatible, garden: Garden, tmp_path: Path
) -> None:
    async with two(server, garden, tmp_path) as (one, other):
        gate = threading.Event()
        server.then(Reply(text="From afar.", hold=gate))
        id = await begin(one)
        following = asyncio.create_task(other.http("ann").get(f"{CHAT}/{id}/stream"))
        await until(lambda: len(server.asked) == 1)
        gate.set()
        assert said(heard((await following).text)) == "From afar."
        server.then(SLOW)
        id = await begin(one)
        await until(lambda: server.streaming == 1)
        await other.http("ann").post(f"{CHAT}/{id}/stop")
        await until(lambda: server.streaming == 0)
        stream = await other.http("ann").get(
            f"{CHAT}/{id}/stream", headers={"last-event-id": "0.0."}
        )
        assert "abort" in kinds(heard(stream.text))
        server.then(PLANT, Reply(text="Done there."))
        id = await begin(one)
        await other.http("ann").get(f"{CHAT}/{id}/stream", headers={"last-event-id": "0.0."})
        (call,) = (await chat_of(other, id))["turns"][0]["parts"]
        from tests.gateway.assistant.test_writing import decide, go_on

        await decide(other, call["approval"]["id"], yes=True)
        await go_on(other, id)
        assert garden.planted == ["an oak"]
        assert "Done there." in await words_of(one, id)


async def test_what_a_leaving_replica_was_writing_is_called_interrupted_and_goes_on_elsewhere(
    server: OpenAICompatible, garden: Garden, tmp_path: Path
) -> None:
    async with open_garden(server, garden, data_dir=tmp_path) as other:
        async with open_garden(server, garden, data_dir=tmp_path) as one:
            one._tokens.update(other._tokens)
            server.then(LOOK, SLOW)
            id = await begin(one)
            await until_said(one, id, "word3")
        await until(lambda: server.streaming == 0)
        turn = (await chat_of(other, id))["turns"][0]
        assert (turn["state"], turn["error"]["code"]) == ("interrupted", "interrupted")
        server.then(Reply(text="Where were we?"))
        await other.http("ann").post(
            f"{CHAT}/{id}/continue", headers={"accept": "text/event-stream"}
        )
        assert "Where were we?" in await words_of(other, id)
        assert garden.looked == ["decide"], "what was found before is known still"


async def test_what_a_dead_replica_was_writing_is_found_out_by_who_follows_it(
    portal: TestPortal, server: OpenAICompatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of, "LOOK_SECONDS", 0.01)
    person = await portal.sign_in("cy")
    turn = await portal.running.assistant.store.ask(person.id, "Anybody?", "a-dead-one")
    http, path = portal.http("cy"), f"{CHAT}/{turn.conversation}"
    busy = await http.post(f"{path}/messages", json={"message": "Hello?"})
    assert busy.status_code == 409
    assert "abort" in kinds(heard((await http.get(f"{path}/stream")).text))
    assert (await chat_of(portal, turn.conversation, "cy"))["turns"][0]["state"] == "interrupted"
    server.then(Reply(text="Here."))
    await http.post(f"{path}/continue", headers={"accept": "text/event-stream"})
    assert (await chat_of(portal, turn.conversation, "cy"))["turns"][0]["state"] == "done"


async def test_one_person_has_three_answers_at_a_time(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    server.then(*[SLOW] * 3)
    ids = [await begin(portal) for _ in range(3)]
    refused = await portal.http("ann").post(CHAT, json={"message": "A fourth"})
    assert refused.status_code == 409
    for id in ids:
        await portal.http("ann").post(f"{CHAT}/{id}/stop")
