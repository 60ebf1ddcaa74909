"""Attacks on signing in elsewhere, and on what makes several accounts one person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from eth_account import Account as Key

from auth import Account
from tests.access.attacks import TIERS, Attacked, attacked, person_of
from tests.gateway.surfaces.pages.browser import Browser
from tests.servers.github import Github, Org
from tests.servers.identity_provider import IdentityProvider
from tests.servers.identity_provider import Key as SigningKey


@dataclass
class Providers:
    """Two providers, of whom the second is evil, and GitHub."""

    good: IdentityProvider
    evil: IdentityProvider
    github: Github


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Providers]:
    monkeypatch.setenv("PORCH_TEST_SECRET", "the-secret")
    with ExitStack() as stack:
        good, evil = (stack.enter_context(IdentityProvider()) for _ in range(2))
        yield Providers(good, evil, stack.enter_context(Github()))


def sign_in(providers: Providers) -> dict[str, Any]:
    secret = {"client_id": "portal", "client_secret": "env:PORCH_TEST_SECRET"}
    github = {"url": providers.github.url, "api_url": providers.github.api_url}
    return {
        "github": {**secret, **github},
        "oidc": [
            {"name": "Good", "issuer": providers.good.issuer, **secret},
            {"name": "Evil", "issuer": providers.evil.issuer, **secret},
        ],
    }


@pytest.fixture
async def portal(providers: Providers) -> AsyncIterator[Attacked]:
    async with attacked(sign_in=sign_in(providers)) as portal:
        yield portal


GOOD, EVIL, GITHUB = "/signin/oidc/good", "/signin/oidc/evil", "/signin/github"


async def begun(browser: Browser, where: str, link: str = "") -> str:
    """The address of the provider to which the portal sends a browser."""
    await browser.get(f"/signin?next=/account&link={link}")
    answer = await browser.submit(where)
    assert answer.status_code == 303, answer.text
    address: str = answer.headers["location"]
    return address


async def answered(address: str) -> str:
    """The address to which the provider sends the browser back."""
    async with httpx2.AsyncClient() as client:
        answer = await client.get(address)
    assert answer.status_code == 302, answer.text
    location: str = answer.headers["location"]
    return location


async def came_in(portal: Attacked, browser: Browser, callback: str) -> bool:
    """Whether an answer of a provider signs a browser in."""
    answer = await browser.get(callback)
    assert answer.status_code == 303
    return await person_of(portal, browser) is not None


async def in_through(portal: Attacked, browser: Browser, where: str, link: str = "") -> None:
    assert await came_in(portal, browser, await answered(await begun(browser, where, link)))


@pytest.mark.parametrize("where", [GOOD, GITHUB])
async def test_an_answer_is_taken_only_in_the_browser_that_asked_and_once(
    portal: Attacked, providers: Providers, where: str
) -> None:
    """Login CSRF: a victim who opens Mallory's link is not signed in as Mallory."""
    providers.github.add("mallory")
    providers.github.approves = "mallory"
    mallory, victim, waiting = portal.browser(), portal.browser(), portal.browser()
    callback = await answered(await begun(mallory, where))
    assert not await came_in(portal, victim, callback)  # has begun nothing
    await begun(waiting, where)
    assert not await came_in(portal, waiting, callback)  # has begun another sign-in
    assert await came_in(portal, mallory, callback)
    await mallory.get("/account")
    await mallory.submit("/signout")
    assert not await came_in(portal, mallory, callback)  # a second time


@pytest.mark.parametrize("where", [GOOD, GITHUB])
@pytest.mark.parametrize("changed", ["state", "code"])
async def test_an_answer_with_another_state_or_code_signs_nobody_in(
    portal: Attacked, providers: Providers, where: str, changed: str
) -> None:
    providers.github.add("ana")
    providers.github.approves = "ana"
    for value in (None, "", "x", "\u00e9", "\x00", "x" * 3000):
        browser = portal.browser()
        callback = urlsplit(await answered(await begun(browser, where)))
        query = {**dict(parse_qsl(callback.query)), changed: value}
        written = urlencode({name: each for name, each in query.items() if each is not None})
        assert not await came_in(portal, browser, f"{callback.path}?{written}")


async def test_the_cookie_of_what_was_begun_is_of_no_use_in_another_browser(
    portal: Attacked,
) -> None:
    mallory, victim = portal.browser(), portal.browser()
    callback = await answered(await begun(mallory, GOOD))
    await victim.get("/signin")
    victim.client.cookies.set("porch_begun", mallory.client.cookies["porch_begun"])
    assert not await came_in(portal, victim, callback)


