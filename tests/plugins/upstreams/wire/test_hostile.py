"""Whatever a server does, its call gets a typed error in time, and the next call is served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from plugins.upstreams.wire import (
    Address,
    ConnectionLost,
    HttpRefused,
    Limits,
    NotMcp,
    RedirectRefused,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    WireError,
    connect_http,
)
from tests.plugins.upstreams.wire.peers import CLIENT, call, text_of
from tests.servers.hostile_mcp import HostileServer, hostile_server

LIMITS = Limits(total_s=60, message_bytes=1024 * 1024, reply_bytes=2 * 1024 * 1024, resumes=0)


@pytest.fixture
async def hostile() -> AsyncIterator[HostileServer]:
    async with hostile_server() as hostile:
        yield hostile


@pytest.mark.parametrize(
    ("harm", "error", "may_have_run"),
    [
        ("hang", TimedOut, True),
        ("trickle", TimedOut, True),
        ("die", ConnectionLost, True),
        ("vanish", ConnectionLost, True),
        ("fail", HttpRefused, True),
        ("refuse", HttpRefused, False),
        ("page", NotMcp, True),
        ("junk", NotMcp, True),
        ("strange_id", NotMcp, True),
        ("empty", NotMcp, True),
        ("huge", TooLarge, True),
        ("huge_event", TooLarge, True),
        ("chatter", TooLarge, True),
        ("away", RedirectRefused, False),
        ("around", RedirectRefused, False),
        ("packed", NotMcp, True),
        ("long_header", TooLarge, True),
        ("challenge", Unauthorized, False),
        ("no_http", NotMcp, True),
    ],
)
async def test_each_harm_is_a_typed_error_and_the_next_call_is_served(
    hostile: HostileServer, harm: str, error: type[WireError], may_have_run: bool
) -> None:
    limits = replace(LIMITS, total_s=0.5) if error is TimedOut else LIMITS
    connection = await connect_http(Address(hostile.url), CLIENT, era="modern", limits=limits)
    try:
        with pytest.raises(error) as raised:
            await connection.request(*call(harm))
        assert type(raised.value) is error
        assert raised.value.may_have_run is may_have_run
        assert "secret-token-of-mine" not in str(raised.value)
        assert text_of(await connection.request(*call("fine"))) == "fine"
    finally:
        await connection.close()


async def test_a_demand_for_a_credential_says_what_is_wanted(hostile: HostileServer) -> None:
    connection = await connect_http(Address(hostile.url), CLIENT, era="modern", limits=LIMITS)
    with pytest.raises(Unauthorized) as raised:
        await connection.request(*call("challenge"))
    assert raised.value.status == 401
    assert raised.value.bearer == {
        "scope": "a b",
        "resource_metadata": "https://example.org/meta",
    }
    await connection.close()


async def test_a_credential_is_asked_for_each_request_and_goes_nowhere_else(
    hostile: HostileServer,
) -> None:
    given = iter(range(100))

    async def credential() -> dict[str, str]:
        return {"authorization": f"Bearer token-{next(given)}"}

    async with hostile_server() as other:
        hostile.elsewhere = other.url
        address = Address(hostile.url, credential)
        connection = await connect_http(address, CLIENT, era="modern", limits=LIMITS)
        with pytest.raises(RedirectRefused):
            await connection.request(*call("away"))
        await connection.request(*call("fine"))
        assert [f"token-{n}" in head for n, head in enumerate(hostile.heads)] == [True] * 3
        assert other.connections == 0
        assert "token-" not in repr(connection) + repr(address)
        await connection.close()


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
        "[fd00::1]",
        "[64:ff9b::7f00:1]",
    ],
)
async def test_addresses_that_strangers_name_lead_nowhere_private(
    hostile: HostileServer, host: str
) -> None:
    port = hostile.url.rpartition(":")[2]
    address = Address(f"http://{host}:{port}", public_only=True)
    with pytest.raises(Unreachable) as raised:
        await connect_http(address, CLIENT, limits=LIMITS)
    assert "not found on the public internet" in str(raised.value)
    assert hostile.connections == 0


@pytest.mark.parametrize("host", ["2130706433", "0177.0.0.1", "127.1", "0x7f.1"])
async def test_no_odd_way_to_write_an_address_leads_there(
    hostile: HostileServer, host: str
) -> None:
    port = hostile.url.rpartition(":")[2]
    with pytest.raises(Unreachable):
        await connect_http(
            Address(f"http://{host}:{port}", public_only=True), CLIENT, limits=LIMITS
        )
    assert hostile.connections == 0


async def test_a_name_that_leads_elsewhere_the_second_time_gets_nowhere(
    hostile: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    real = socket.getaddrinfo

    def rebound(host: object, *more: object, **named: object) -> object:
        return real("127.0.0.1" if host == "rebound.example" else host, *more, **named)  # type: ignore

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    port = hostile.url.rpartition(":")[2]
    with pytest.raises(Unreachable):
        address = Address(f"http://rebound.example:{port}", public_only=True)
        await connect_http(address, CLIENT, limits=LIMITS)
    assert hostile.connections == 0
