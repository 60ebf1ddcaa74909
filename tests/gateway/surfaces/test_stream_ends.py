"""How streams end, and how many there are: whatever clients and callers do, nobody is held up."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack

import pytest
from websockets.exceptions import ConnectionClosed

from gateway.contract import ToolFailed
from gateway.testing import open_test_portal
from tests.gateway.surfaces import ticking
from tests.gateway.surfaces.ticking import ALIAS, OWN, now, streams_of
from tests.servers.streaming import Served, over_network, told, until

UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def test_one_caller_has_so_many_streams_at_once() -> None:
    config = {"limits": {"streams": {"person": 1, "total": 2}}}
    tiers = {"items": {"ticking": "public"}}
    async with open_test_portal(ticking, config=config, tiers=tiers) as portal:
        async with over_network(portal) as served:
            async with served.listen(f"{OWN}/watch"):
                answer = await served.get(f"{ALIAS}/watch")
                assert (answer.status_code, answer.json()["word"]) == (429, "too_many_streams")
                assert answer.headers["retry-after"]
                async with served.listen(f"{OWN}/watch", who="public") as other:
                    assert other.response.status_code == 200
                    await portal.sign_in("ana")
                    answer = await served.get(f"{ALIAS}/watch", "ana")
                    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
            await until(lambda: len(streams_of(served)) == 0)
            async with served.listen(f"{OWN}/watch") as again:
                assert again.response.status_code == 200


async def test_opening_is_counted() -> None:
    config = {"limits": {"operations": {"ticking.watching": "1 in 60s"}}}
    tiers = {"items": {"ticking": "public"}}
    async with open_test_portal(ticking, config=config, tiers=tiers) as portal:
        async with over_network(portal) as served:
            async with served.listen(f"{OWN}/watch") as stream:
                assert "r=0" in stream.response.headers["ratelimit"]
            answer = await served.get(f"{ALIAS}/watch")
            assert (answer.status_code, answer.json()["word"]) == (429, "rate_limited")


async def _signed_in(served: Served) -> str:
    return (await served.portal.sign_in("ana")).id


async def test_a_token_that_is_revoked_reads_no_more(served: Served, soon: None) -> None:
    person = await _signed_in(served)
    async with (
        served.listen(f"{OWN}/watch", "ana") as stream,
        served.socket(f"{OWN}/watch", "ana") as opened,
    ):
        await told(opened)
        await served.portal.running.authentication.accounts.sign_out_everywhere(
            person, api_tokens=True
        )
        last = (await stream.rest())[-1]
        assert (last.event, last.data["reason"]) == ("end", "access_changed")
        with pytest.raises(ConnectionClosed) as closed:
            await opened.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason[:14]) == (1008, "access_changed")
    assert (await served.get(f"{OWN}/watch", "ana")).status_code == 401
    await until(lambda: now.source.closed == 2)


async def test_a_stream_ends_where_its_tier_is_raised(served: Served, soon: None) -> None:
    async with served.listen(f"{OWN}/watch", "public") as stream:
        (served.portal.config_dir / "tiers.yaml").write_text("items: {ticking: members}")
        assert (await stream.rest())[-1].data["reason"] == "access_changed"
    assert (await served.get(f"{OWN}/watch", "public")).status_code == 403


async def test_streams_end_when_the_portal_stops(served: Served) -> None:
    async with (
        served.listen(f"{OWN}/watch") as stream,
        served.socket(f"{OWN}/watch") as opened,
    ):
        await told(opened)
        served.portal.app.stopping()
        assert (await stream.rest())[-1].data["reason"] == "stopping"
        with pytest.raises(ConnectionClosed) as closed:
            await opened.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
    assert (await served.get(f"{OWN}/watch")).status_code == 503


async def test_the_server_stops_though_clients_go_on_reading() -> None:
    tiers = {"items": {"ticking": "public"}}
    async with open_test_portal(ticking, tiers=tiers) as portal, AsyncExitStack() as clients:
        async with over_network(portal) as served:
            stream = await clients.enter_async_context(served.listen(f"{OWN}/watch"))
            opened = await clients.enter_async_context(served.socket(f"{OWN}/watch"))
            await told(opened)
        assert (await stream.rest())[-1].data["reason"] == "stopping"
        with pytest.raises(ConnectionClosed) as closed:
            await opened.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code in {1001, 1012}
        assert now.source.closed == 2


async def test_a_client_that_leaves_closes_its_stream(served: Served) -> None:
    async with served.listen(f"{OWN}/watch"), served.socket(f"{OWN}/watch") as opened:
        await told(opened)
        assert len(streams_of(served)) == 2
    await until(lambda: len(streams_of(served)) == 0)
    await until(lambda: now.source.closed == 2)


@pytest.mark.parametrize("upgrade", ["", UPGRADE], ids=["sse", "websocket"])
async def test_a_client_that_stops_reading_is_let_go_and_holds_up_nobody(
    served: Served, soon: None, upgrade: str
) -> None:
    host, port = served.address.split(":")
    stalled = socket.create_connection((host, int(port)))
    token = served.headers("members")["authorization"]
    asked = f"GET {OWN}/watch?large=100000 HTTP/1.1\r\nHost: {served.address}\r\n"
    stalled.sendall(f"{asked}{upgrade}Authorization: {token}\r\n\r\n".encode())
    async with served.listen(f"{OWN}/watch") as stream:
        await until(lambda: len(now.source.asked) == 2)
        now.source.tick(500)  # 50 MB for the one that reads nothing
        assert [(await stream.next()).id for _ in range(500)][-1] == "500"
        await until(lambda: len(streams_of(served)) == 1)
        assert now.source.closed == 1
    stalled.close()


@pytest.mark.parametrize(
    ("error", "reason", "word"),
    [
        (ToolFailed("too_far", "Come nearer."), "too_far", "Come nearer."),
        (RuntimeError("the password is hunter2"), "internal_error", "Connect again"),
    ],
)
async def test_a_stream_that_fails_in_the_middle_says_so(
    served: Served, error: Exception, reason: str, word: str
) -> None:
    async with (
        served.listen(f"{OWN}/watch") as stream,
        served.socket(f"{OWN}/watch") as opened,
    ):
        await told(opened)
        now.source.fail(error)
        last = (await stream.rest())[-1]
        assert (last.event, last.data["reason"]) == ("end", reason)
        assert word in last.data["message"]
        assert "hunter2" not in str(last)
        with pytest.raises(ConnectionClosed) as closed:
            await opened.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011
    assert "hunter2" not in closed.value.rcvd.reason


async def test_a_silent_stream_gives_signs_of_life(served: Served, soon: None) -> None:
    async with served.listen(f"{OWN}/watch") as stream:
        reading = asyncio.create_task(stream.next())
        await until(lambda: len(stream.comments) > 2)
        now.source.tick()
        assert (await reading).id == "1"


async def test_how_many_are_open_is_a_metric(served: Served) -> None:
    async with served.socket(f"{OWN}/watch") as opened:
        await told(opened)
        assert 'porch_streams{surface="rest"} 1.0' in (await served.portal.get("/metrics")).text
