import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from auth.document_fetcher import Document, Fetcher, FetchFailed, FetchRefused
from auth.oauth import cimd
from auth.oauth.cimd import ClientDocuments
from auth.oauth.client_record import MAX_NAME_LENGTH, UnknownClient, shown_name
from tests.servers.tls_documents import TlsDocuments, document

URL = "https://client.example/client.json"
GOOD: dict[str, Any] = {
    "client_id": URL,
    "client_name": "Garden",
    "client_uri": "https://client.example/about",
    "redirect_uris": ["https://client.example/callback", "http://127.0.0.1/callback"],
    "grant_types": ["authorization_code"],
    "token_endpoint_auth_method": "none",
}


class Publisher:
    """What is published, without a network: counts how often it is asked for."""

    def __init__(self) -> None:
        self.content: dict[str, Any] | Exception = GOOD
        self.max_age: float | None = None
        self.asked = 0
        self.now = 1000.0

    async def fetch(self, url: str) -> Document:
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(self.content, Exception):
            raise self.content
        return Document({**self.content, "client_id": url}, self.max_age)


@pytest.fixture
def publisher() -> Publisher:
    return Publisher()


@pytest.fixture
def documents(publisher: Publisher) -> ClientDocuments:
    return ClientDocuments(publisher.fetch, clock=lambda: publisher.now)


@pytest.fixture
async def server() -> AsyncIterator[TlsDocuments]:
    async with TlsDocuments("client.example").serving() as server:
        yield server


async def test_a_document_over_real_tls_makes_a_client(server):
    url = server.url("/client.json")
    server.answers["/client.json"] = document({**GOOD, "client_id": url})
    fetcher = Fetcher([server.authority], tls=server.trusting, resolve=server.resolve)
    client = await ClientDocuments(fetcher.fetch).get(url)
    assert client.client_id == url
    assert client.name == "Garden"
    assert client.redirect_uris == tuple(GOOD["redirect_uris"])
    assert client.method == "none"
    assert client.secret is None


async def test_a_document_on_a_private_address_is_never_fetched(server):
    fetcher = Fetcher(tls=server.trusting, resolve=server.resolve)
    with pytest.raises(UnknownClient, match="public internet"):
        await ClientDocuments(fetcher.fetch).get(server.url("/client.json"))
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "https://client.example",
        "https://client.example/",
        "https://client.example/a/../b",
        "https://client.example/./b",
        "https://client.example/%2E%2e/b",
        "https://client.example/" + "a" * 1000,
        "https://[client.example/a",
    ],
)
async def test_an_address_that_cannot_be_a_client_id_is_not_fetched(documents, publisher, url):
    with pytest.raises(UnknownClient):
        await documents.get(url)
    assert publisher.asked == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"client_id": "https://other.example/client.json"}, "another client_id"),
        ({"client_id": URL + "/"}, "another client_id"),
        ({"client_id": None}, "another client_id"),
        ({"client_secret": "example"}, "secret"),
        ({"client_secret_expires_at": 0}, "secret"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "private_key_jwt"),
        ({"token_endpoint_auth_method": "client_secret_post"}, "token_endpoint_auth_method"),
        ({"redirect_uris": []}, "redirect_uris"),
        ({"redirect_uris": None}, "redirect_uris"),
        ({"redirect_uris": "https://client.example/callback"}, "redirect_uris"),
        ({"redirect_uris": ["http://client.example/", 5]}, "redirect_uris"),
        ({"redirect_uris": ["https://client.example/callback"] * 31}, "redirect_uris"),
    ],
)
def test_a_document_that_cannot_be_used_is_refused_with_the_reason(change, reason):
    with pytest.raises(UnknownClient, match=reason):
        cimd.read(URL, GOOD | change)


def test_redirects_that_cannot_be_used_here_are_left_out():
    mixed = ["https://client.example/callback", "http://192.168.1.1/", "javascript:x"]
    client = cimd.read(URL, GOOD | {"redirect_uris": mixed})
    assert client.redirect_uris == ("https://client.example/callback",)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("https://client.example/about", True),
        ("https://client.example", True),
        ("https://client.example.evil.example/", False),
        ("https://other.example/", False),
        ("javascript:alert(1)", False),
        (5, False),
    ],
)
def test_a_clients_page_is_shown_only_on_its_publishers_host(page, shown):
    assert cimd.read(URL, GOOD | {"client_uri": page}).uri == (page if shown else None)


