"""Attacks by a client's id: making the portal send requests where only it can (SSRF)."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from auth import document_fetcher as fetching
from tests.access.attacks import REDIRECT, Attacked, attacked
from tests.gateway.surfaces.oauth.surface import pkce
from tests.servers.tls_documents import TlsDocuments, document, reply

NAME = "client.test"


@pytest.fixture
async def inside(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TlsDocuments]:
    """A server on a private address, whose certificate the portal trusts; nobody may reach it."""
    async with TlsDocuments(NAME).serving() as server:

        async def trusting() -> Any:
            return server.trusting

        monkeypatch.setattr(fetching, "system_tls", trusting)
        yield server


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """What each name resolves to, one list for each time that it is asked for.

    Addresses resolve to themselves; a name that is not here has no address.
    """
    found: dict[str, list[list[str]]] = {}
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name not in found:
            return real(host, port, *args, **kwargs)
        answers = found[name]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [each for one in addresses for each in real(one, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return found


async def asked(portal: Attacked, client_id: str) -> httpx2.Response:
    """Ask for an authorization in the name of a client."""
    return await portal.client().get(
        "/authorize",
        params={
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": REDIRECT,
            "code_challenge": pkce()[1],
            "code_challenge_method": "S256",
        },
    )


PRIVATE = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fe80::1%25lo]",
    "[fc00::1]",
    "[0:0:0:0:0:0:0:1]",
    "user@127.0.0.1",
    "client.example@127.0.0.1",
    "client.example:443@127.0.0.1",
    "127.0.0.1\\@client.example",
    "127.0.0.1#@client.example",
]


@pytest.mark.parametrize("number", range(len(PRIVATE)))
async def test_a_clients_id_makes_the_portal_ask_nobody_on_a_private_address(
    inside: TlsDocuments, number: int
) -> None:
    host = PRIVATE[number]
    inside.answers["/client.json"] = document({"client_id": "x", "redirect_uris": [REDIRECT]})
    async with attacked() as portal:
        for url in (f"https://{host}:{inside.port}/client.json", f"https://{host}/client.json"):
            answer = await asked(portal, url)
            assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert inside.requests == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["192.168.1.1"],
        ["169.254.169.254"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
    ],
    ids=str,
)
async def test_a_name_that_leads_to_a_private_address_is_not_asked(
    inside: TlsDocuments, names: dict[str, list[list[str]]], addresses: list[str]
) -> None:
    """One private address among public ones is enough to refuse the name."""
    names[NAME] = [addresses]
    async with attacked() as portal:
        answer = await asked(portal, inside.url("/client.json"))
    assert answer.status_code == 400
    assert inside.requests == []


async def test_a_name_is_looked_up_once_so_that_it_cannot_be_rebound(
    inside: TlsDocuments, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was checked is what is connected to: the second answer is never asked for."""
    connected: list[str] = []

    async def get(self: Any, url: Any, address: str, tls: Any) -> Any:
        connected.append(address)
        raise httpx2.ConnectError("Not reached in a test.")

    monkeypatch.setattr(fetching.Fetcher, "_get", get)
    names[NAME] = [["93.184.216.34"], ["127.0.0.1"]]
    async with attacked() as portal:
        assert (await asked(portal, inside.url("/client.json"))).status_code == 400
    assert connected == ["93.184.216.34"]
    assert names[NAME] == [["127.0.0.1"]]


async def test_a_name_that_may_be_private_is_connected_to_where_it_was_looked_up(
    inside: TlsDocuments, names: dict[str, list[list[str]]]
) -> None:
    """The same by a real connection: after the one look-up the name leads nowhere."""
    url = inside.url("/client.json")
    inside.answers["/client.json"] = document({"client_id": url, "redirect_uris": [REDIRECT]})
    names[NAME] = [["127.0.0.1"], ["192.0.2.1"]]
    async with attacked(sign_in={"private_hosts": [inside.authority]}) as portal:
        answer = await asked(portal, url)
        assert answer.status_code == 302
        assert names[NAME] == [["192.0.2.1"]]
    assert len(inside.requests) == 1
    assert "cookie" not in inside.requests[0].lower()
    assert "authorization" not in inside.requests[0].lower()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 T", "308 P"])
async def test_a_redirection_to_a_private_address_is_not_followed(
    inside: TlsDocuments, names: dict[str, list[list[str]]], status: str
) -> None:
    names[NAME] = [["127.0.0.1"]]
    url = inside.url("/client.json")
    good = document({"client_id": url, "redirect_uris": [REDIRECT]})
    inside.answers["/inside.json"] = good
    for target in (f"https://127.0.0.1:{inside.port}/inside.json", "/inside.json"):
        inside.answers["/client.json"] = reply(b"{}", f"Location: {target}", status=status)
        async with attacked(sign_in={"private_hosts": [inside.authority]}) as portal:
            assert (await asked(portal, url)).status_code == 400
    assert not [head for head in inside.requests if "/inside.json" in head]


async def test_nothing_of_what_answers_is_repeated_and_refusals_look_alike(
    inside: TlsDocuments, names: dict[str, list[list[str]]]
) -> None:
    """Nobody learns by a client's id what is in the portal's network."""
    names["private.test"], names["absent.test"] = [["10.0.0.1"]], [["127.0.0.1"]]
    texts = set()
    async with attacked() as portal:
        for host in ("private.test", "absent.test", "nowhere.invalid"):
            text = (await asked(portal, f"https://{host}/client.json")).text
            texts.add(text.replace(host, "HOST"))
    assert len(texts) == 1
    names[NAME] = [["127.0.0.1"]]
    inside.answers["/client.json"] = document({"client_id": "x", "secret": "swordfish"})
    async with attacked(sign_in={"private_hosts": [inside.authority]}) as portal:
        assert "swordfish" not in (await asked(portal, inside.url("/client.json"))).text


@pytest.mark.parametrize("path", ["/token", "/revoke"])
async def test_no_one_makes_the_portal_fetch_without_end_by_asking_for_tokens(
    inside: TlsDocuments, names: dict[str, list[list[str]]], path: str
) -> None:
    """Each new id is a request of the portal's to somebody; one peer may cause only so many."""
    names[NAME] = [["127.0.0.1"]]
    form = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x"}
    async with attacked(sign_in={"private_hosts": [inside.authority]}) as portal:
        client = portal.client()
        statuses = []
        for number in range(80):
            url = inside.url(f"/client.json?{number}")
            answer = await client.post(path, data={**form, "client_id": url})
            statuses.append(answer.status_code)
        assert statuses[-1] == 429
        assert len(inside.requests) <= 60
        known = await portal.client("192.0.2.99").post(path, data={**form, "client_id": "x"})
        assert known.status_code in {400, 401}
