"""Signing in on the pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from eth_account import Account as Key
from eth_account.messages import encode_defunct

from auth.sign_in.oidc import OidcSignIn
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import PagesPortal, open_pages
from tests.servers.identity_provider import IdentityProvider

BEGIN = "/signin/oidc/example"


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
async def with_oidc(tmp_path: Path, provider: IdentityProvider) -> AsyncIterator[PagesPortal]:
    provider.approves = "ana"
    sign_in = OidcSignIn("Example ID", provider.issuer, "portal", "the-secret")
    config = {"oidc": [{"name": "Example ID", "issuer": provider.issuer, "client_id": "portal"}]}
    async with open_pages(tmp_path, redirects={"oidc/example": sign_in}, sign_in=config) as portal:
        yield portal


async def _answer_of(address: str) -> str:
    """Go to the provider, which approves, and take the address that it sends the browser to."""
    async with httpx2.AsyncClient() as client:
        answer = await client.get(address)
    assert answer.status_code == 302
    return answer.headers["location"]


async def _through(browser: Browser, page: str = "/signin") -> httpx2.Response:
    """Sign in with the provider; the portal's answer to its answer."""
    await browser.get(page)
    begun = await browser.submit(BEGIN)
    assert begun.status_code == 303
    return await browser.get(await _answer_of(begun.headers["location"]))


# With a wallet.


async def test_a_wallet_signs_a_person_in(browser: Browser, portal: PagesPortal) -> None:
    key = await browser.sign_in()
    assert browser.page is not None
    assert browser.page.status_code == 200
    assert key.address in browser.page.text
    (person,) = [person async for person in portal.stores.people.everyone()]
    assert person.accounts[0].subject == f"wallet:{key.address}"
    assert portal.tried == [("wallet", "signed_in")]


async def test_a_wallet_can_sign_by_hand_and_without_scripts(browser: Browser) -> None:
    key = Key.create()
    page = await browser.get("/signin?next=/account")
    assert "Scripts are turned off" in page.text
    asked = next(f for f in forms(page.text) if f.action == "/signin/wallet" and f.method == "get")
    query = f"?next={asked.fields['next']}&address={key.address}&chain=10"
    page = await browser.get(f"/signin/wallet{query}")
    assert "Sign the message" in page.text
    message = forms(page.text)[-1].fields["message"]
    assert message.startswith("127.0.0.1:8321 wants you to sign in")
    signed = key.sign_message(encode_defunct(text=message)).signature.hex()
    fields = {"message": message.replace("\n", "\r\n"), "signature": f" 0x{signed}\n"}
    page = await browser.follow(await browser.submit("/signin/wallet", fields, number=-1))
    assert "Your account" in page.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("address=0x12&chain=1", "no Ethereum address"),
        ("address=0x" + "11" * 20 + "&chain=999", "chain"),
        ("address=0x" + "11" * 20 + "&chain=1e3", "must be a number"),
        ("address=0x" + "11" * 20 + "&chain=%C2%B2", "must be a number"),
        ("", "must be a number"),
    ],
)
async def test_what_cannot_sign_in_is_said_in_words(
    browser: Browser, query: str, words: str
) -> None:
    await browser.get("/signin")
    page = await browser.follow(await browser.get(f"/signin/wallet?{query}"))
    assert words in page.text
    answer = await browser.client.get(
        f"/signin/wallet?{query}", headers={"accept": "application/json"}
    )
    assert answer.status_code == 400
    assert words in answer.json()["error"]


