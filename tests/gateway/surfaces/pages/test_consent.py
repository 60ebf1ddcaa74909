"""The consent page."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import pytest
from eth_account import Account as Key

from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import PagesPortal


async def _grants(portal: PagesPortal) -> int:
    people = [person async for person in portal.stores.people.everyone()]
    return sum([len(await portal.stores.grants.of(each.id, ended=True)) for each in people])


async def test_it_names_the_client_and_where_the_answer_goes(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    page = (await browser.get(f"/consent?request={portal.asked()}")).text
    assert "Allow “Example Client” to use The Commons for you?" in page
    assert '<dd class="host">127.0.0.1:7777</dd>' in page
    assert "A program on your own computer" in page
    assert "<strong>client.example.org</strong> publishes its description" in page
    assert "http://127.0.0.1:8321/mcp" in page


async def test_a_client_that_registered_itself_is_called_unverified(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    sealed = portal.asked(client_id="opaque", redirect_uri="https://www.example.net/cb")
    page = (await browser.get(f"/consent?request={sealed}")).text
    assert "its name is unverified" in page
    assert "A site on the web" in page
    assert '<dd class="host">www.example.net</dd>' in page


async def test_whoever_is_not_signed_in_signs_in_first_and_comes_back(
    browser: Browser, portal: PagesPortal
) -> None:
    address = f"/consent?request={portal.asked()}"
    response = await browser.get(address)
    assert response.status_code == 303
    assert response.headers["location"] == f"/signin?next={quote(address, safe='')}"
    page = await browser.follow(response)
    assert "A client asks to use The Commons for you" in page.text
    await browser.sign_in(next_page=quote(address, safe=""))
    assert browser.page is not None
    assert "Allow “Example Client”" in browser.page.text


async def test_allowing_sends_a_code_to_the_client(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    await browser.get(f"/consent?request={portal.asked()}")
    response = await browser.submit("/consent", {"answer": "allow"})
    assert response.status_code == 303
    url = urlsplit(response.headers["location"])
    assert (url.netloc, url.path) == ("127.0.0.1:7777", "/callback")
    answer = parse_qs(url.query)
    assert answer["state"] == ["the-state"]
    assert answer["iss"] == ["http://127.0.0.1:8321"]
    assert len(answer["code"][0]) > 40
    assert await _grants(portal) == 1


@pytest.mark.parametrize("answer", ["deny", "", "ALLOW"])
async def test_anything_else_denies(browser: Browser, portal: PagesPortal, answer: str) -> None:
    await browser.sign_in()
    await browser.get(f"/consent?request={portal.asked()}")
    response = await browser.submit("/consent", {"answer": answer})
    query = parse_qs(urlsplit(response.headers["location"]).query)
    assert query["error"] == ["access_denied"]
    assert query["state"] == ["the-state"]
    assert await _grants(portal) == 0


async def test_a_request_that_was_changed_is_refused(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    sealed = portal.asked()
    for tampered in ("", "x", sealed[:-1], "A" + sealed[1:], sealed.partition(".")[0]):
        page = await browser.get(f"/consent?request={tampered}")
        assert page.status_code == 400
        assert "Begin again in your client" in page.text


async def test_a_form_answers_only_the_request_that_was_shown(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    await browser.get(f"/consent?request={portal.asked()}")
    other = portal.asked(client_name="Evil", redirect_uri="https://evil.example/cb")
    refused = await browser.submit("/consent", {"answer": "allow", "request": other})
    assert refused.status_code == 403
    assert await _grants(portal) == 0


async def test_a_form_of_one_session_does_not_count_in_another(
    browser: Browser, portal: PagesPortal, browse: Opening
) -> None:
    await browser.sign_in()
    await browser.get(f"/consent?request={portal.asked()}")
    victim = browse(portal)
    await victim.sign_in()
    victim.page = browser.page
    refused = await victim.submit("/consent", {"answer": "allow"})
    assert refused.status_code == 403
    assert await _grants(portal) == 0


async def test_nobody_answers_for_a_stranger(browser: Browser, portal: PagesPortal) -> None:
    key = await browser.sign_in()
    assert key
    await browser.get(f"/consent?request={portal.asked()}")
    browser.client.cookies.delete("porch_session")
    refused = await browser.submit("/consent", {"answer": "allow"})
    assert refused.status_code == 403
    assert await _grants(portal) == 0


@pytest.mark.parametrize(
    ("redirect_uri", "targets"),
    [
        ("https://app.example.net/cb", "'self' https:"),
        ("http://127.0.0.1:7777/callback", "'self' https: http://127.0.0.1:*"),
        ("http://localhost/callback", "'self' https: http://localhost:*"),
        ("http://[::1]:7777/callback", "'self' https: http:"),
        ("cursor://anysphere.cursor/oauth", "'self' https: cursor:"),
    ],
)
async def test_the_policy_lets_the_answer_through(
    browser: Browser, portal: PagesPortal, redirect_uri: str, targets: str
) -> None:
    await browser.sign_in()
    page = await browser.get(f"/consent?request={portal.asked(redirect_uri=redirect_uri)}")
    policy = page.headers["content-security-policy"]
    assert policy.endswith(f"form-action {targets}")
    assert "frame-ancestors 'none'" in policy


async def test_an_app_on_the_device_is_called_one(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    sealed = portal.asked(redirect_uri="cursor://anysphere.cursor/oauth", client_id="opaque")
    page = (await browser.get(f"/consent?request={sealed}")).text
    assert '<dd class="host">cursor</dd>' in page
    assert "An app on your device" in page


async def test_somebody_else_signs_in_and_answers_the_same_request(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    address = f"/consent?request={portal.asked()}"
    page = await browser.get(address)
    assert "Not you?" in page.text
    first = page.text.partition("<dt>As</dt>")[2].partition("<form")[0]
    out = await browser.submit("/signout", number=1)
    assert (out.status_code, out.headers["location"]) == (303, address)
    page = await browser.follow(out)
    assert "You are signed out." in page.text
    assert "A client asks to use The Commons for you" in page.text
    await browser.follow(await browser.sign(Key.create()))
    assert browser.page is not None
    assert "Allow “Example Client”" in browser.page.text
    assert browser.page.text.partition("<dt>As</dt>")[2].partition("<form")[0] != first
    answer = await browser.submit("/consent", {"answer": "allow"})
    assert "code=" in answer.headers["location"]


@pytest.mark.parametrize(
    "following", ["https://evil.example/", "//evil.example", "/signout", "javascript:alert(1)", ""]
)
async def test_signing_out_leads_to_none_but_our_pages(
    browser: Browser, portal: PagesPortal, following: str
) -> None:
    await browser.sign_in()
    await browser.get(f"/consent?request={portal.asked()}")
    out = await browser.submit("/signout", {"next": following}, number=1)
    assert out.headers["location"] == "/"
