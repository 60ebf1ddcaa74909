"""Attacks by quantity: many requests, and large ones, from people who have proved nothing."""

from __future__ import annotations

import asyncio
import gc
import resource
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from tests.access.attacks import (
    BASE,
    REDIRECT,
    TOKEN_NAMES,
    Attacked,
    OAuthClient,
    register,
)
from tests.gateway.surfaces.oauth.surface import pkce
from tests.gateway.surfaces.pages.browser import NAVIGATES, forms

FLOOD = 10_000
MOST_MEMORY = 24 * 1024 * 1024
"""Bytes by which ten thousand strangers may make the process grow: limiters and short caches."""
HTML = {"accept": "text/html"}


def memory() -> int:
    """Bytes that the process has in memory now."""
    gc.collect()
    with open("/proc/self/statm") as file:  # noqa: PTH123 (a line of the kernel's)
        return int(file.read().split()[1]) * resource.getpagesize()


Stranger = Callable[[httpx2.AsyncClient, int], Awaitable[httpx2.Response]]


async def wants_nonce(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    address = f"0x{number:040x}"
    headers = {"accept": "application/json"}
    params = {"chain": "1", "address": address}
    return await client.get("/signin/wallet", params=params, headers=headers)


async def registers(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    redirect = f"https://client{number}.example/callback"
    asked = {"client_name": "x" * 50, "redirect_uris": [redirect]}
    return await client.post("/register", json=asked)


async def authorizes(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    params = {"client_id": f"unknown-{number}", "redirect_uri": REDIRECT, "state": "x" * 500}
    return await client.get("/authorize", params=params, headers=HTML)


async def asks_for_tokens(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    form = {"grant_type": "refresh_token", "refresh_token": f"x{number}", "client_id": f"c{number}"}
    return await client.post("/token", data=form)


async def comes_back(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    return await client.get(f"/signin/github/callback?state=x{number}&code=x{number}")


async def guesses(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    headers = {"authorization": f"Bearer porch_{number:043d}"}
    return await client.post("/mcp", json={}, headers=headers)


async def looks(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
    cookies = {"cookie": f"porch_session={number:043d}; porch_browser={number:043d}"}
    return await client.get("/signin", headers={**HTML, **cookies})


LIMITED: dict[str, Stranger] = {
    "nonces": wants_nonce,
    "clients": registers,
    "authorizations": authorizes,
    "tokens": asks_for_tokens,
    "answers of providers": comes_back,
}
UNLIMITED: dict[str, Stranger] = {"guessed tokens": guesses, "guessed sessions": looks}


async def flood(
    portal: Attacked, stranger: Stranger, peers: int, times: int
) -> list[httpx2.Response]:
    """So many requests from so many addresses; the answers to the last of each address."""
    clients = [portal.client(f"198.51.{n // 250}.{n % 250 + 1}") for n in range(peers)]
    last: list[httpx2.Response] = []

    async def one(number: int, client: httpx2.AsyncClient) -> None:
        for again in range(times // peers):
            answer = await stranger(client, number * times + again)
            assert answer.status_code < 500, answer.text
            client.cookies.clear()
        last.append(answer)

    await asyncio.gather(*(one(number, client) for number, client in enumerate(clients)))
    return last


@pytest.mark.heavy
@pytest.mark.timeout(900)
async def test_ten_thousand_strangers_take_no_row_and_little_memory_and_nobodys_turn(
    portal: Attacked,
) -> None:
    client = await register(portal)
    tokens = await client.tokens()
    for stranger in (LIMITED | UNLIMITED).values():  # what is loaded once is no growth
        await flood(portal, stranger, 2, 130)
    before, held = await portal.rows(), memory()
    each = FLOOD // len(LIMITED | UNLIMITED) + 1
    for stranger in (LIMITED | UNLIMITED).values():
        await flood(portal, stranger, 12, each)
    assert await portal.rows() == before
    assert memory() - held < MOST_MEMORY
    # Everybody else goes on: with a token, in a browser, and as a new client.
    assert await portal.tier(tokens["access_token"]) == "members"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200
    other = await register(portal)
    assert (await other.consent()).status_code == 200


@pytest.mark.parametrize("what", LIMITED)
async def test_one_stranger_who_asks_too_often_is_told_to_wait_and_the_next_is_not(
    portal: Attacked, what: str
) -> None:
    (last,) = await flood(portal, LIMITED[what], 1, 70)
    assert last.status_code == 429
    assert 1 <= int(last.headers["retry-after"]) <= 600
    other = await LIMITED[what](portal.client("203.0.113.9"), 1)
    assert other.status_code < 429


@pytest.mark.parametrize("what", LIMITED | UNLIMITED)
async def test_a_stranger_leaves_nothing_behind(portal: Attacked, what: str) -> None:
    before = await portal.rows()
    await flood(portal, (LIMITED | UNLIMITED)[what], 4, 40)
    assert await portal.rows() == before


async def test_a_person_cannot_fill_the_memory_with_the_paths_that_they_use_a_token_at(
    portal: Attacked,
) -> None:
    token = await portal.api_token(await portal.person())
    headers = [(b"authorization", f"Bearer {token}".encode())]
    for number in range(300):
        await portal.who.authenticator.caller(headers, f"/{number}" + "x" * 60_000)
    kept = portal.who.authenticator._known
    assert len(kept) >= 300
    assert max(len(part) for key in kept for part in key) < 1000


async def test_a_person_has_no_more_tokens_than_may_be(portal: Attacked) -> None:
    browser = portal.browser()
    await browser.sign_in()
    for _ in range(25):
        await browser.get("/account")
        await browser.submit("/account/tokens", {"name": "x", "days": "30", "ceiling": "members"})
    assert (await portal.rows())["porch_api_tokens"] == 20


# Large things.

MIB = 1024 * 1024
NAMES = [
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "scope",
    "resource",
    "code_challenge",
    "code_challenge_method",
    "anything",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["GET", "POST"])
async def test_an_authorization_with_a_megabyte_in_it_is_refused(
    portal: Attacked, name: str, how: str
) -> None:
    client = await register(portal, portal.browser())
    if how == "GET":  # servers take no larger address
        answer = await client.http.get("/authorize", params=client.asked(**{name: "x" * 60_000}))
    else:
        answer = await client.http.post("/authorize", data=client.asked(**{name: "x" * MIB}))
    assert 400 <= answer.status_code < 500
    assert "location" not in answer.headers
    assert len(answer.content) < 10_000


@pytest.mark.parametrize(
    "name",
    TOKEN_NAMES,
)
@pytest.mark.parametrize("path", ["/token", "/revoke"])
@pytest.mark.parametrize("size", [5000, 50_000, MIB])
async def test_a_token_request_with_something_large_in_it_is_refused(
    portal: Attacked, path: str, name: str, size: int
) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x", "token": "x"}
    answer = await portal.client().post(path, data={**form, name: "x" * size})
    assert 400 <= answer.status_code < 500
    assert len(answer.content) < 10_000


@pytest.mark.parametrize(
    "metadata",
    [
        {"client_name": "x" * MIB},
        {"client_name": "x" * 60_000},
        {"redirect_uris": [REDIRECT + "x" * 5000]},
        {"redirect_uris": [f"{REDIRECT}{n}" for n in range(1000)]},
        {"anything": ["x"] * 10_000},
        {"jwks": {"keys": [{}] * 5000}},
        {"scope": "x " * 20_000},
    ],
    ids=range(7),
)
async def test_a_large_registration_is_refused_or_kept_small(
    portal: Attacked, metadata: dict[str, object]
) -> None:
    asked = {"redirect_uris": [REDIRECT], **metadata}
    answer = await portal.client().post("/register", json=asked)
    assert answer.status_code in {201, 400, 413}
    assert len(answer.content) < 10_000


@pytest.mark.parametrize("path", ["/register", "/token", "/mcp", "/signout"])
async def test_a_declared_length_that_no_number_has_is_refused(portal: Attacked, path: str) -> None:
    kind = "application/json" if path == "/mcp" else "application/x-www-form-urlencoded"
    headers = {"content-type": kind, "content-length": "9" * 5000, "origin": BASE}
    answer = await portal.client().post(path, content=b"x", headers=headers)
    assert answer.status_code == 413


async def test_a_deeply_nested_registration_is_refused(portal: Attacked) -> None:
    for content in (b"[" * 30_000, b'{"client_name":' * 4000 + b"1" + b"}" * 4000):
        answer = await portal.client().post("/register", content=content)
        assert answer.status_code == 400


@pytest.mark.parametrize("size", [3000, 20_000])
async def test_large_values_on_the_pages_are_refused_or_left_out(
    portal: Attacked, size: int
) -> None:
    browser, large = portal.browser(), "x" * size
    await browser.sign_in()
    stranger = portal.browser()
    for path in (
        f"/signin?next={large}",
        f"/signin?next=/account?{large}",
        f"/signin?next=/consent?request={large}&link={large}",
        f"/consent?request={large}",
        f"/signin/wallet?chain={large}&address={large}",
        f"/signin/github/callback?state={large}&code={large}&error={large}",
        f"/signin/oidc/provider/callback?state={large}&iss={large}",
        f"/assets/{large}",
        f"/{large}",
    ):
        for each in (browser, stranger):
            answer = await each.client.get(path, headers=NAVIGATES)
            assert answer.status_code < 500, path[:60]
            # What a server or browser would not take is not sent back either.
            assert sum(len(name) + len(value) for name, value in answer.headers.raw) < 64_000 + size
    page = await browser.get("/account")
    staying = [form for form in forms(page.text) if "sign" not in form.action]
    assert {form.action for form in staying} >= {"/account/tokens", "/account/delete"}
    for form in staying:
        for name in ("name", "id", "subject", "word", "tool", "csrf", "days", "ceiling"):
            for value in (large, "x" * MIB):
                answer = await browser.post(form.action, {**form.fields, name: value})
                assert answer.status_code in {303, 400, 403, 413}, form.action
    assert (await portal.rows())["porch_api_tokens"] == 0


async def test_a_sign_in_form_with_large_fields_is_refused(portal: Attacked) -> None:
    browser = portal.browser()
    for size in (3000, 60_000, MIB):
        for name in ("message", "signature", "next", "link", "csrf", "request"):
            await browser.get("/signin")
            answer = await browser.submit("/signin/wallet", {name: "x" * size})
            assert answer.status_code in {303, 403, 413}
            await browser.get("/signin")
            answer = await browser.submit("/signin/oidc/provider", {name: "x" * size})
            assert answer.status_code in {303, 403, 413}


async def test_large_and_many_cookies_sign_nobody_in_and_break_nothing(portal: Attacked) -> None:
    client = portal.client()
    names = ["porch_session", "porch_browser", "porch_begun", "porch_begun1", "porch_notice"]
    for value in ("x" * MIB, "x" * 3000, "é" * 300, '"', "a=b=c", ";" * 100, "gAAAAA" + "A" * 500):
        for name in names:
            cookie = f"{name}={value}".encode("latin-1")
            for path in ("/", "/signin", "/account", "/signin/github/callback"):
                answer = await client.get(path, headers=[(b"cookie", cookie)])
                assert answer.status_code in {200, 303, 429}
    many = "; ".join(f"c{n}=x" for n in range(5000))
    assert (await client.get("/", headers={"cookie": many})).status_code == 200


async def test_a_large_token_is_refused_at_once(portal: Attacked) -> None:
    for token in ("x" * MIB, "a." * 50_000, f"{'e30' * 9000}.{'e30' * 9000}.x"):
        assert await portal.tier(token) == "refused"
        headers = {"cf-access-jwt-assertion": token}
        assert await portal.tier(headers=headers) == "open"


async def test_a_message_that_is_slow_to_read_is_not_read_slowly(portal: Attacked) -> None:
    """What is longer than any message of ours is refused before it is parsed."""
    browser = portal.browser()
    await browser.get("/signin")
    evil = f"{BASE} wants you to sign in with your Ethereum account:\n" * 400
    answer = await browser.submit("/signin/wallet", {"message": evil, "signature": "0x00"})
    assert answer.headers["location"].startswith("/signin?")


async def test_a_code_challenge_of_anothers_is_of_no_use(portal: Attacked) -> None:
    """A client that guesses codes has 256 bits to guess, and 60 guesses a minute."""
    client = OAuthClient(portal, portal.browser(), portal.client(), "unknown")
    client.verifier = pkce()[0]
    answers = [await client.exchange(f"code-{n}") for n in range(65)]
    assert {each.status_code for each in answers[:60]} <= {400, 401}
    assert {each.status_code for each in answers[61:]} == {429}
