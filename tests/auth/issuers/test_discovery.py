from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

from auth.document_fetcher import Document
from auth.issuers import discovery as module
from auth.issuers.discovery import RETRY_INTERVAL_S, Discovery, IssuerUnavailable, fetch_json
from tests.auth.clocks import Clock
from tests.servers.identity_provider import IdentityProvider


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_a_server_that_never_answers_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(module, "FETCH_TIMEOUT_S", 0.1)
    gone = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(4096):
                pass
        writer.close()
        gone.set()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(IssuerUnavailable, match="does not answer"):
            await fetch_json(f"http://127.0.0.1:{port}/jwks")
        await gone.wait()


async def test_the_cache_control_header_is_read(provider):
    provider.cache_control = "public, max-age=1234, must-revalidate"
    assert (await fetch_json(f"{provider.issuer}/jwks")).max_age_s == 1234


@pytest.mark.parametrize(
    "url",
    [
        "http://id.example.org/jwks",
        "ftp://127.0.0.1/jwks",
        "file:///etc/passwd",
        "http://127.0.0.1.example.org/jwks",
        "http://[",
        "",
    ],
)
async def test_nothing_is_fetched_without_https_but_from_this_machine(url):
    with pytest.raises(IssuerUnavailable, match="https"):
        await fetch_json(url)


async def test_redirects_are_not_followed(provider):
    query = "client_id=portal&response_type=code&code_challenge_method=S256&code_challenge=c"
    target = f"{provider.issuer}/jwks"
    url = f"{provider.issuer}/authorize?{query}&state=s&nonce=n&redirect_uri={target}"
    with pytest.raises(IssuerUnavailable, match="status 302"):
        await fetch_json(url)
    assert provider.asked["/jwks"] == 0


async def test_a_document_that_is_too_large_is_not_read(provider):
    provider.metadata_changes = {"more": "x" * 600_000}
    with pytest.raises(IssuerUnavailable, match="more than"):
        await fetch_json(f"{provider.issuer}/.well-known/openid-configuration")


async def test_a_page_is_no_document(provider):
    provider.approves = None
    query = "client_id=portal&response_type=code&code_challenge_method=S256&code_challenge=c"
    url = f"{provider.issuer}/authorize?{query}&state=s&nonce=n&redirect_uri=http://127.0.0.1/"
    with pytest.raises(IssuerUnavailable, match="no JSON object"):
        await fetch_json(url)


async def test_metadata_in_the_name_of_another_issuer_is_refused(provider):
    provider.metadata_changes = {"issuer": f"{provider.issuer}/"}
    with pytest.raises(IssuerUnavailable, match="names another issuer"):
        await Discovery(provider.issuer).metadata()


@pytest.mark.parametrize("address", [None, "http://id.example.org/jwks", 7])
async def test_an_address_that_is_not_safe_is_not_used(provider, address):
    provider.metadata_changes = {"jwks_uri": address}
    with pytest.raises(IssuerUnavailable, match="no jwks_uri"):
        await Discovery(provider.issuer).jwks_uri()


async def test_metadata_is_read_once_an_hour(provider, clock):
    discovery = Discovery(provider.issuer, clock=clock)
    for _ in range(3):
        await discovery.metadata()
        clock.pass_(1000)
    assert provider.asked["/.well-known/openid-configuration"] == 1
    clock.pass_(1000)
    await discovery.metadata()
    assert provider.asked["/.well-known/openid-configuration"] == 2


async def test_metadata_outlives_an_issuer_that_does_not_answer(provider, clock):
    discovery = Discovery(provider.issuer, clock=clock)
    await discovery.metadata()
    provider.down = True
    clock.pass_(4000)
    for _ in range(3):
        assert (await discovery.metadata())["issuer"] == provider.issuer
    assert provider.asked["/.well-known/openid-configuration"] == 2


async def test_an_issuer_that_was_down_is_found_when_it_is_back(provider, clock):
    discovery = Discovery(provider.issuer, clock=clock)
    provider.down = True
    for _ in range(3):
        with pytest.raises(IssuerUnavailable, match="503"):
            await discovery.metadata()
    assert provider.asked["/.well-known/openid-configuration"] == 1
    provider.down = False
    clock.pass_(RETRY_INTERVAL_S)
    assert await discovery.metadata()


def named_by(issuer: str, address: str) -> Discovery:
    async def fetch(url: str) -> Document:
        return Document({"issuer": issuer, "token_endpoint": address})

    return Discovery(issuer, fetch)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/token",
        "http://localhost/token",
        "https://localhost/token",
        "https://localhost./token",
        "https://portal.localhost/token",
        "https://LOCALHOST/token",
        "https://127.0.0.1/token",
        "https://127.1/token",
        "https://0x7f000001/token",
        "https://2130706433/token",
        "https://127.0.0.2:8443/token",
        "https://0.0.0.0/token",
        "https://[::1]/token",
        "https://[::ffff:127.0.0.1]/token",
        "https://[fe80::1]/token",
        "https://10.0.0.1/token",
        "https://192.168.1.1/token",
        "https://169.254.169.254/token",
        "https:///token",
        "https://id.example.org:port/token",
    ],
)
async def test_an_issuer_elsewhere_names_nothing_inside(address):
    with pytest.raises(IssuerUnavailable, match="no token_endpoint"):
        await named_by("https://id.example.org", address).address("token_endpoint")


@pytest.mark.parametrize(
    ("issuer", "address"),
    [
        ("https://id.example.org", "https://id.example.org/token"),
        ("https://id.example.org", "https://tokens.example.com/token"),
        ("https://id.example.org", "https://1.1.1.1/token"),
        ("https://id.example.org", "https://[2606:4700::1111]/token"),
        ("https://10.0.0.1", "https://10.0.0.1:8443/token"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9/token"),
        ("http://localhost:9", "http://127.0.0.1:7/token"),
        ("https://localhost:9", "https://10.0.0.1/token"),
    ],
)
async def test_what_an_issuer_may_name(issuer, address):
    assert await named_by(issuer, address).address("token_endpoint") == address