def test_a_client_without_a_name_is_called_by_its_host():
    assert cimd.read(URL, GOOD | {"client_name": " \u200b"}).name == "client.example"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("  Garden \n Tools\t", "Garden Tools"),
        ("Gar\u202eden\u2066", "Garden"),
        ("Gar\x00den\x1b[31m", "Garden[31m"),
        ("Gar\u200bden\ufeff", "Garden"),
        ("Gar\u2028den\u00a0x", "Gar den x"),
        ("Ga\u0308rten", "Gärten"),
        ("x" * 200, "x" * MAX_NAME_LENGTH),
        ("", "?"),
        (None, "?"),
        (["Garden"], "?"),
    ],
)
def test_a_name_is_shown_on_one_line_without_what_cannot_be_seen(written, shown):
    assert shown_name(written, instead="?") == shown


@pytest.mark.parametrize(
    ("said", "kept"),
    [(None, 3600), (0, 300), (60, 300), (7200, 7200), (10**9, 24 * 3600)],
)
async def test_a_document_is_kept_as_long_as_its_publisher_says_within_bounds(
    documents, publisher, said, kept
):
    publisher.max_age = said
    await documents.get(URL)
    publisher.now += kept - 1
    await documents.get(URL)
    assert publisher.asked == 1
    publisher.now += 2
    await documents.get(URL)
    assert publisher.asked == 2


async def test_a_failure_is_remembered_for_a_moment(documents, publisher):
    publisher.content = FetchFailed("It did not answer.")
    for _ in range(3):
        with pytest.raises(UnknownClient, match="did not answer"):
            await documents.get(URL)
    assert publisher.asked == 1
    publisher.now += 31
    publisher.content = GOOD
    assert (await documents.get(URL)).name == "Garden"


async def test_an_address_is_fetched_once_however_many_ask_at_a_time(documents, publisher):
    clients = await asyncio.gather(*(documents.get(URL) for _ in range(100)))
    assert publisher.asked == 1
    assert len(set(clients)) == 1


async def test_who_stops_waiting_takes_nothing_from_the_others(documents, publisher):
    first, second = (asyncio.create_task(documents.get(URL)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).name == "Garden"
    assert publisher.asked == 1


async def test_a_publisher_that_is_silent_for_a_while_signs_nobody_out(documents, publisher):
    await documents.get(URL)
    publisher.now += 3601
    publisher.content = FetchFailed("It did not answer.")
    assert (await documents.get(URL)).name == "Garden"
    assert (await documents.get(URL)).name == "Garden"
    assert publisher.asked == 2
    publisher.now += cimd.MAX_STALE_S
    with pytest.raises(UnknownClient):
        await documents.get(URL)


@pytest.mark.parametrize(
    "now", [GOOD | {"redirect_uris": []}, FetchRefused("It is not found on the public internet.")]
)
async def test_a_document_that_is_taken_back_counts_no_more(documents, publisher, now):
    await documents.get(URL)
    publisher.now += 3601
    publisher.content = now
    with pytest.raises(UnknownClient):
        await documents.get(URL)


async def test_a_flood_of_addresses_takes_bounded_memory(documents, publisher):
    await documents.get(URL)
    publisher.content = FetchFailed("It did not answer.")
    for number in range(cimd.DOCUMENT_CACHE_SIZE + 500):
        with pytest.raises(UnknownClient):
            await documents.get(f"https://flood.example/{number}")
    assert len(documents._failed) == cimd.DOCUMENT_CACHE_SIZE
    asked = publisher.asked
    assert (await documents.get(URL)).name == "Garden"
    assert publisher.asked == asked
    publisher.content = GOOD
    for number in range(cimd.DOCUMENT_CACHE_SIZE + 500):
        await documents.get(f"https://other.example/{number}")
    assert len(documents._kept) == cimd.DOCUMENT_CACHE_SIZE
    assert documents._fetching == {}
