"""Two replicas, one of them cut off from Redis: sessions go on, and what ended stays ended."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial

import httpx2
import pytest

from tests.faults.conftest import JSON, MEMBER, Place, Portal, eventually
from tests.mcp_messages import INITIALIZE
from tests.servers.cable import Cable, cabled

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

LEGACY = JSON | MEMBER | {"mcp-protocol-version": "2025-11-25"}
SEARCH = {"name": "search_knowledge", "arguments": {"query": "garden"}}


class Client:
    """A client of the legacy era, that every replica may answer."""

    def __init__(self, at: Portal) -> None:
        begun = httpx2.post(f"{at.url}/mcp", headers=LEGACY, json=INITIALIZE, timeout=60)
        self.headers = LEGACY | {"mcp-session-id": begun.headers["mcp-session-id"]}

    def search(self, at: Portal) -> int:
        """The status of a call; where it is 200, the call has found something."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SEARCH}
        said = httpx2.post(f"{at.url}/mcp", headers=self.headers, json=body, timeout=60)
        if said.status_code == 200:
            assert said.json()["result"]["structuredContent"]["results"]
        return said.status_code

    def is_over(self, at: Portal) -> bool:
        return self.search(at) == 404

    def end(self, at: Portal) -> int:
        return httpx2.delete(f"{at.url}/mcp", headers=self.headers, timeout=60).status_code


@pytest.mark.parametrize("fault", [Cable.cut, Cable.freeze], ids=["cut", "silent"])
def test_sessions_go_on_without_redis_and_those_that_ended_are_over_when_it_is_back(
    place: Place, redis_url: str, fault: Callable[[Cable], None]
) -> None:
    place.page("garden", "Garden")
    place.configure("services: {embedding: none, cache: env:ADDRESS}")
    key = uuid.uuid4().hex
    with cabled(redis_url) as line:
        first, second = (
            place.serve("--data", str(place.root / name), ADDRESS=at, PORCH_SIGNING_KEY=key).ready()
            for name, at in (("first", line.url), ("second", redis_url))
        )
        kept, ended_before, ended_there, ended_here = (Client(first) for _ in range(4))
        new = Client(second)
        assert ended_before.end(second) == 204
        fault(line)
        for _ in range(3):
            assert kept.search(first) == kept.search(second) == 200
            assert new.search(first) == 200
            assert Client(first).search(first) == 200
        assert ended_there.end(second) == ended_here.end(first) == 204
        assert ended_here.search(first) == 404
        assert ended_there.search(first) == 200, "its seal is believed meanwhile"
        (notice,) = [each for each in first.health()["notices"] if "cache server" in each]
        assert "remembers for itself" in notice
        line.join()
        line.thaw()
        eventually(lambda: not first.health()["notices"], "the admin is told that it is back")
        for ended in (ended_before, ended_there, ended_here):
            for portal in (first, second):
                eventually(partial(ended.is_over, portal), "it is over")
        assert kept.search(first) == new.search(second) == 200
        assert first.stop() == second.stop() == 0
    assert "Traceback" not in first.printed + second.printed
