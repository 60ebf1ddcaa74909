"""Attacks that a browser is made to help with: scripts, frames, other sites, other names."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from eth_account import Account as Key

from auth import Account
from tests.access.attacks import (
    BASE,
    Attacked,
    OAuthClient,
    attacked,
    elsewhere,
    person_of,
    register,
)
from tests.gateway.surfaces.pages.browser import NAVIGATES, Browser

# Frames, scripts and names.


async def pages_of(portal: Attacked, browser: Browser) -> dict[str, Any]:
    client = OAuthClient(portal, browser, portal.client(), (await register(portal)).client_id)
    return {
        "first": await browser.get("/"),
        "sign-in": await portal.browser().get("/signin"),
        "link": await browser.get("/signin?link=1&next=/account"),
        "account": await browser.get("/account"),
        "export": await browser.get("/account/export"),
        "consent": await client.consent(),
        "bad consent": await browser.get("/consent?request=x"),
        "forged form": await browser.post("/account/delete", {}),
        "wallet": await browser.get(f"/signin/wallet?chain=1&address=0x{'0' * 40}"),
        "unknown client": await browser.client.get("/authorize?client_id=x", headers=NAVIGATES),
        "redirection": await portal.browser().get("/account"),
    }


async def test_no_page_can_be_framed_sniffed_or_stored(portal: Attacked, alice: Browser) -> None:
    for name, page in (await pages_of(portal, alice)).items():
        headers = page.headers
        assert headers["cache-control"] == "no-store", name
        assert headers["x-content-type-options"] == "nosniff", name
        assert "access-control-allow-origin" not in headers, name
        if "text/html" in headers.get("content-type", ""):
            policy = headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy, name
            assert "default-src 'none'" in policy, name
            assert "base-uri 'none'" in policy, name
            assert "unsafe" not in policy, name
            assert headers["x-frame-options"] == "DENY", name
            assert headers["referrer-policy"] in {"same-origin", "no-referrer"}, name
            # Nothing that the policy would have to stop is there at all.
            assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+\s*=|javascript:", page.text), name


EVIL_NAME = "\"><script>alert(1)</script><img src=x onerror='alert(1)'>"


async def test_what_strangers_call_themselves_is_never_markup(portal: Attacked) -> None:
    """A client's name, a login, a claim, a wallet's name, a browser, a token: all are shown."""
    browser = portal.browser()
    browser.client.headers["user-agent"] = f"Mozilla/5.0 {EVIL_NAME} Firefox/1"
    await browser.sign_in()
    person = await person_of(portal, browser)
    assert person is not None
    claims = {"login": EVIL_NAME, "created_at": EVIL_NAME}
    for account in (
        Account("github:1", "github", EVIL_NAME, f"{EVIL_NAME}@example.org", claims),
        Account(f"oidc:https://id.example#{EVIL_NAME}", "oidc", None, None, {"name": EVIL_NAME}),
        Account("oidc:https://id.example#2", "oidc", EVIL_NAME, "x@example.org", {}),
        Account.of_key("0x00000000000000000000000000000000000A11cE", EVIL_NAME),
    ):
        await portal.who.accounts.link(person.id, account)
    await browser.get("/account")
    await browser.submit(
        "/account/tokens", {"name": EVIL_NAME[:60], "days": "30", "ceiling": "members"}
    )
    client = await register(portal, browser, client_name=EVIL_NAME)
    consent = await client.consent()
    await browser.submit("/consent", {"answer": "allow"})
    shown = [consent, await browser.get("/account"), await browser.get("/account")]
    shown += [await browser.get("/"), await browser.get("/signin?link=1")]
    assert sum("alert(1)" in page.text for page in shown) >= 2
    for page in shown:
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "onerror='" not in page.text
    export = await browser.get("/account/export")
    assert export.headers["content-type"] == "application/zip"
    assert "attachment" in export.headers["content-disposition"]


async def test_what_is_in_the_address_is_never_markup(portal: Attacked, alice: Browser) -> None:
    evil = quote(EVIL_NAME)
    for path in (
        f"/signin?next={evil}",
        f"/signin?next=/account?{evil}",
        f"/signin?next=/consent?request={evil}&link=1",
        f"/consent?request={evil}",
        f"/signin/wallet?address={evil}&chain={evil}",
        f"/signin/github/callback?state={evil}&code={evil}&error={evil}",
        f"/authorize?client_id={evil}&redirect_uri={evil}",
        f"/nothing/{evil}",
        f"/assets/{evil}",
    ):
        page = await alice.client.get(path, headers=NAVIGATES)
        if page.status_code == 303:
            page = await alice.follow(page)
        if "text/html" in page.headers.get("content-type", ""):
            assert "<script>alert" not in page.text, path
            assert "<img src=x" not in page.text, path


async def test_a_clients_name_cannot_pretend_to_be_a_part_of_the_page(portal: Attacked) -> None:
    name = "Your Bank\r\n\u202everified\u2066 \u200b\u00ad" + "x" * 500
    client = await register(portal, client_name=name)
    page = (await client.consent()).text
    assert "its name is unverified" in page
    assert not set(page) & set("\u202e\u2066\u200b\u00ad")
    assert "x" * 100 not in page


# Being led elsewhere.

EVIL_NEXT = [
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/%2f/evil.example",
    "/%5cevil.example",
    "%2f%2fevil.example",
    "https:evil.example",
    "https:/evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/account\r\nLocation: https://evil.example",
    "/account%0d%0aSet-Cookie:%20a=b",
    "/account@evil.example",
    ".evil.example",
    "@evil.example",
    "/..//evil.example",
    "/account/..//evil.example",
    "/account?x=1\\..\\..//evil.example",
    "/signin/../..//evil.example",
    "http://localhost@evil.example/account",
    "http://localhost.evil.example/account",
    "/account#//evil.example",
    "\u2215\u2215evil.example",
    "/\u2025/evil.example",
    " //evil.example",
    "/mcp",
    "/api/v1/garden/beds/north",
]


@pytest.mark.parametrize("number", range(len(EVIL_NEXT)))
@pytest.mark.parametrize("quoted", [True, False], ids=["quoted", "raw"])
async def test_a_sign_in_never_ends_at_another_site(
    portal: Attacked, number: int, quoted: bool
) -> None:
    evil = EVIL_NEXT[number]
    written = quote(evil, safe="" if quoted else "%/:@?=&.\\")
    browser = portal.browser()
    page = await browser.get(f"/signin?next={written}")
    assert page.status_code == 200
    answer = await browser.sign(Key.create())
    assert answer.status_code == 303
    assert not elsewhere(answer), answer.headers["location"]
    assert answer.headers.get_list("location") == [answer.headers["location"]]
    again = await browser.get(f"/signin?next={written}")  # now signed in: led on at once
    assert again.status_code == 303
    assert not elsewhere(again), again.headers["location"]
    assert "a=b" not in str(again.headers.get_list("set-cookie"))


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "//evil.example/..", "/\\evil.example/", "/%2fevil.example/", "/mcp//"],
)
async def test_no_slash_too_many_leads_to_another_site(portal: Attacked, path: str) -> None:
    client = portal.client()
    for each in (path, path + "signin/", "/signin/", "/account/"):
        request = client.build_request("GET", BASE)
        request.url = request.url.copy_with(raw_path=each.encode())
        assert not elsewhere(await client.send(request))


# Whoever asks by another name.


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "",
        "localhost, evil.example",
        "localhost:80:80",
        "localhost:x",
    ],
)
async def test_a_name_that_was_rebound_to_this_machine_reaches_no_page_and_no_oauth(
    portal: Attacked, host: str
) -> None:
    browser = portal.browser()
    for method, path in (
        ("GET", "/"),
        ("GET", "/signin"),
        ("GET", "/account"),
        ("GET", "/signin/wallet"),
        ("POST", "/signin/wallet"),
        ("GET", "/authorize"),
        ("POST", "/token"),
        ("POST", "/register"),
        ("POST", "/revoke"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/.well-known/oauth-protected-resource/mcp"),
        ("POST", "/mcp"),
        ("GET", "/api/v1/garden/beds/north"),
        ("GET", "/metrics"),
    ):
        answer = await browser.client.request(method, path, headers={"host": host})
        assert answer.status_code == 421, path
        assert "set-cookie" not in answer.headers
        assert "location" not in answer.headers


async def test_a_host_may_name_the_port_that_its_scheme_implies_and_no_other() -> None:
    async with attacked(base="https://porch.example") as portal:
        client = portal.browser().client
        for host, status in (
            ("porch.example:443", 200),
            ("PORCH.example:80", 200),
            ("porch.example:8443", 421),
            ("porch.example:", 421),
            ("porch.example:443:443", 421),
            ("evil.example:443", 421),
            (":443", 421),
        ):
            answer = await client.get("/signin", headers={"host": host})
            assert answer.status_code == status, host


async def test_the_host_header_cannot_change_what_a_public_portal_says_it_is() -> None:
    async with attacked(base="https://porch.example") as portal:
        client = portal.client()
        for headers in (
            {"host": "localhost:1234"},
            {"x-forwarded-host": "evil.example"},
            {"forwarded": "host=evil.example;proto=http"},
            {"x-forwarded-proto": "http", "x-original-host": "evil.example"},
        ):
            path = "/.well-known/oauth-authorization-server"
            said = (await client.get(path, headers=headers)).json()
            assert said["issuer"] == "https://porch.example"
            page = await client.get("/", headers={**headers, "accept": "text/html"})
            assert "evil.example" not in page.text
            assert "localhost:1234" not in page.text


async def test_a_session_with_somebody_elses_token_beside_it_is_refused(
    portal: Attacked, alice: Browser
) -> None:
    person = await person_of(portal, alice)
    assert person is not None
    other = await portal.person(Account.of_key("0x" + "1" * 40))
    for whose, status in ((person, 200), (other, 401)):
        token = await portal.api_token(whose)
        page = await alice.get("/account", authorization=f"Bearer {token}")
        assert page.status_code == status
    answer = await alice.get("/account", authorization="Bearer nobody's")
    assert answer.status_code == 401


async def test_pages_of_other_origins_read_nothing_of_a_person(
    portal: Attacked, alice: Browser
) -> None:
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        for path in ("/account", "/account/export", "/", "/mcp"):
            answer = await alice.client.get(path, headers={"origin": origin})
            assert answer.status_code == 403, path
            assert "access-control-allow-origin" not in answer.headers
