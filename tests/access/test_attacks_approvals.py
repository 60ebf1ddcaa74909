"""Attacks on approvals: an agent that would say its person's yes, and sites that would have it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from eth_account import Account as Key

from auth.callers import Account
from tests.access.test_attacks_forms import FORGED
from tests.gateway.approvals.portal import FORMS, Treasury, open_treasury
from tests.gateway.surfaces.pages.browser import NAVIGATES, Browser, forms

BASE = "http://127.0.0.1:8321"


@pytest.fixture(scope="module")
async def treasury() -> AsyncGenerator[Treasury]:
    async with open_treasury() as opened:
        yield opened


class Bank:
    """A request that waits, and the browser of somebody who may decide it.

    Attributes:
        treasury: the portal.
        id: the request's.
        browser: whose page is open.
        arguments: what it is for.
    """

    def __init__(self, treasury: Treasury, id: str, browser: Browser, arguments: Any) -> None:
        self.treasury, self.id, self.browser, self.arguments = treasury, id, browser, arguments

    @property
    def path(self) -> str:
        return f"/approvals/{self.id}"

    @property
    def marked(self) -> dict[str, str]:
        """The fields of the form on the open page, and a yes."""
        assert self.browser.page is not None
        form = next(each for each in forms(self.browser.page.text) if each.action == self.path)
        return {**form.fields, "answer": "approve"}

    async def still_waits(self) -> bool:
        """Whether nobody's yes has counted."""
        kept = await self.treasury.portal.running.approvals.store.get(self.id)
        return kept is not None and kept.state == "waiting" and not kept.votes


@pytest.fixture
async def bank(treasury: Treasury, request: pytest.FixtureRequest) -> AsyncGenerator[Bank]:
    arguments = {"to": request.node.name, "amount": 1}
    id = await treasury.asked(arguments=arguments)
    browser = Browser(treasury.portal.app, BASE)
    await browser.sign_in(next_page=f"/approvals/{id}")
    yield Bank(treasury, id, browser, arguments)
    await browser.aclose()


@pytest.mark.parametrize("how", FORGED)
async def test_a_yes_from_anywhere_else_is_refused_even_with_the_right_mark(
    bank: Bank, how: str
) -> None:
    sent = await bank.browser.post(bank.path, bank.marked, NAVIGATES | FORGED[how])
    assert sent.status_code == 403
    assert await bank.still_waits()


@pytest.mark.parametrize(
    "changes",
    [
        {"csrf": ""},
        {"csrf": "A" * 43},
        {"request": ""},
        {"request": "A" * 43},
        {"answer": ""},
        {"answer": "approve everything"},
    ],
)
async def test_a_form_that_was_changed_says_nothing(bank: Bank, changes: dict[str, str]) -> None:
    sent = await bank.browser.post(bank.path, bank.marked | changes)
    assert sent.status_code in (400, 403)
    assert await bank.still_waits()


async def test_the_mark_of_one_request_approves_no_other(bank: Bank) -> None:
    other = await bank.treasury.asked(arguments={**bank.arguments, "amount": 9999})
    sent = await bank.browser.post(f"/approvals/{other}", bank.marked)
    assert sent.status_code == 403
    await bank.browser.get(f"/approvals/{other}")
    fields = {**Bank(bank.treasury, other, bank.browser, {}).marked}
    await bank.browser.get(bank.path)
    sent = await bank.browser.post(bank.path, {**bank.marked, "request": fields["request"]})
    assert sent.status_code == 403
    assert await bank.still_waits()


async def test_the_mark_of_somebody_else_is_none(bank: Bank) -> None:
    thief = Browser(bank.treasury.portal.app, BASE)
    await thief.sign_in()
    assert (await thief.post(bank.path, bank.marked)).status_code == 403
    stranger = Browser(bank.treasury.portal.app, BASE)
    assert (await stranger.post(bank.path, bank.marked)).status_code == 403
    assert await bank.still_waits()


async def test_a_token_approves_nothing_even_beside_its_persons_cookie(bank: Bank) -> None:
    treasury = bank.treasury
    agent = treasury.portal.http("bob")  # a member's API token, as an agent holds it
    for headers in ({}, {"origin": BASE, "sec-fetch-site": "same-origin"}):
        sent = await agent.post(bank.path, data=bank.marked, headers=headers)
        assert sent.status_code == 403
    key = Key.create()
    await treasury.portal.sign_in("eve", Account.of_key(key.address))
    own = Browser(treasury.portal.app, BASE)
    await own.sign_in(key, next_page=bank.path)
    token = treasury.portal.http("eve").headers["authorization"]
    fields = Bank(treasury, bank.id, own, {}).marked
    same = {"origin": BASE, "sec-fetch-site": "same-origin"}
    sent = await own.post(bank.path, fields, NAVIGATES | same | {"authorization": token})
    assert sent.status_code == 403
    assert "A token approves nothing" in sent.text
    assert await bank.still_waits()


async def test_an_agent_cannot_say_in_its_client_what_others_have_to_say(bank: Bank) -> None:
    yes = {f"porch/approve/{bank.id}": {"action": "accept", "content": {"approve": True}}}
    params = {"name": "pay", "arguments": bank.arguments, "inputResponses": yes}
    for who in ("ann", "bob"):
        answer = await bank.treasury.client(who, **FORMS).request("tools/call", params)
        assert answer["isError"]
    assert await bank.still_waits()


async def test_nothing_else_of_the_portal_takes_a_yes(bank: Bank) -> None:
    agent = bank.treasury.portal.http("bob")
    for path in (f"/api/v1{bank.path}", f"{bank.path}/approve", f"/admin{bank.path}"):
        for send in (agent.post, agent.put, agent.delete):
            assert (await send(path)).status_code in (403, 404, 405)
    assert (await agent.get(bank.path, params={"answer": "approve"})).status_code in (303, 401)
    assert await bank.still_waits()


async def test_a_page_cannot_be_framed_or_kept(bank: Bank) -> None:
    for path in (bank.path, "/approvals"):
        page = await bank.browser.get(path)
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"


async def test_unlinking_an_account_makes_no_second_person(treasury: Treasury) -> None:
    """One who votes, unlinks an account and signs in with it again is still one."""
    async with open_treasury(quorum=2) as strict:
        portal, first = strict.portal, Account.of_key(Key.create().address)
        key = Key.create()
        second = Account.of_key(key.address)
        bob = await portal.sign_in("bob two", first, second)
        id = await strict.asked()
        strict.people = {**strict.people, "bob two": bob}
        bob = await portal.running.authentication.stores.people.get(bob.id) or bob
        strict.people = {**strict.people, "bob two": bob}
        assert await strict.say("bob two", id) == "waiting"
        await portal.running.authentication.accounts.unlink(bob.id, second.subject)
        own = Browser(portal.app, BASE)
        await own.sign_in(key, next_page=f"/approvals/{id}")
        told = await own.follow(await own.submit(f"/approvals/{id}", {"answer": "approve"}))
        assert "one person counts once" in told.text
        await own.aclose()
