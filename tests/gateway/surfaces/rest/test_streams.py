"""Streams of an API, over loopback: what is told, to whom, and what is refused."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from urllib.parse import quote

import openapi_spec_validator
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus

from gateway.contract import Stream, StreamEvent
from gateway.scrubbing.report import HEADER
from tests.gateway.surfaces.ticking import (
    OWN,
    PREFIXES,
    Problem,
    Tick,
    Watch,
    now,
    streams_of,
    watch,
)
from tests.servers.streaming import Event, Listener, Served, told

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "Q1w2e3"


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_events_are_told_as_they_happen(served: Served, prefix: str) -> None:
    async with served.listen(f"{prefix}/watch") as stream:
        said = stream.response.headers
        assert stream.response.status_code == 200
        assert said["content-type"] == "text/event-stream"
        assert said["cache-control"] == "no-store"
        assert said["x-accel-buffering"] == "no"
        assert (said["x-maker"], len(said["x-request-id"])) == ("ticks", 16)
        for number in (1, 2, 3):
            now.source.tick()
            assert await stream.next() == Event(str(number), "tick", {"number": number, "text": ""})


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_websocket_tells_the_same(served: Served, prefix: str) -> None:
    async with served.socket(f"{prefix}/watch?format=websocket") as opened:
        assert opened.response is not None
        assert len(opened.response.headers["x-request-id"]) == 16
        assert opened.response.headers["x-maker"] == "ticks"
        assert await told(opened) == Event("0", None, None)  # type: ignore[arg-type]
        now.source.tick(2)
        assert [(await told(opened)).data["number"] for _ in range(2)] == [1, 2]


async def test_a_client_goes_on_after_the_last_event_that_it_had(served: Served) -> None:
    now.source.tick(3)
    async with served.listen(f"{OWN}/watch", last="2") as stream:
        assert (await stream.next()).id == "3"
    async with served.listen(f"{OWN}/watch", last_event_id="1") as stream:
        assert (await stream.next()).id == "2"
    async with served.socket(f"{OWN}/watch?last_event_id=2") as opened:
        assert [(await told(opened)).id for _ in range(2)] == ["2", "3"]


async def test_a_client_that_was_told_nothing_yet_knows_from_where_to_go_on(
    served: Served,
) -> None:
    async with served.listen(f"{OWN}/watch", last="2") as stream:
        async with asyncio.timeout(60):
            async for _ in _until_positioned(stream):
                pass
        assert stream.last == "2"


async def _until_positioned(stream: Listener) -> AsyncGenerator[None]:
    reading = asyncio.create_task(stream.next())
    while stream.last is None:
        await asyncio.sleep(0.01)
        yield
    reading.cancel()


async def test_where_nothing_more_comes_a_client_is_told_not_to_come_again(
    served: Served,
) -> None:
    answer = await served.get(f"{OWN}/watch", last_event_id="over")
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_head_request_opens_nothing(served: Served) -> None:
    answer = await served.get(f"{OWN}/watch", method="HEAD")
    assert answer.headers["content-type"] == "text/event-stream"
    assert now.source.asked == []


REFUSED = [
    ("open", "", {}, 401, "not_allowed"),
    ("members", "", {"authorization": "Bearer wrong"}, 401, "invalid_token"),
    ("members", "", {"host": "evil.example"}, 421, "foreign_host"),
    ("members", "?large=x", {}, 400, "invalid_parameters"),
    ("members", "?where=%7B", {}, 400, "invalid_parameters"),
    ("members", '?where={"place":"a","least":-1}', {}, 400, "invalid_parameters"),
    ("members", '?where={"place":"nowhere"}', {}, 404, "not_found"),
    ("members", "?format=carrier-pigeon", {}, 400, "invalid_parameters"),
    ("members", f"?token={SECRET}", {}, 400, "invalid_parameters"),
    ("members", f"?access_token={SECRET}", {}, 401, "invalid_token"),
]


@pytest.mark.parametrize(("who", "query", "headers", "status", "word"), REFUSED)
@pytest.mark.parametrize("form", ["sse", "websocket"])
async def test_what_is_refused_is_refused_before_it_begins_in_the_apis_words(
    served: Served,
    form: str,
    who: str,
    query: str,
    headers: dict[str, str],
    status: int,
    word: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    path = f"{OWN}/watch{quote(query, safe='?=&%')}"
    if "authorization" in headers:
        who = "open"
    if form == "sse":
        answer = await served.get(path, who, headers=headers)
        body, given_status = answer.content, answer.status_code
    else:
        with pytest.raises(InvalidStatus) as refused:
            async with served.socket(path, who, headers):
                pass
        response = refused.value.response
        body, given_status = response.body or b"", response.status_code
        assert response.headers["x-request-id"]
        assert response.headers["x-maker"] == "ticks"
    problem = Problem.model_validate_json(body)
    assert (given_status, problem.word) == (status, word)
    assert SECRET not in problem.text
    ours = [each for each in caplog.records if not each.name.startswith(("websockets", "http"))]
    assert not [each for each in ours if SECRET in each.getMessage() and each.levelno > 20]
    assert len(streams_of(served)) == 0


async def test_a_wrong_place_in_json_is_named(served: Served) -> None:
    answer = await served.get(f"{OWN}/watch", where=json.dumps({"place": "a", "least": "b"}))
    assert "where.least" in answer.json()["text"]
    answer = await served.get(f"{OWN}/watch", where='{"place": ')
    assert "where: It is to be URL-encoded JSON" in answer.json()["text"]


async def test_a_websocket_is_asked_for_by_an_upgrade(served: Served) -> None:
    answer = await served.get(f"{OWN}/watch", format="websocket")
    assert (answer.status_code, answer.json()["word"]) == (426, "upgrade_required")
    assert answer.headers["upgrade"] == "websocket"
    with pytest.raises(InvalidStatus, match="400"):
        async with served.socket(f"{OWN}/watch?format=sse"):
            pass


async def test_a_page_of_another_site_opens_no_websocket(served: Served) -> None:
    for origin in ("https://evil.example", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            async with served.socket(f"{OWN}/watch", origin=origin):
                pass
    async with served.socket(f"{OWN}/watch", origin=f"http://{served.address}") as opened:
        assert (await told(opened)).id == "0"


async def test_a_websocket_elsewhere_is_refused(served: Served) -> None:
    for path in ("/mcp", f"{OWN}/nothing", "/api/v1/nothing"):
        with pytest.raises(InvalidStatus, match="403"):
            async with served.socket(path):
                pass


async def test_secrets_are_taken_out_of_the_parameters(served: Served) -> None:
    where = json.dumps({"place": f"the token {SECRET}"})
    async with served.listen(f"{OWN}/watch", where=where) as stream:
        assert stream.response.headers[HEADER]
    assert now.source.asked[0].where.place == "the token [REDACTED]"


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_document_says_what_a_stream_takes_and_tells(served: Served, prefix: str) -> None:
    document = (await served.get(f"{prefix}/openapi.json")).json()
    openapi_spec_validator.validate(document)
    told = document["paths"][f"{prefix}/watch"]["get"]
    parameters = {each["name"]: each for each in told["parameters"]}
    assert set(parameters) == {"where", "large", "format", "last_event_id", "Last-Event-ID"}
    assert "place" in str(parameters["where"]["content"]["application/json"]["schema"])
    events = told["responses"]["200"]["content"]["text/event-stream"]["x-events"]
    assert events["Tick"]["$ref"].rpartition("/")[2] in document["components"]["schemas"]
    assert {"101", "204", "400", "401", "426", "429"} <= set(told["responses"])


@given(st.text(), st.text().filter(lambda id: not {"\r", "\n", "\0"} & set(id)))
def test_any_text_is_told_whole_and_written_out_once(text: str, id: str) -> None:
    event = StreamEvent("tick", Tick(number=1, text=text), id)
    assert event.sse is event.sse
    lines = event.sse.split(b"\n")
    assert lines[:2] == [b"id: " + id.encode("utf-8"), b"event: tick"]
    assert json.loads(lines[2].removeprefix(b"data: "))["text"] == text
    assert lines[3:] == [b"", b""]
    said = json.loads(event.message)
    assert (said["id"], said["event"], said["data"]["text"]) == (id, "tick", text)


@pytest.mark.parametrize("broken", ["a\nb", "a\rb", "a\0b"])
def test_an_id_that_would_break_the_line_is_an_error(broken: str) -> None:
    with pytest.raises(ValueError, match="no line break"):
        StreamEvent("tick", Tick(number=1, text="a"), broken)


def test_an_event_of_a_kind_says_something_and_a_place_alone_has_none() -> None:
    with pytest.raises(ValueError, match="a kind and data, or neither"):
        StreamEvent("tick", None, "7")
    with pytest.raises(ValueError, match="a kind and data, or neither"):
        StreamEvent("", Tick(number=1, text="a"), "7")
    place = StreamEvent(id="7")
    assert json.loads(place.message) == {"id": "7", "event": None, "data": None}
    assert place.sse == b"id: 7\n\n"


def test_a_rate_that_means_nothing_is_an_error_where_it_is_declared() -> None:
    with pytest.raises(ValueError, match="such as 60 in 60s"):
        Stream("/watch", watch, "ticks", Watch, [Tick], "Ticks.", "watching", rate="often")
