import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st

from gateway.config.portal_keys import PortalConfig
from gateway.server.local import Local
from gateway.server.server import _uvicorn
from gateway.surfaces.http.client_address import LOCAL, UNKNOWN, client_address


@pytest.mark.parametrize(
    ("host", "peer"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", UNKNOWN),
        ("", UNKNOWN),
        ("x" * 10_000, UNKNOWN),
    ],
)
def test_an_address_is_told_apart_as_far_as_it_tells_people_apart(host, peer):
    assert client_address({"client": (host, 1234)}) == peer


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_addresses_of_a_64_are_one_peer(address, other):
    if address.ipv4_mapped is None:
        neighbour = (int(address) >> 64 << 64) + other
        sibling = type(address)(neighbour)
        if sibling.ipv4_mapped is None:
            assert client_address({"client": (str(address), 1)}) == client_address(
                {"client": (str(sibling), 2)}
            )


@given(st.text(max_size=50))
def test_whatever_a_proxy_made_up_is_a_peer(text):
    assert client_address({"client": (text, 0)})


def test_the_local_socket_is_one_peer():
    assert client_address({"client": None}) == LOCAL
    assert client_address({"client": ("192.0.2.7", 1), "porch.local": True}) == LOCAL


async def _tell(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers with the peer of the request."""
    body = client_address(scope).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def _portal(
    *proxies: str, listener: socket.socket | None = None, uds: Path | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    """The application under uvicorn as the portal runs it."""
    app = _tell if uds is None else Local(_tell)
    server = uvicorn.Server(
        _uvicorn(app, PortalConfig.model_validate({"trusted_proxies": proxies}))
    )
    if uds is not None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(uds))
    listener = listener or socket.create_server(("127.0.0.1", 0))
    url = "http://localhost" if uds else f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.listen()
    serving = asyncio.create_task(server._serve([listener]))
    reaching = httpx2.AsyncHTTPTransport(uds=str(uds) if uds else None)
    try:
        async with httpx2.AsyncClient(base_url=url, transport=reaching) as client:
            yield client
    finally:
        server.should_exit = True
        await serving
        listener.close()


async def _peer(client: httpx2.AsyncClient, *forwarded: str) -> str:
    headers = [("x-forwarded-for", each) for each in forwarded]
    return (await client.get("/", headers=headers)).text


async def test_a_forwarded_address_from_an_untrusted_peer_is_ignored():
    async with _portal() as client:
        assert await _peer(client, "192.0.2.7") == "127.0.0.1"
    async with _portal("10.0.0.0/8") as client:
        assert await _peer(client, "192.0.2.7") == "127.0.0.1"
        assert await _peer(client, "192.0.2.7, 10.0.0.1") == "127.0.0.1"


async def test_a_trusted_proxy_says_who_is_calling():
    async with _portal("127.0.0.1/32", "10.0.0.0/8") as client:
        assert await _peer(client, "192.0.2.7") == "192.0.2.7"
        assert await _peer(client, "2001:db8:1:2:3::4") == "2001:db8:1:2::/64"
        assert await _peer(client, "[2001:db8:1:2:3::4]:5678") == "2001:db8:1:2::/64"
        assert await _peer(client, "192.0.2.7:5678") == "192.0.2.7"


async def test_what_a_caller_wrote_before_its_own_address_is_ignored():
    async with _portal("127.0.0.1/32", "10.0.0.0/8") as client:
        assert await _peer(client, "198.51.100.1, 192.0.2.7") == "192.0.2.7"
        assert await _peer(client, "198.51.100.1", "192.0.2.7") == "192.0.2.7"
        assert await _peer(client, "127.0.0.1, 192.0.2.7, 10.1.1.1") == "192.0.2.7"
        assert await _peer(client, "local, 192.0.2.7, 10.1.1.1, 10.2.2.2") == "192.0.2.7"


async def test_a_trusted_proxy_that_says_nothing_is_the_peer_itself():
    async with _portal("127.0.0.1/32") as client:
        assert await _peer(client) == "127.0.0.1"
        assert await _peer(client, "") == "127.0.0.1"
        assert await _peer(client, "nonsense") == UNKNOWN


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
async def test_a_trusted_proxy_is_known_where_the_portal_listens_on_ipv6_too():
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    async with _portal("127.0.0.0/8", listener=listener) as client:
        assert await _peer(client, "192.0.2.7") == "192.0.2.7"
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    async with _portal("10.0.0.0/8", listener=listener) as client:
        assert await _peer(client, "192.0.2.7") == "127.0.0.1"


async def test_the_local_socket_believes_no_forwarded_address(tmp_path):
    async with _portal("127.0.0.1/32", uds=tmp_path / "s") as client:
        assert await _peer(client, "192.0.2.7") == LOCAL
