"""The account page: tier and reasons, accounts, tokens, clients, browsers, data."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from eth_account import Account as Key

from auth.callers import Account, Identity
from auth.credentials import BadCredential
from auth.facts import Question
from auth.revocations import Revocations
from auth.rules.verdict import Resolution
from auth.stores import Person, utc_now
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import GITHUB, PagesPortal, SilentSource, open_pages

HAT_OR_BOTH = {
    "members": {
        "any_of": [
            {"hat": "30.3.1"},
            {"all_of": [{"github": "octo-cat"}, {"email": "*@example.org"}]},
        ]
    },
    "admins": {"any_of": [{"github": "somebody-else"}]},
}


class OneHat:
    """A source in which everybody wears every hat."""

    async def answers(self, questions: Sequence[Question]) -> dict[Question, bool]:
        return dict.fromkeys(questions, True)


async def _person(portal: PagesPortal) -> Person:
    (person,) = [person async for person in portal.stores.people.everyone()]
    return person


def _token(page: str) -> str:
    found = re.search(r"porch_[A-Za-z0-9_-]{43}", page)
    assert found, "The page shows no token."
    return found[0]


# The tier and why.


async def test_the_page_is_for_those_who_are_signed_in(browser: Browser) -> None:
    response = await browser.get("/account")
    assert response.status_code == 303
    assert response.headers["location"] == "/signin?next=/account"


async def test_it_says_why_and_what_the_next_tier_takes(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, rules=HAT_OR_BOTH) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/account")).text
        assert "Public: is signed in." in page
        assert "What you would need for" in page
        assert "wear the hat 30.3.1" in page
        assert "all of these" in page
        assert "somebody-else" not in page, "Who is an admin is nobody's business."


async def test_a_source_that_does_not_answer_is_said(tmp_path: Path, browse: Opening) -> None:
    sources = {"hats": SilentSource()}
    async with open_pages(tmp_path, rules=HAT_OR_BOTH, sources=sources) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/account")).text
        assert "your tier may be lower" in page
        assert "The RPC of chain 10 does not answer" in page


async def test_a_member_needs_nothing_more(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, rules=HAT_OR_BOTH, sources={"hats": OneHat()}) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/account")).text
        assert 'Your tier: <span class="tier members">Members' in page
        assert "What you would need" not in page
        assert "your tier may be lower" not in page


async def test_where_no_rule_lets_anyone_in_it_says_so(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, rules={"public": {"any_of": ["signed_in"]}}) as portal:
        browser = browse(portal)
        await browser.sign_in()
        assert "Ask an admin" in (await browser.get("/account")).text


# Linked accounts.


async def test_another_wallet_is_linked_by_proof(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    second = Key.create()
    await browser.sign_in(second, link="1")
    assert browser.page is not None
    assert "is linked." in browser.page.text
    assert {a.subject for a in (await _person(portal)).accounts} >= {f"wallet:{second.address}"}


async def test_an_account_of_somebody_else_is_not_linked(
    browser: Browser, portal: PagesPortal, browse: Opening
) -> None:
    taken = await browse(portal).sign_in()
    await browser.sign_in()
    before = [person async for person in portal.stores.people.everyone()]
    await browser.sign_in(taken, link="1")
    assert browser.page is not None
    assert "already signs in as another person" in browser.page.text
    assert "Then link it." in browser.page.text
    assert [person async for person in portal.stores.people.everyone()] == before


async def test_linking_is_for_those_who_are_signed_in(browser: Browser) -> None:
    response = await browser.get("/signin?link=1")
    assert response.headers["location"] == "/signin?next=/account"


async def test_a_link_is_not_finished_by_a_stranger(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    await browser.get("/signin?link=1")
    browser.client.cookies.delete("porch_session")
    refused = await browser.sign(Key.create())
    assert refused.status_code == 403
    assert len((await _person(portal)).accounts) == 1


async def test_an_account_is_unlinked_and_the_last_one_stays(
    browser: Browser, portal: PagesPortal
) -> None:
    key = await browser.sign_in()
    person = await _person(portal)
    await portal.stores.people.link(person.id, GITHUB)
    await browser.get("/account")
    page = await browser.follow(
        await browser.submit("/account/unlink", {"subject": GITHUB.subject})
    )
    assert "GitHub octo-cat is no longer linked to you." in page.text
    assert "/account/unlink" not in page.text, "The last account has no button."
    await portal.stores.people.link(person.id, GITHUB)
    await browser.get("/account")
    await portal.stores.people.unlink(person.id, GITHUB.subject)
    subject = f"wallet:{key.address}"
    page = await browser.follow(await browser.submit("/account/unlink", {"subject": subject}))
    assert "the only account that you can sign in with" in page.text
    assert len((await _person(portal)).accounts) == 1


async def test_an_account_of_another_person_is_not_unlinked(
    browser: Browser, portal: PagesPortal
) -> None:
    other = await portal.stores.people.signed_in(Account("github:1", "github", "other"))
    await portal.stores.people.link(other.id, Account("github:2", "github", "second"))
    await browser.sign_in()
    mine = await portal.stores.people.by_subject("github:1")
    (person,) = [p async for p in portal.stores.people.everyone() if p.id != other.id]
    await portal.stores.people.link(person.id, GITHUB)
    await browser.get("/account")
    page = await browser.follow(await browser.submit("/account/unlink", {"subject": "github:2"}))
    assert "That account is not linked to you." in page.text
    assert mine is not None
    assert len(mine.accounts) == 2


# API tokens.


async def test_a_token_is_shown_once_and_works(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    await browser.get("/account")
    fields = {"name": "My script", "ceiling": "public", "days": "30", "tool": "search"}
    response = await browser.submit("/account/tokens", fields)
    assert response.status_code == 303
    assert "porch_" not in response.headers["set-cookie"].replace("porch_notice", "")
    page = (await browser.follow(response)).text
    token = _token(page)
    identity = await portal.parts.tokens.identify(token, "/mcp")
    assert identity is not None
    assert identity.person == (await _person(portal)).id
    assert (identity.ceiling, identity.tools) == ("public", frozenset({"search"}))
    again = (await browser.get("/account")).text
    assert token not in again
    assert "My script" in again
    assert "only search" in again


async def test_a_token_is_revoked(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    await browser.get("/account")
    fields = {"name": "Old", "ceiling": "members", "days": "90"}
    page = await browser.follow(await browser.submit("/account/tokens", fields))
    token = _token(page.text)
    page = await browser.follow(await browser.submit("/account/tokens/revoke"))
    assert "The token is revoked." in page.text
    assert "Old" not in page.text
    try:
        await portal.parts.tokens.identify(token, "/mcp")
    except BadCredential:
        return
    raise AssertionError("A revoked token is good.")


async def test_a_token_that_has_ended_is_said_to_have(
    browser: Browser, portal: PagesPortal
) -> None:
    key = await browser.sign_in()
    person = await portal.stores.people.by_subject(f"wallet:{key.address}")
    assert person is not None
    then = utc_now() - timedelta(days=40)
    revocations = Revocations(portal.stores.revocations)
    old = ApiTokens(portal.stores.tokens, portal.stores.people, revocations, clock=lambda: then)
    ends = then + timedelta(days=30)
    await old.create(person.id, "Old", ceiling=Tier.MEMBERS, expires=ends)
    page = (await browser.get("/account")).text
    assert "Ended on" in page
    assert "Ends on" not in page


async def test_who_deletes_the_account_while_a_token_is_made_is_told_so(
    browser: Browser, portal: PagesPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.sign_in()
    await browser.get("/account")
    explain = portal.resolver.explain

    async def and_delete(identity: Identity) -> Resolution:
        await portal.stores.people.delete(identity.person)
        return await explain(identity)

    monkeypatch.setattr(portal.resolver, "explain", and_delete)
    fields = {"name": "Late", "ceiling": "members", "days": "90"}
    page = await browser.submit("/account/tokens", fields)
    assert page.status_code == 403
    assert "Your account is not there any more." in page.text


async def test_a_token_of_another_person_is_not_revoked(
    browser: Browser, portal: PagesPortal, browse: Opening
) -> None:
    other = browse(portal)
    await other.sign_in()
    await other.get("/account")
    fields = {"name": "Theirs", "ceiling": "members", "days": "90"}
    page = await other.follow(await other.submit("/account/tokens", fields))
    token = _token(page.text)
    theirs = re.search(r'name="id" value="([^"]+)"', page.text)
    assert theirs
    await browser.sign_in()
    await browser.get("/account")
    await browser.follow(await browser.submit("/account/tokens", fields))
    page = await browser.follow(await browser.submit("/account/tokens/revoke", {"id": theirs[1]}))
    assert "There is no such token any more." in page.text
    assert await portal.parts.tokens.identify(token, "/mcp") is not None


async def test_a_token_goes_no_further_than_the_page_offers(
    tmp_path: Path, browse: Opening
) -> None:
    config = {"tokens": {"api": "30d", "per_person": 1}}
    async with open_pages(tmp_path, sign_in=config) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/account")).text
        assert 'value="30"' in page
        assert 'value="90"' not in page
        good = {"name": "a", "ceiling": "members", "days": "30"}
        for wrong, words in (
            ({"name": "  "}, "Give the token a name"),
            ({"name": "x" * 61}, "Give the token a name"),
            ({"days": "90"}, "how long it is good"),
            ({"days": "-1"}, "how long it is good"),
            ({"ceiling": "admin"}, "how far the token goes"),
            ({"tool": "treasury"}, "the tools that you may use"),
        ):
            page = (
                await browser.follow(await browser.submit("/account/tokens", good | wrong))
            ).text
            assert words in page
        await browser.follow(await browser.submit("/account/tokens", good))
        page = (await browser.follow(await browser.submit("/account/tokens", good))).text
        assert "You have 1 API tokens" in page


async def test_a_portal_may_give_out_none(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, sign_in={"tokens": {"per_person": 0}}) as portal:
        browser = browse(portal)
        await browser.sign_in()
        assert "gives out no personal tokens" in (await browser.get("/account")).text


# Clients and browsers.


async def test_a_client_is_disconnected(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    person = await _person(portal)
    await portal.connect_client(person.id)
    page = (await browser.get("/account")).text
    assert "Example Client" in page
    page = (await browser.follow(await browser.submit("/account/clients/revoke"))).text
    assert "The client is disconnected." in page
    assert "Example Client" not in page


async def test_a_client_of_another_person_stays(browser: Browser, portal: PagesPortal) -> None:
    other = await portal.stores.people.signed_in(GITHUB)
    await portal.connect_client(other.id)
    (theirs,) = await portal.stores.grants.of(other.id)
    await browser.sign_in()
    (person,) = [p async for p in portal.stores.people.everyone() if p.id != other.id]
    await portal.connect_client(person.id)
    await browser.get("/account")
    page = await browser.follow(await browser.submit("/account/clients/revoke", {"id": theirs.id}))
    assert "That client is not connected to you." in page.text
    assert await portal.stores.grants.of(other.id) == [theirs]


async def test_signing_out_everywhere_ends_it_all(
    browser: Browser, portal: PagesPortal, browse: Opening
) -> None:
    key = await browser.sign_in()
    elsewhere = browse(portal)
    await elsewhere.sign_in(key)
    person = await _person(portal)
    await portal.connect_client(person.id)
    page = (await browser.get("/account")).text
    assert page.count("this one") == 1
    await browser.submit("/account/tokens", {"name": "a", "ceiling": "members", "days": "30"})
    page = (await browser.follow(await browser.submit("/account/sign-out-everywhere"))).text
    assert "You are signed out of every browser and client." in page
    assert (await elsewhere.get("/account")).status_code == 303
    assert await portal.stores.grants.of(person.id) == []
    assert len(await portal.parts.tokens.of(person.id)) == 1
    await browser.sign_in(key)
    await browser.get("/account")
    await browser.submit("/account/sign-out-everywhere", {"tokens": "1"})
    assert await portal.parts.tokens.of(person.id) == []


# Data.


async def test_the_export_holds_everything_and_nothing_secret(
    browser: Browser, portal: PagesPortal
) -> None:
    key = await browser.sign_in()
    await browser.get("/account")
    fields = {"name": "Mine", "ceiling": "members", "days": "30"}
    page = await browser.follow(await browser.submit("/account/tokens", fields))
    token = _token(page.text)
    cookie = browser.client.cookies["porch_session"]
    exported = await browser.get("/account/export")
    assert exported.headers["content-type"] == "application/zip"
    assert "attachment" in exported.headers["content-disposition"]
    assert exported.headers["cache-control"] == "no-store"
    with ZipFile(io.BytesIO(exported.content)) as archive:
        written = archive.read("account.json").decode()
    told = json.loads(written)
    assert told["accounts"][0]["subject"] == f"wallet:{key.address}"
    assert told["api_tokens"][0]["name"] == "Mine"
    assert token not in written
    assert cookie not in written


async def test_the_export_is_for_its_owner(browser: Browser) -> None:
    assert (await browser.get("/account/export")).status_code == 403


async def test_deleting_asks_for_the_word(browser: Browser, portal: PagesPortal) -> None:
    await browser.sign_in()
    await browser.get("/account")
    page = (await browser.follow(await browser.submit("/account/delete", {"word": "no"}))).text
    assert "Nothing was deleted" in page
    assert await _person(portal)
    page = (
        await browser.follow(await browser.submit("/account/delete", {"word": " Delete "}))
    ).text
    assert "is deleted" in page
    assert [person async for person in portal.stores.people.everyone()] == []
    assert (await browser.get("/account")).status_code == 303
