"""What all pages share: headers, cookies, escaping, errors."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
import pytest
from eth_account import Account as Key

from auth.callers import Account
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import GITHUB, PagesPortal, open_pages

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}"
PAGES = ("/", "/signin", "/account", "/consent", "/signin?link=1", "/nothing-here", "/by-hand")


async def _open(browser: Browser, portal: PagesPortal, page: str) -> httpx2.Response:
    if page == "/consent":
        return await browser.get(f"/consent?request={portal.asked()}")
    if page == "/by-hand":
        return await browser.get(f"/signin/wallet?address={Key.create().address}&chain=1")
    return await browser.get(page)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("signed_in", [False, True])
async def test_every_page_is_locked_down(
    browser: Browser, portal: PagesPortal, page: str, signed_in: bool
) -> None:
    if signed_in:
        await browser.sign_in()
    shown = await _open(browser, portal, page)
    headers = shown.headers
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    if shown.status_code == 303:
        return
    policy = {
        directive.split()[0]: directive.split()[1:]
        for directive in headers["content-security-policy"].split(";")
    }
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
    assert policy["frame-ancestors"] == policy["base-uri"] == ["'none'"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert "camera=()" in headers["permissions-policy"]
    assert not re.search(r"\son\w+=|style=|javascript:|<style", shown.text), "Inline code."
    assert "<script>" not in shown.text
    for address in re.findall(r"(?:src|href|action)=\"([^\"]+)\"", shown.text):
        outside = not address.startswith(("/", "#"))
        assert not outside or address.startswith(
            ("https://modelcontextprotocol.io/", "cursor:", "vscode:")
        ), address


async def test_nothing_of_other_hosts_is_loaded(browser: Browser) -> None:
    page = (await browser.get("/")).text
    loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"([^\"]+)\"", page)
    assert loaded
    assert all(address.startswith("/assets/") for address in loaded)


# Cookies.


def _cookies(response: httpx2.Response) -> dict[str, Any]:
    jar: dict[str, Any] = {}
    for header in response.headers.get_list("set-cookie"):
        parsed = SimpleCookie(header)
        jar |= dict(parsed.items())
    return jar


async def test_cookies_by_https_stay_with_the_host(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, "https://portal.example.org") as portal:
        browser = browse(portal)
        shown = await browser.get("/signin")
        signed = await browser.sign(Key.create())
        cookies = _cookies(shown) | _cookies(signed)
        assert set(cookies) == {"__Host-porch_browser", "__Host-porch"}
        for cookie in cookies.values():
            assert cookie["httponly"]
            assert cookie["secure"]
            assert cookie["samesite"] == "lax"
            assert cookie["path"] == "/"
            assert not cookie["domain"]
        assert int(cookies["__Host-porch"]["max-age"]) == 7 * 86_400


async def test_cookies_of_a_portal_below_a_path_stay_there(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, "https://example.org/tools") as portal:
        browser = browse(portal, "https://example.org")
        shown = await browser.get("/signin")
        (cookie,) = _cookies(shown).values()
        assert cookie.key == "__Secure-porch_browser"
        assert cookie["path"] == "/tools"
        assert 'action="/tools/signin/wallet"' in shown.text
        assert 'href="/tools/assets/porch.css' in shown.text
        assert (await browser.get("/account")).headers["location"].startswith("/tools/signin")


async def test_cookies_on_this_machine(browser: Browser) -> None:
    await browser.get("/signin")
    signed = await browser.sign(Key.create())
    session = _cookies(signed)["porch_session"]
    assert session["httponly"]
    assert session["samesite"] == "lax"
    assert not session["secure"]
    assert len(session.value) >= 43


async def test_a_session_of_a_person_who_is_gone_is_none(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    (person,) = [person async for person in portal.stores.people.everyone()]
    await portal.stores.people.delete(person.id)
    assert (await browser.get("/account")).status_code == 303


@pytest.mark.parametrize("value", ["", "x", "é", "x" * 5000, "a\x7fb"])
async def test_a_strange_cookie_is_nobody(portal: PagesPortal, value: str) -> None:
    cookie = f"porch_session={value}; porch_browser={value}; porch_notice={value}"
    transport = httpx2.ASGITransport(app=portal.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as client:
        shown = await client.get("/", headers=[(b"cookie", cookie.encode())])
    assert shown.status_code == 200
    assert "Sign in" in shown.text


# What others wrote.


async def test_what_others_wrote_is_shown_and_not_run(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    (person,) = [person async for person in portal.stores.people.everyone()]
    for account in (
        Account.of_key("0x" + "11" * 20, EVIL),
        Account("github:9", "github", EVIL, EVIL, {"login": EVIL}),
        Account(f"oidc:https://id.example.org#{EVIL}", "oidc", EVIL, None, {"name": EVIL}),
    ):
        await portal.stores.people.link(person.id, account)
    await portal.connect_client(person.id, client_name=EVIL, client_uri=f"https://x/{EVIL}")
    browser.client.headers["user-agent"] = EVIL
    await browser.get("/account")
    await browser.submit("/account/tokens", {"name": EVIL[:50], "ceiling": "members", "days": "30"})
    sealed = portal.asked(client_name=EVIL, client_uri=f"javascript:{EVIL}", client_id="x")
    for page in ("/", "/account", f"/consent?request={sealed}", "/signin?link=1"):
        text = (await browser.get(page)).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "{{ 7*7 }}" in text or page != "/account"
        assert 'href="javascript' not in text
    assert "&lt;script&gt;" in (await browser.get("/account")).text


async def test_an_address_that_is_not_there_is_a_page(browser: Browser) -> None:
    page = await browser.get(f"/{EVIL}".replace("?", ""))
    assert page.status_code == 404
    assert "<script>alert" not in page.text
    assert "To the first page" in page.text


async def test_a_notice_is_shown_once(browser: Browser) -> None:
    await browser.sign_in()
    response = await browser.submit("/signout")
    assert "You are signed out." in (await browser.follow(response)).text
    assert "You are signed out." not in (await browser.get("/")).text


async def test_a_notice_that_was_made_up_is_not_shown(browser: Browser) -> None:
    browser.client.cookies.set("porch_notice", "gAAAAABmade-up", domain="127.0.0.1")
    assert (await browser.get("/")).status_code == 200


# Files.


async def test_files_are_kept_under_an_address_of_their_version(browser: Browser) -> None:
    page = (await browser.get("/")).text
    for address in re.findall(r"\"(/assets/[^\"]+)\"", page):
        file = await browser.get(address)
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        assert file.headers["x-content-type-options"] == "nosniff"
        old = await browser.get(address.partition("?")[0] + "?v=old")
        assert old.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["nothing.css", "..%2Fframe.py", "%2e%2e/frame.py", "porch.py"])
async def test_no_other_file_is_served(browser: Browser, name: str) -> None:
    assert (await browser.get(f"/assets/{name}")).status_code == 404


def test_everything_that_a_page_needs_is_in_the_package() -> None:
    from gateway.surfaces import pages

    folder = Path(pages.__file__).parent
    assert {path.suffix for path in (folder / "static").iterdir()} == {".css", ".js", ".svg"}
    assert (folder / "templates" / "base.html").exists()


async def test_people_are_called_what_their_accounts_say(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    (person,) = [person async for person in portal.stores.people.everyone()]
    await portal.stores.people.link(person.id, GITHUB)
    page = (await browser.get("/account")).text
    assert "You are <strong>octo-cat</strong>" in page
