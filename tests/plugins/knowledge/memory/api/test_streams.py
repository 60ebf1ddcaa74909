"""The streaming endpoint over loopback: real HTTP and WebSockets, and the portal's own server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import openapi_spec_validator
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.surfaces.http import open_streams
from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from plugins.knowledge.memory.api.errors import ErrorResponse
from plugins.knowledge.memory.model.errors import ErrorCode
from plugins.knowledge.memory.streams.events import KnowledgeUpdateEvent, QueryResultEvent
from tests.examples import examples
from tests.servers.streaming import Event, Listener, Served, over_network, told

OWN, ALIAS = PREFIXES
TIERS = {"items": {"knowledge": "public"}}
NO_LIMIT = {
    "limits": {"operations": {"knowledge.streams": "none", "knowledge.creates": "none"}},
    "plugins": {"knowledge": {"memory": {"approval": {"policies": []}}}},
}
"""Streams may be opened as often as a test likes, and nothing that is written waits for a yes."""


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    """A portal whose streams may be opened as often as a test likes."""
    async with open_test_portal(plugin, tiers=TIERS, config=NO_LIMIT) as portal:
        async with over_network(portal) as opened:
            yield opened


async def write(
    served: Served, content: str, policy: str = "private", who: str = "members", **entry: Any
) -> str:
    """Keep an entry; its id."""
    entry = {"content": content, "access_policy": policy, **entry}
    answer = await served.portal.http(who).post(f"{OWN}/create", json={"entry": entry})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["entry"]["id"])


async def remove(served: Served, id: str, who: str = "members", **given: Any) -> None:
    answer = await served.portal.http(who).delete(f"{OWN}/{id}", params=given)
    assert answer.status_code == 200, answer.text


def refused(body: bytes, status: int, code: ErrorCode) -> ErrorResponse:
    said = ErrorResponse.model_validate_json(body)
    assert said.error.code == code, said
    assert code.status == status or code is ErrorCode.INVALID_REQUEST
    return said


def contents(events: list[Event]) -> list[str]:
    return [each.data["entry"]["content"] for each in events if each.data is not None]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_updates_are_told_in_the_protocols_words(served: Served, prefix: str) -> None:
    async with (
        served.listen(f"{prefix}/stream", type="updates") as stream,
        served.socket(f"{prefix}/stream?type=updates&format=websocket") as opened,
    ):
        assert stream.response.headers["x-provider-version"]
        first = json.loads(await opened.recv())
        assert first == {"id": first["id"], "event": None, "data": None}
        assert first["id"].isdigit()
        id = await write(served, "The beds are watered at six.")
        event = await stream.next()
        said = KnowledgeUpdateEvent.model_validate(event.data)
        assert (event.event, said.type, said.entry.id) == ("KnowledgeUpdateEvent", "created", id)
        assert said.timestamp.tzinfo is not None
        assert await told(opened) == event
        await remove(served, id, hard_delete="true")
        gone = await stream.next()
        assert gone.data == {
            "type": "deleted",
            "entry": {"id": id},
            "timestamp": gone.data["timestamp"],
        }


@pytest.mark.parametrize("form", ["sse", "websocket"])
async def test_what_is_lost_is_told_in_words_in_both_forms(served: Served, form: str) -> None:
    if form == "sse":
        async with served.listen(f"{OWN}/stream", last="999999", type="updates") as stream:
            event = await stream.next()
    else:
        async with served.socket(f"{OWN}/stream?type=updates&last_event_id=999999") as opened:
            event = await told(opened)
    assert event.event == "ResetEvent"
    assert "Query again" in event.data["message"]


async def test_another_person_hears_nothing_of_what_is_private(served: Served) -> None:
    async with served.socket(f"{OWN}/stream?type=updates", "public") as opened:
        await told(opened)
        await write(served, "Hers.")
        await write(served, "Everybody's.", "public", who="public")
        assert contents([await told(opened)]) == ["Everybody's."]


async def _read(served: Served, form: str, last: str | None, count: int) -> list[Event]:
    """Connect, read some events, and break the connection off."""
    if form == "sse":
        async with served.listen(f"{OWN}/stream", last=last, type="updates") as stream:
            return [await stream.next() for _ in range(count)]
    more = "" if last is None else f"&last_event_id={last}"
    async with served.socket(f"{OWN}/stream?type=updates{more}") as opened:
        await told(opened)
        return [await told(opened) for _ in range(count)]


@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.tuples(st.sampled_from(["sse", "websocket"]), st.integers(1, 7)), min_size=1),
    st.integers(1, 3),
)
async def test_however_often_a_connection_breaks_nothing_is_lost_or_told_twice(
    served: Served, reads: list[tuple[str, int]], writers: int
) -> None:
    wanted = sum(count for _, count in reads)
    async with served.socket(f"{OWN}/stream?type=updates") as opened:
        last = (await told(opened)).id
    events: list[Event] = []

    async def keep_writing(writer: int) -> list[str]:
        texts = [f"{writer}, {number}, {last}" for number in range(wanted)]
        for text in texts:
            await write(served, text)
        return texts

    writes = asyncio.gather(*(keep_writing(each) for each in range(writers)))
    for form, count in reads:
        events += await _read(served, form, last, count)
        last = events[-1].id
    written = await writes
    events += await _read(served, "sse", last, wanted * writers - len(events))
    numbers = [int(each.id or 0) for each in events]
    assert numbers == sorted(set(numbers))
    for texts in written:
        mine = [each for each in contents(events) if each in texts]
        assert mine == texts
    assert len(events) == wanted * writers


async def test_a_query_is_streamed_and_the_stream_ends(served: Served) -> None:
    for number in range(3):
        await write(served, f"The bed number {number} is watered.")
    question = {"query": "watered bed", "options": {"limit": 2}}
    asked = {"type": "query", "query": json.dumps(question)}
    async with served.listen(f"{OWN}/stream", **asked) as stream:
        events = await stream.rest()
    results = [QueryResultEvent.model_validate(each.data) for each in events]
    assert [each.is_final for each in results] == [False, True]
    again = await served.get(f"{OWN}/stream", headers={"last-event-id": events[-1].id}, **asked)
    assert again.status_code == 204
    async with served.socket(f"{OWN}/stream?type=query&query={quote(json.dumps(question))}") as ws:
        shown = [QueryResultEvent.model_validate((await told(ws)).data) for _ in range(2)]
        with pytest.raises(ConnectionClosed) as closed:
            await ws.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1000
    assert [each.result for each in shown] == [each.result for each in results]


async def test_a_querys_answer_says_where_it_is_streamed(served: Served) -> None:
    await write(served, "The bed is watered.")
    client = served.portal.http("members")
    question = {"query": "watered & bed?", "layer": {"types": ["semantic"]}}
    answer = (await client.post(f"{OWN}/query", json=question)).json()
    async with served.listen(answer["streaming_url"]) as stream:
        (only,) = await stream.rest()
    assert only.data["result"]["entry"] == answer["results"][0]["entry"]
    long = {"query": "x", "filters": {"author": "a" * 200, "tags": ["t" * 5000]}}
    assert "streaming_url" not in (await client.post(f"{OWN}/query", json=long)).json()


async def test_a_batch_that_is_done_is_a_notification(served: Served) -> None:
    batch = {
        "operation": "create",
        "entries": [{"entry": {"content": f"Number {number}."}} for number in range(3)],
        "options": {"notify_on_completion": True},
    }
    async with (
        served.listen(f"{OWN}/stream", type="notifications") as stream,
        served.socket(f"{OWN}/stream?type=notifications", "public") as others,
    ):
        await told(others)
        await write(served, "No notification.")
        answer = await served.portal.http("members").post(f"{OWN}/batch", json=batch)
        event = await stream.next()
        assert (event.event, event.data["type"]) == ("NotificationEvent", "batch_completed")
        assert event.data["data"]["operation_id"] == answer.json()["operation_id"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await others.recv()


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({}, "type"),
        ({"type": "everything"}, "type"),
        ({"type": "query"}, "query"),
        ({"type": "query", "query": "{"}, "query"),
        ({"type": "query", "query": '"words"'}, "query"),
        ({"type": "query", "query": '{"query": "x", "colour": 1}'}, "query.colour"),
        ({"type": "query", "query": '{"query": "x", "options": {"limit": 0}}'}, "query.options"),
        ({"type": "query", "query": '{"query": "x", "limit": 1e999}'}, "query"),
        ({"type": "query", "query": '{"query": "x"}', "filters": "{}"}, "filters"),
        ({"type": "updates", "filters": "["}, "filters"),
        ({"type": "updates", "filters": '{"layers": ["attic"]}'}, "filters.layers.0"),
        ({"type": "updates", "filters": '{"tags": ["\\u0000"]}'}, "filters"),
        ({"type": "updates", "query": '{"query": "x"}'}, "query"),
        ({"type": "updates", "colour": "blue"}, "colour"),
        ({"type": "updates", "token": "x"}, "token"),
        ({"type": "updates", "format": "morse"}, "format"),
        ({"type": "updates", "last_event_id": "x"}, "last_event_id"),
    ],
)
async def test_what_is_wrong_is_named_with_its_place(
    served: Served, params: dict[str, str], place: str
) -> None:
    answer = await served.get(f"{OWN}/stream", **params)
    assert answer.status_code == 400
    said = refused(answer.content, 400, ErrorCode.INVALID_REQUEST)
    assert said.request_id == answer.headers["x-request-id"]
    assert place in f"{said.error.message} {said.error.details}"


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_who_may_not_is_told_so_over_each_form(served: Served, prefix: str) -> None:
    path = f"{prefix}/stream?type=updates"
    answer = await served.get(f"{prefix}/stream", "open", type="updates")
    refused(answer.content, 401, ErrorCode.UNAUTHORIZED)
    assert answer.headers["www-authenticate"].startswith("Bearer")
    upgrade = await served.get(f"{prefix}/stream", type="updates", format="websocket")
    assert upgrade.status_code == 426
    refused(upgrade.content, 426, ErrorCode.INVALID_REQUEST)
    for who, options, status, code in (
        ("open", {}, 401, ErrorCode.UNAUTHORIZED),
        ("members", {"origin": "https://elsewhere.example"}, 403, ErrorCode.FORBIDDEN),
    ):
        with pytest.raises(InvalidStatus) as no:
            async with served.socket(path, who, **options):  # type: ignore[arg-type]
                pass
        assert no.value.response.status_code == status
        refused(no.value.response.body or b"", status, code)


async def test_a_client_whose_token_is_revoked_hears_no_more(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "RECHECK_SECONDS", 0.02)
    ana = await served.portal.sign_in("ana")
    async with served.listen(f"{OWN}/stream", "ana", type="updates") as stream:
        await write(served, "Hers.", who="ana")
        assert contents([await stream.next()]) == ["Hers."]
        accounts = served.portal.running.authentication.accounts
        await accounts.sign_out_everywhere(ana.id, api_tokens=True)
        assert (await stream.next()).data["reason"] == "access_changed"
    answer = await served.get(f"{OWN}/stream", "ana", type="updates")
    assert answer.status_code == 401


async def test_discovery_and_the_document_tell_of_streams(served: Served) -> None:
    provider = (await served.get(OWN)).json()["provider"]
    assert provider["capabilities"]["streaming"] == {
        "types": ["query", "updates", "notifications"],
        "formats": ["sse", "websocket"],
    }
    document = (await served.get(f"{ALIAS}/openapi.json")).json()
    openapi_spec_validator.validate(document)
    stream = document["paths"][f"{ALIAS}/stream"]["get"]
    by_name = {each["name"]: each for each in stream["parameters"]}
    assert {"type", "query", "filters", "format", "last_event_id", "Last-Event-ID"} == set(by_name)
    assert by_name["filters"]["content"]["application/json"]["schema"]["properties"]["layers"]
    events = stream["responses"]["200"]["content"]["text/event-stream"]["x-events"]
    assert set(events) == {
        "KnowledgeUpdateEvent",
        "QueryResultEvent",
        "NotificationEvent",
        "ResetEvent",
    }


async def test_opening_streams_is_limited_as_an_operation() -> None:
    config = {"limits": {"operations": {"knowledge.streams": "1 in 60s"}}}
    async with open_test_portal(plugin, tiers=TIERS, config=config) as portal:
        async with over_network(portal) as served:
            async with served.listen(f"{OWN}/stream", type="updates") as stream:
                assert stream.response.headers["x-rate-limit-remaining"] == "0"
            answer = await served.get(f"{ALIAS}/stream", type="updates")
            refused(answer.content, 429, ErrorCode.RATE_LIMITED)


@pytest.mark.parametrize("cached", ["memory", "redis"])
async def test_two_portals_on_one_database_tell_of_each_other(
    postgres: str, cached: str, request: pytest.FixtureRequest
) -> None:
    cache = request.getfixturevalue("redis_url") if cached == "redis" else "memory"
    services = {"database": postgres, "cache": cache}
    config = {**NO_LIMIT, "services": services}

    async def reached(listener: Listener, served: Served, text: str) -> Event:
        await write(served, text, "public")
        return await listener.next()

    async with (
        open_test_portal(plugin, tiers=TIERS, config=config) as one,
        open_test_portal(plugin, tiers=TIERS, config=config) as other,
        over_network(one) as here,
        over_network(other) as there,
    ):
        async with there.listen(f"{OWN}/stream", "public", type="updates") as stream:
            first = await reached(stream, here, "Here.")
            assert contents([first]) == ["Here."]
        await write(there, "There.", "public")
        async with here.listen(f"{OWN}/stream", "public", last=first.id, type="updates") as stream:
            assert contents([await stream.next()]) == ["There."]