async def test_a_code_of_one_provider_is_not_taken_to_another(
    portal: Attacked, providers: Providers
) -> None:
    """IdP mix-up: the evil provider sends the browser to the good one and wants its code."""
    browser = portal.browser()
    address = await begun(browser, EVIL)
    asked = dict(parse_qsl(urlsplit(address).query))
    mixed = f"{providers.good.issuer}/authorize?{urlencode(asked)}"
    callback = urlsplit(await answered(mixed))
    assert not await came_in(portal, browser, f"{callback.path}?{callback.query}")
    # Nor at the good provider's own callback, where nothing was begun.
    await begun(browser, EVIL)
    assert not await came_in(portal, browser, f"{GOOD}/callback?{callback.query}")
    assert providers.evil.asked["/token"] == 0


@pytest.mark.parametrize("issuer", ["https://evil.example", "", "x"])
async def test_an_answer_that_names_another_issuer_is_not_taken(
    portal: Attacked, issuer: str
) -> None:
    browser = portal.browser()
    callback = urlsplit(await answered(await begun(browser, GOOD)))
    query = {**dict(parse_qsl(callback.query)), "iss": issuer}
    assert not await came_in(portal, browser, f"{callback.path}?{urlencode(query)}")


async def test_an_answer_without_an_issuer_is_not_taken_where_one_is_promised(
    portal: Attacked,
) -> None:
    browser = portal.browser()
    callback = urlsplit(await answered(await begun(browser, GOOD)))
    query = {name: value for name, value in parse_qsl(callback.query) if name != "iss"}
    assert not await came_in(portal, browser, f"{callback.path}?{urlencode(query)}")


ID_TOKENS: dict[str, dict[str, Any]] = {
    "for another client": {"aud": "another-app"},
    "for another client as well": {"aud": ["portal", "another-app"]},
    "given to another client": {"azp": "another-app"},
    "of another issuer": {"iss": "https://evil.example"},
    "of another sign-in": {"nonce": "x"},
    "of no sign-in": {"nonce": None},
    "for another access token": {"at_hash": "x"},
    "that has ended": {"exp": 1},
    "that never ends": {"exp": None},
    "about nobody": {"sub": None},
    "about a list": {"sub": ["ana"]},
    "about an invisible name": {"sub": "ana\u200b\u202e"},
}


@pytest.mark.parametrize("wrong", ID_TOKENS)
async def test_an_id_token_with_anything_wrong_signs_nobody_in(
    portal: Attacked, providers: Providers, wrong: str
) -> None:
    providers.good.id_token_changes = ID_TOKENS[wrong]
    browser = portal.browser()
    assert not await came_in(portal, browser, await answered(await begun(browser, GOOD)))
    assert (await portal.rows())["porch_people"] == 0


async def test_an_id_token_signed_by_a_stranger_signs_nobody_in(
    portal: Attacked, providers: Providers
) -> None:
    stranger = SigningKey(kid=providers.good.signs.kid)
    providers.good.signs = stranger  # and not what is published
    browser = portal.browser()
    assert not await came_in(portal, browser, await answered(await begun(browser, GOOD)))


async def test_the_same_subject_of_two_providers_is_two_people(portal: Attacked) -> None:
    one, other = portal.browser(), portal.browser()
    await in_through(portal, one, GOOD)
    await in_through(portal, other, EVIL)
    people = [await person_of(portal, each) for each in (one, other)]
    assert people[0] != people[1]


async def test_the_same_email_address_does_not_take_an_account_over(
    portal: Attacked, providers: Providers
) -> None:
    """An address is a fact about an account and never what finds its person."""
    victim, evil, octo = portal.browser(), portal.browser(), portal.browser()
    await in_through(portal, victim, GOOD)
    providers.evil.users["mallory"] = {"email": "ana@example.org", "email_verified": True}
    providers.evil.approves = "mallory"
    await in_through(portal, evil, EVIL)
    email = {"email": "ana@example.org", "primary": True, "verified": True}
    providers.github.add("mallory", emails=[email])
    providers.github.approves = "mallory"
    await in_through(portal, octo, GITHUB)
    people = {(await person_of(portal, each)).id for each in (victim, evil, octo)}  # type: ignore[union-attr]
    assert len(people) == 3


async def test_an_address_that_github_has_not_verified_opens_nothing(
    providers: Providers,
) -> None:
    rule = {"members": {"any_of": [{"email": "boss@example.org"}]}}
    tiers = {**TIERS, "access": rule}
    async with attacked(tiers=tiers, sign_in=sign_in(providers)) as portal:
        refused: list[dict[str, Any]] = [
            {"primary": True, "verified": False},
            {"primary": False, "verified": True},
            {"primary": "true", "verified": "true"},
        ]
        for number, said in enumerate(refused):
            email = {"email": "boss@example.org", **said}
            providers.github.add(f"mallory{number}", emails=[email])
            providers.github.approves = f"mallory{number}"
            browser = portal.browser()
            await in_through(portal, browser, GITHUB)
            person = await person_of(portal, browser)
            assert person is not None
            assert await portal.tier(await portal.api_token(person)) != "members"


