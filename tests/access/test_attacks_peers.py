"""Attacks by saying that one is somebody else: headers, addresses, forwarded names."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn

from auth import Account
from gateway.server.server import _uvicorn
from gateway.surfaces.routing import SIGN_IN_ATTEMPTS_PER_MINUTE
from tests.access.attacks import TIERS, Attacked, attacked

ADMIN = Account.of_key("0x00000000000000000000000000000000000A11cE", "alice")
ADMINS = {
    **TIERS,
    "access": {
        "members": {"any_of": ["signed_in"]},
        "admins": {"any_of": [{"address": ADMIN.id}]},
    },
}
MESSAGE = "/signin/wallet?chain=1&address=0x" + "0" * 40
"""What counts as an attempt to sign in, and costs nothing else."""


@asynccontextmanager
async def served(portal: Attacked) -> AsyncIterator[str]:
    """The portal behind uvicorn as the command runs it; its address."""
    server = uvicorn.Server(_uvicorn(portal.portal.app, portal.portal.running.portal.config))
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server._serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listener.close()


async def raw(address: str, text: str) -> str:
    """What the portal answers to bytes that no library would send."""
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.replace("\n", "\r\n").encode("latin-1"))
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(65536), 60)
    writer.close()
    return answer.decode("latin-1")


CLAIMS = {
    "X-User": ADMIN.id,
    "X-Remote-User": "alice",
    "X-Forwarded-User": "alice",
    "X-Forwarded-Email": "alice@example.org",
    "X-Forwarded-Preferred-Username": "alice",
    "X-Auth-Request-User": "alice",
    "X-Auth-Request-Email": "alice@example.org",
    "X-Webauth-User": "alice",
    "Remote-User": "alice",
    "X-Porch-As": "members",
    "X-Porch-Tier": "members",
    "X-Porch-Person": "person:x",
    "CF-Access-Authenticated-User-Email": "alice@example.org",
    "CF-Access-JWT-Assertion": "e30.e30.x",
    "X-Goog-Authenticated-User-Email": "alice@example.org",
    "X-Amzn-Oidc-Identity": "alice",
    "X-Ms-Client-Principal-Name": "alice",
    "X-Client-Cert": "CN=alice",
    "X-Api-Key": "porch_x",
    "Cookie": "porch_session=x; as=members; tier=members",
    "Forwarded": "for=127.0.0.1;by=local",
    "X-Forwarded-For": "127.0.0.1",
    "X-Real-Ip": "127.0.0.1",
    "X-Original-Url": "/admin/explain",
    "X-Http-Method-Override": "DELETE",
}
QUERIES = ["as=members", "tier=members", f"user={ADMIN.id}", "admin=1", "sub=alice", "local=1"]


async def test_no_header_and_no_address_says_who_is_calling() -> None:
    async with attacked(base="https://porch.example", tiers=ADMINS) as portal:
        await portal.person(ADMIN)
        for name, value in CLAIMS.items():
            assert await portal.tier(headers={name: value}) == "open", name
            answer = await portal.client().get("/admin/explain", headers={name: value})
            assert answer.status_code in {401, 403}, name
            answer = await portal.client().get("/metrics", headers={name: value})
            assert answer.status_code == 403, name
        for query in QUERIES:
            assert await portal.tier(query=f"?{query}") == "open", query
            answer = await portal.client().get(f"/admin/explain?{query}")
            assert answer.status_code in {401, 403}, query


async def test_no_header_gives_a_token_more_than_its_own() -> None:
    tiers = {**TIERS, "access": {"public": {"any_of": ["signed_in"]}}}
    async with attacked(tiers=tiers) as portal:
        token = await portal.api_token(await portal.person())
        for name, value in CLAIMS.items():
            assert await portal.tier(token, headers={name: value}) == "public", name


async def test_who_comes_by_tcp_is_not_the_portals_own_user() -> None:
    """``X-Porch-As`` and the rights of the local socket, asked for over the network."""
    async with attacked(tiers=ADMINS) as portal, served(portal) as address:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
            for tier in ("members", "public", "admin"):
                assert await portal.tier(headers={"x-porch-as": tier}, client=client) == "open"
                headers = {"x-porch-as": tier, "porch.local": "1"}
                answer = await client.get("/admin/explain?as=anonymous", headers=headers)
                assert answer.status_code in {401, 403}


async def test_a_forwarded_address_escapes_no_limit() -> None:
    async with attacked() as portal, served(portal) as address:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
            statuses = [
                (await client.get(MESSAGE, headers={"x-forwarded-for": f"192.0.2.{n}"})).status_code
                for n in range(SIGN_IN_ATTEMPTS_PER_MINUTE + 5)
            ]
    assert 429 not in statuses[:SIGN_IN_ATTEMPTS_PER_MINUTE]
    assert set(statuses[SIGN_IN_ATTEMPTS_PER_MINUTE:]) == {429}


async def test_behind_a_proxy_only_the_address_that_the_proxy_wrote_counts() -> None:
    config: dict[str, Any] = {"trusted_proxies": ["127.0.0.1/32"], "public_url": "http://localhost"}
    async with attacked(**config) as portal, served(portal) as address:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as client:

            async def asked(forwarded: str) -> int:
                headers = {"x-forwarded-for": forwarded, "host": "localhost"}
                return (await client.get(MESSAGE, headers=headers)).status_code

            made_up = [
                await asked(f"198.51.100.{n}, 192.0.2.7")
                for n in range(SIGN_IN_ATTEMPTS_PER_MINUTE)
            ]
            assert 429 not in made_up
            assert await asked("198.51.100.200, 192.0.2.7") == 429
            assert await asked("192.0.2.7") == 429
            assert await asked("192.0.2.8") == 200


async def test_the_addresses_of_one_ipv6_network_share_a_limit_and_others_do_not() -> None:
    async with attacked() as portal:
        statuses = [
            (await portal.client(f"2001:db8:1:2::{n:x}").get(MESSAGE)).status_code
            for n in range(1, SIGN_IN_ATTEMPTS_PER_MINUTE + 3)
        ]
        assert statuses[-2:] == [429, 429]
        assert (await portal.client("2001:db8:1:3::1").get(MESSAGE)).status_code == 200
        assert (await portal.client("192.0.2.9").get(MESSAGE)).status_code == 200
        assert (await portal.client("::ffff:192.0.2.9").get(MESSAGE)).status_code == 200


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example"],
        ["evil.example", "{own}"],
        ["{own}", "evil.example"],
        ["{own}, evil.example"],
        [],
    ],
    ids=str,
)
async def test_a_request_with_a_foreign_a_second_or_no_host_is_refused(hosts: list[str]) -> None:
    async with attacked() as portal, served(portal) as address:
        own = address.removeprefix("http://")
        for path in ("/", "/signin/", "/signin", "/.well-known/oauth-authorization-server"):
            lines = "".join(f"Host: {each.format(own=own)}\n" for each in hosts)
            answer = await raw(address, f"GET {path} HTTP/1.1\n{lines}Connection: close\n\n")
            assert answer.split(" ")[1] in {"400", "421"}, answer[:300]
            assert "location:" not in answer.lower()


async def test_an_address_in_the_request_line_is_no_host() -> None:
    async with attacked() as portal, served(portal) as address:
        own = address.removeprefix("http://")
        for target in ("http://evil.example/signin/", "//evil.example/signin/", "*"):
            text = f"GET {target} HTTP/1.1\nHost: {own}\nConnection: close\n\n"
            answer = await raw(address, text)
            location = [
                line for line in answer.lower().split("\r\n") if line.startswith("location:")
            ]
            assert not [
                line for line in location if not line.startswith(f"location: http://{own}/")
            ]


async def test_two_authorization_headers_are_refused_whatever_they_say() -> None:
    async with attacked() as portal, served(portal) as address:
        own = address.removeprefix("http://")
        token = await portal.api_token(await portal.person())
        for second in (token, "porch_x", ""):
            text = (
                f"GET /mcp HTTP/1.1\nHost: {own}\nAuthorization: Bearer {token}\n"
                f"Authorization: Bearer {second}\nConnection: close\n\n"
            )
            assert (await raw(address, text)).split(" ")[1] == "401"
