"""A legacy client behind a balancer: any replica takes its answers, and tells it its replies."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.faults.conftest import JSON, Place, Portal
from tests.faults.conftest import place as place
from tests.journeys.balancer import empty_database

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

VERSION = "2025-11-25"
TOKEN = "members-token-of-the-questions"
LEGACY = JSON | {"mcp-protocol-version": VERSION, "authorization": f"Bearer {TOKEN}"}
PATIENCE = 60.0


class Client:
    """A client that shows its person forms, in one session at all replicas."""

    def __init__(self, at: Portal) -> None:
        params = {
            "protocolVersion": VERSION,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "journey", "version": "1"},
        }
        self.headers = LEGACY
        self.first: str | None = None
        begun = self.post(at, {"id": 1, "method": "initialize", "params": params})
        self.headers = LEGACY | {"mcp-session-id": begun.headers["mcp-session-id"]}

    def post(self, at: Portal, message: dict[str, Any]) -> httpx2.Response:
        body = {"jsonrpc": "2.0", **message}
        return httpx2.post(f"{at.url}/mcp", headers=self.headers, json=body, timeout=PATIENCE)

    @contextmanager
    def remembering(self, at: Portal, content: str) -> Iterator[Iterator[dict[str, Any]]]:
        """The messages of a call that asks the person; its id is 7."""
        arguments = {"content": content, "policy": "organization"}
        params = {"name": "remember", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        url = f"{at.url}/mcp"
        with httpx2.stream(
            "POST", url, headers=self.headers, json=body, timeout=PATIENCE
        ) as stream:
            yield self._messages(stream)

    @contextmanager
    def coming_back(self, at: Portal) -> Iterator[Iterator[dict[str, Any]]]:
        """The messages after the first event of the call's stream."""
        headers = self.headers | {"accept": "text/event-stream", "last-event-id": self.first or ""}
        url = f"{at.url}/mcp"
        with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE) as stream:
            assert stream.status_code == 200, stream.read()
            yield self._messages(stream)

    def _messages(self, stream: httpx2.Response) -> Iterator[dict[str, Any]]:
        for line in stream.iter_lines():
            if line.startswith("id: ") and self.first is None:
                self.first = line.removeprefix("id: ")
            elif line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))


@pytest.fixture
def pair(place: Place, postgres_url: str, redis_url: str) -> Iterator[tuple[Portal, Portal]]:
    place.configure("services: {embedding: none, database: env:ADDRESS, cache: env:REDIS}")
    (place.root / "config" / "tiers.yaml").write_text("items: {knowledge: open}\n")
    with empty_database(postgres_url) as postgres:
        common = {
            "ADDRESS": postgres,
            "REDIS": redis_url,
            "PORCH_SIGNING_KEY": uuid.uuid4().hex,
            "PORCH_STATIC_TOKENS": f"members:{TOKEN}",
        }
        first = place.serve("--data", str(place.root / "one"), **common).ready()
        second = place.serve("--data", str(place.root / "two"), **common).ready()
        yield first, second
        assert first.stop() == second.stop() == 0


def test_an_answer_at_the_other_replica_lets_the_call_go_on(pair: tuple[Portal, Portal]) -> None:
    for runs, hears in (pair, pair[::-1]):
        client, other = Client(runs), Client(hears)
        with client.remembering(runs, f"The gate opens at {uuid.uuid4().hex}.") as messages:
            question = next(messages)
            assert question["method"] == "elicitation/create"
            no = {"action": "accept", "content": {"approve": False}}
            assert other.post(hears, {"id": question["id"], "result": no}).status_code == 202
            yes = {"action": "accept", "content": {"approve": True}}
            assert client.post(hears, {"id": question["id"], "result": yes}).status_code == 202
            result = next(messages)
        assert result["id"] == 7
        assert result["result"]["structuredContent"]["status"] == "created", result


def test_a_cancellation_at_the_other_replica_ends_the_call(pair: tuple[Portal, Portal]) -> None:
    runs, hears = pair
    client, other = Client(runs), Client(hears)
    with client.remembering(runs, "The well is safe.") as messages:
        assert next(messages)["method"] == "elicitation/create"
        gone = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        assert other.post(hears, gone).status_code == 202
        assert client.post(hears, gone).status_code == 202
        ended = next(messages)
    assert (ended["id"], ended["error"]["message"]) == (7, "The client cancelled the request.")


def test_a_reply_whose_connection_broke_is_told_by_the_other_replica(
    pair: tuple[Portal, Portal],
) -> None:
    runs, hears = pair
    client = Client(runs)
    with client.remembering(runs, f"The gate opens at {uuid.uuid4().hex}.") as messages:
        question = next(messages)
    with client.coming_back(hears) as messages:
        assert next(messages) == question
        yes = {"action": "accept", "content": {"approve": True}}
        assert client.post(hears, {"id": question["id"], "result": yes}).status_code == 202
        result = next(messages)
        assert result["result"]["structuredContent"]["status"] == "created", result
        assert next(messages, None) is None, "the stream ends with the reply"
    with client.coming_back(runs) as messages:
        assert list(messages) == [question, result]
