"""Every page tells a person how much waits for their word, and nobody of what is not theirs."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from eth_account import Account as Key

from auth.callers import Account
from tests.gateway.approvals.portal import Treasury, open_treasury
from tests.gateway.surfaces.pages.browser import Browser

LOCAL = "http://127.0.0.1:8321"
FRAME, START = 'class="waits"', "for your word"


@pytest.fixture
async def treasury() -> AsyncGenerator[Treasury]:
    async with open_treasury() as opened:
        yield opened


async def browser_of(treasury: Treasury, name: str) -> Browser:
    """A browser in which somebody is signed in who also has agents."""
    key = Key.create()
    await treasury.portal.sign_in(name, Account.of_key(key.address))
    opened = Browser(treasury.portal.app, LOCAL)
    await opened.sign_in(key)
    return opened


async def test_who_may_decide_is_told_on_the_start_page_and_in_the_frame_of_all_others(
    treasury: Treasury,
) -> None:
    other, asker = [await browser_of(treasury, name) for name in ("dee", "eve")]
    for path in ("/", "/account"):
        assert FRAME not in (await other.get(path)).text
    id = await treasury.asked("eve")
    await treasury.asked("eve", arguments={"to": "the mason", "amount": 2})
    page = (await other.get("/")).text
    assert "2 things wait" in page
    assert "<strong>2</strong> <span>wait for you</span>" in (await other.get("/account")).text
    # Whoever asks does not decide it, and a stranger is told of nothing.
    assert FRAME not in (await asker.get("/")).text
    stranger = Browser(treasury.portal.app, LOCAL)
    assert START not in (await stranger.get("/")).text
    await treasury.say("bob", id)
    page = (await other.get("/")).text
    assert "One thing waits" in page
    for each in (other, asker, stranger):
        await each.aclose()


async def test_ones_own_call_waits_for_oneself_alone_where_the_rule_says_so(
    treasury: Treasury,
) -> None:
    other, asker = [await browser_of(treasury, name) for name in ("dee", "eve")]
    await treasury.asked("eve", tool="settle")
    assert "One thing waits" in (await asker.get("/")).text
    assert FRAME not in (await other.get("/")).text
    for each in (other, asker):
        await each.aclose()


async def test_a_form_that_may_go_on_waits_for_who_has_sent_it(treasury: Treasury) -> None:
    asker = await browser_of(treasury, "eve")
    await asker.get("/vault/ledger")
    sent = await asker.submit(f"{LOCAL}/vault/ledger", {"to": "the mason"}, number=0)
    assert FRAME not in (await asker.get("/account")).text
    await treasury.say("bob", sent.headers["location"].rpartition("/")[2])
    assert FRAME in (await asker.get("/account")).text
    await asker.aclose()