async def test_who_takes_a_github_name_over_takes_no_account_and_no_role(
    providers: Providers,
) -> None:
    github = providers.github
    rule = {"members": {"any_of": [{"github_org": "garden"}, {"github": "1000"}]}}
    async with attacked(tiers={**TIERS, "access": rule}, sign_in=sign_in(providers)) as portal:
        ana = github.add("ana")
        assert ana == 1000
        github.orgs["garden"] = Org(members={ana}, public={ana})
        github.approves = "ana"
        victim, mallory = portal.browser(), portal.browser()
        await in_through(portal, victim, GITHUB)
        github.rename(ana, "anna")
        github.add("ana")
        await in_through(portal, mallory, GITHUB)
        hers, evil = await person_of(portal, victim), await person_of(portal, mallory)
        assert hers is not None
        assert evil is not None
        assert hers.id != evil.id
        assert await portal.tier(await portal.api_token(hers)) == "members"
        assert await portal.tier(await portal.api_token(evil)) != "members"


# Linking.


async def test_an_account_of_another_person_is_not_linked_away(portal: Attacked) -> None:
    """Two people who both exist are never made one by a link."""
    victim, mallory = portal.browser(), portal.browser()
    await in_through(portal, victim, GOOD)
    key = await mallory.sign_in()
    before = [await person_of(portal, each) for each in (victim, mallory)]
    callback = await answered(await begun(mallory, GOOD, link="1"))
    page = await mallory.follow(await mallory.get(callback))
    assert "already signs in as another person" in page.text
    assert [await person_of(portal, each) for each in (victim, mallory)] == before
    # And the other way round: the victim proves a wallet that is Mallory's.
    await victim.get("/signin?next=/account&link=1")
    await victim.follow(await victim.sign(key, link="1"))
    assert [await person_of(portal, each) for each in (victim, mallory)] == before


async def test_an_account_is_linked_only_by_its_own_proof(portal: Attacked) -> None:
    alice = portal.browser()
    await alice.sign_in()
    person = await person_of(portal, alice)
    assert person is not None
    other, signer = Key.create(), Key.create()
    await alice.get("/signin?next=/account&link=1")
    asked = await alice.client.get(
        "/signin/wallet",
        params={"address": other.address, "chain": "1"},
        headers={"accept": "application/json"},
    )
    from eth_account.messages import encode_defunct

    message = asked.json()["message"]
    signature = "0x" + signer.sign_message(encode_defunct(text=message)).signature.hex()
    for fields in (
        {"message": message, "signature": signature},
        {"subject": f"wallet:{other.address}", "account": other.address},
    ):
        await alice.submit("/signin/wallet", {"link": "1", **fields})
        await alice.get("/signin?next=/account&link=1")
    again = await person_of(portal, alice)
    assert again is not None
    assert again.accounts == person.accounts


async def test_a_link_begun_by_one_person_adds_nothing_to_another(portal: Attacked) -> None:
    """Mallory begins a link in her session, then the victim signs in in the same browser."""
    shared, victim = portal.browser(), portal.browser()
    await shared.sign_in()
    callback = await answered(await begun(shared, GOOD, link="1"))
    key = await victim.sign_in()
    before = await person_of(portal, victim)
    assert before is not None
    await shared.get("/account")
    await shared.submit("/signout")
    await shared.sign_in(key)
    await shared.get(callback)
    after = await portal.who.stores.people.get(before.id)
    assert after is not None
    assert after.accounts == before.accounts
    subject = f"oidc:{portal.who.methods.redirects['oidc/good']._issuer}#ana"  # type: ignore[attr-defined]
    assert await portal.who.stores.people.by_subject(subject) is None


async def test_a_strangers_account_is_not_linked_to_a_victim_by_a_link_that_she_opens(
    portal: Attacked, providers: Providers
) -> None:
    """Account takeover: Mallory's own account would sign in as the victim from then on."""
    providers.good.users["mallory"] = {}
    providers.good.approves = "mallory"
    mallory, victim = portal.browser(), portal.browser()
    await mallory.sign_in()
    await victim.sign_in()
    before = await person_of(portal, victim)
    for link in ("", "1"):
        await mallory.get("/account")
        if link:
            callback = await answered(await begun(mallory, GOOD, link=link))
        else:
            callback = await answered(await begun(portal.browser(), GOOD))
        await victim.get(callback)
        assert await person_of(portal, victim) == before


async def test_the_account_of_a_person_who_was_deleted_begins_anew(portal: Attacked) -> None:
    account = Account("github:77", "github", "ana", None, {"login": "ana"})
    person = await portal.person(account)
    token = await portal.api_token(person)
    await portal.who.accounts.delete(person.id)
    again = await portal.person(account)
    assert again.id != person.id
    assert await portal.tier(token) == "refused"