async def test_a_signature_of_another_wallet_signs_nobody_in(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.get("/signin?next=/account")
    other = Key.create()
    signed = other.sign_message(encode_defunct(text="Hello")).signature.hex()
    response = await browser.sign(Key.create(), signature="0x" + signed)
    page = await browser.follow(response)
    assert urlsplit(str(page.url)).path == "/signin"
    assert 'role="alert"' in page.text
    assert browser.client.cookies.get("porch_session") is None
    assert portal.tried == [("wallet", "refused")]


async def test_a_message_signs_in_once(browser: Browser, browse: Opening) -> None:
    key = Key.create()
    await browser.get("/signin")
    kept: dict[str, Any] = {}
    post = browser.post

    async def watched(path: str, fields: Any, headers: Any = None) -> httpx2.Response:
        kept.update(fields)
        return await post(path, fields, headers)

    browser.post = watched  # type: ignore[method-assign]
    await browser.follow(await browser.sign(key))
    browser.client.cookies.delete("porch_session")
    await browser.get("/signin")
    again = {"message": kept["message"], "signature": kept["signature"]}
    page = await browser.follow(await browser.submit("/signin/wallet", again))
    assert "has signed somebody in already" in page.text


async def test_the_message_of_another_browser_signs_nobody_in(
    portal: PagesPortal, browse: Opening
) -> None:
    mine, theirs, key = browse(portal), browse(portal), Key.create()
    await mine.get("/signin")
    await theirs.get("/signin")
    asked = await theirs.client.get(
        f"/signin/wallet?address={key.address}&chain=1", headers={"accept": "application/json"}
    )
    message = asked.json()["message"]
    signature = "0x" + key.sign_message(encode_defunct(text=message)).signature.hex()
    response = await mine.submit("/signin/wallet", {"message": message, "signature": signature})
    page = await mine.follow(response)
    assert urlsplit(str(page.url)).path == "/signin"
    assert mine.client.cookies.get("porch_session") is None


async def test_a_portal_without_wallets_has_no_way_for_them(
    tmp_path: Path, browse: Opening
) -> None:
    async with open_pages(tmp_path, sign_in={"wallet": {"enabled": False}}) as portal:
        browser = browse(portal)
        page = await browser.get("/signin")
        assert "With a wallet" not in page.text
        assert "No way to sign in is set up" in page.text
        assert (await browser.get("/signin/wallet")).status_code == 404


# Elsewhere.


async def test_attempts_by_a_provider_are_counted(
    with_oidc: PagesPortal, browse: Opening, provider: IdentityProvider
) -> None:
    await _through(browse(with_oidc))
    stranger = browse(with_oidc)
    await stranger.get("/signin/oidc/example/callback?code=made-up&state=made-up")
    assert with_oidc.tried == [("oidc", "signed_in"), ("oidc", "refused")]


async def test_a_provider_signs_a_person_in(with_oidc: PagesPortal, browse: Opening) -> None:
    browser = browse(with_oidc)
    page = await browser.follow(await _through(browser, "/signin?next=/account"))
    assert "ana@example.org" in page.text
    assert not [name for name in browser.client.cookies if "begun" in name]


async def test_the_button_leads_where_the_policy_lets_it(
    with_oidc: PagesPortal, browse: Opening, provider: IdentityProvider
) -> None:
    page = await browse(with_oidc).get("/signin")
    policy = page.headers["content-security-policy"]
    assert f"form-action 'self' https: {provider.issuer}" in policy


async def test_someone_who_declines_is_told_so(
    with_oidc: PagesPortal, browse: Opening, provider: IdentityProvider
) -> None:
    provider.approves = "nobody"
    browser = browse(with_oidc)
    page = await browser.follow(await _through(browser))
    assert "You did not agree to sign in with Example ID" in page.text
    assert browser.client.cookies.get("porch_session") is None


async def test_a_provider_that_is_down_is_named(tmp_path: Path, browse: Opening) -> None:
    nobody = OidcSignIn("Example ID", "http://127.0.0.1:9", "portal")
    async with open_pages(tmp_path, redirects={"oidc/example": nobody}) as portal:
        browser = browse(portal)
        await browser.get("/signin?next=/account")
        page = await browser.follow(await browser.submit(BEGIN))
        assert page.status_code == 200
        assert 'role="alert"' in page.text


async def test_an_answer_to_another_browser_signs_nobody_in(
    with_oidc: PagesPortal, browse: Opening
) -> None:
    attacker, victim = browse(with_oidc), browse(with_oidc)
    await attacker.get("/signin")
    begun = await attacker.submit(BEGIN)
    answer = await _answer_of(begun.headers["location"])
    await victim.get("/signin")
    page = await victim.follow(await victim.get(answer))
    assert "not begun in this browser" in page.text
    # Not even with the cookie of what was begun, which is bound to the browser.
    for cookie in attacker.client.cookies.jar:
        if "begun" in cookie.name:
            victim.client.cookies.set(cookie.name, cookie.value or "", domain=cookie.domain)
    page = await victim.follow(await victim.get(answer))
    assert "not begun in this browser" in page.text
    assert victim.client.cookies.get("porch_session") is None


async def test_an_answer_counts_once(with_oidc: PagesPortal, browse: Opening) -> None:
    browser = browse(with_oidc)
    await browser.get("/signin")
    begun = await browser.submit(BEGIN)
    answer = await _answer_of(begun.headers["location"])
    await browser.follow(await browser.get(answer))
    browser.client.cookies.delete("porch_session")
    page = await browser.follow(await browser.get(answer))
    assert "not begun in this browser" in page.text


async def test_a_link_that_one_person_began_adds_nothing_to_another(
    with_oidc: PagesPortal, browse: Opening
) -> None:
    browser = browse(with_oidc)
    await browser.sign_in()
    await browser.get("/signin?link=1")
    begun = await browser.submit(BEGIN)
    answer = await _answer_of(begun.headers["location"])
    browser.client.cookies.delete("porch_session")
    await browser.sign_in()  # as somebody else, in the same browser
    await browser.get(answer)
    people = [person async for person in with_oidc.stores.people.everyone()]
    assert [len(person.accounts) for person in people] == [1, 1]
    assert await with_oidc.stores.people.named("oidc", "Ana") is None


async def test_an_account_elsewhere_is_linked(with_oidc: PagesPortal, browse: Opening) -> None:
    browser = browse(with_oidc)
    await browser.sign_in()
    page = await browser.follow(await _through(browser, "/signin?link=1"))
    assert "is linked." in page.text
    (person,) = [person async for person in with_oidc.stores.people.everyone()]
    assert [account.provider for account in person.accounts] == ["wallet", "oidc"]


async def test_sign_ins_are_logged_without_what_proves_them(
    browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    key = Key.create()
    await browser.get("/signin")
    signed = await browser.sign(key)
    cookie = signed.cookies["porch_session"]
    await browser.get("/signin?link=1")
    await browser.follow(await browser.sign(key, signature="0xabcdef"))
    written = "".join(capsys.readouterr())
    assert "signed_in" in written
    assert "sign_in_failed" in written
    for secret in (cookie, "wants you to sign in", "abcdef", "Nonce"):
        assert secret not in written


async def test_a_long_way_to_go_survives_the_provider(
    with_oidc: PagesPortal, browse: Opening
) -> None:
    client_id = "s" * 3000
    consent = f"/consent?request={with_oidc.asked(client_id=client_id)}"
    browser = browse(with_oidc)
    response = await _through(browser, f"/signin?next={quote(consent, safe='')}")
    assert response.headers["location"] == consent
    page = await browser.follow(response)
    assert "Allow “Example Client”" in page.text


async def test_a_way_that_is_too_long_leads_to_the_account(
    with_oidc: PagesPortal, browse: Opening
) -> None:
    browser = browse(with_oidc)
    response = await _through(browser, f"/signin?next=/consent?request={'x' * 20_000}")
    assert response.headers["location"] == "/account"


# The session.


async def test_a_session_that_was_planted_is_not_taken_up(
    browser: Browser, portal: PagesPortal
) -> None:
    planted = "p" * 43
    browser.client.cookies.set("porch_session", planted, domain="127.0.0.1")
    await browser.get("/signin")
    response = await browser.sign(Key.create())
    made = response.cookies["porch_session"]
    assert made != planted
    assert await portal.parts.sessions.find(planted) is None
    assert await portal.parts.sessions.find(made) is not None


async def test_a_second_sign_in_ends_the_first_session(
    with_oidc: PagesPortal, browse: Opening
) -> None:
    browser = browse(with_oidc)
    # The forms are shown before the first sign-in, and the provider answers after it.
    await browser.get("/signin")
    begun = await browser.submit(BEGIN)
    answer = await _answer_of(begun.headers["location"])
    await browser.sign_in()
    before = browser.client.cookies["porch_session"]
    await browser.follow(await browser.get(answer))
    after = browser.client.cookies["porch_session"]
    assert before != after
    assert await with_oidc.parts.sessions.find(before) is None
    assert await with_oidc.parts.sessions.find(after) is not None


async def test_signing_out_ends_the_session(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    value = browser.client.cookies["porch_session"]
    page = await browser.follow(await browser.submit("/signout"))
    assert "You are signed out." in page.text
    assert await portal.parts.sessions.find(value) is None
    assert browser.client.cookies.get("porch_session") is None
    assert (await browser.get("/account")).headers["location"] == "/signin?next=/account"


async def test_someone_signed_in_goes_on_at_once(browser: Browser) -> None:
    await browser.sign_in()
    assert (await browser.get("/signin?next=/")).headers["location"] == "/"


async def test_too_many_attempts_are_put_off(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, attempts=2) as portal:
        browser = browse(portal)
        address = f"/signin/wallet?address=0x{'11' * 20}&chain=1"
        for _ in range(2):
            assert (await browser.get(address)).status_code == 200
        refused = await browser.get(address)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert "Too many attempts" in refused.text
        told = await browser.client.get(address, headers={"accept": "application/json"})
        assert told.status_code == 429
        assert "Try again in" in told.json()["error"]
        assert portal.tried == [("any", "too_many")] * 2
