"""The pages where people decide: all of the arguments, for those alone who may, in a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.gateway.approvals.portal import Treasury, open_treasury
from tests.gateway.surfaces.pages.browser import Browser, forms

LOCAL = "http://127.0.0.1:8321"
HIDING = {"to": "ann\u202enotna\u200b <b>", "amount": 1, "note": "line\n" * 40}


@pytest.fixture(scope="module")
async def treasury() -> AsyncGenerator[Treasury]:
    async with open_treasury() as opened:
        yield opened


@pytest.fixture
async def browser(treasury: Treasury) -> AsyncGenerator[Browser]:
    """The browser of somebody else, who is signed in."""
    opened = Browser(treasury.portal.app, LOCAL)
    await opened.sign_in()
    yield opened
    await opened.aclose()


def paying(text: str) -> dict[str, Any]:
    return {"to": text, "amount": 1}


async def answer(browser: Browser, id: str, said: str, **fields: str) -> Any:
    path = f"/approvals/{id}"
    await browser.get(path)
    return await browser.follow(await browser.submit(path, {"answer": said, **fields}))


async def test_somebody_else_sees_what_waits_and_approves_it(
    treasury: Treasury, browser: Browser
) -> None:
    id = await treasury.asked(arguments=paying("the mason"))
    listed = await browser.get("/approvals")
    assert f'href="/approvals/{id}"' in listed.text
    done = await answer(browser, id, "approve")
    assert "It is approved" in done.text
    assert (await treasury.call(arguments=paying("the mason")))[0] == "ran"
    assert "has run" in (await browser.get(f"/approvals/{id}")).text


async def test_arguments_are_laid_out_whole_and_nothing_is_hidden(
    treasury: Treasury, browser: Browser
) -> None:
    id = await treasury.asked(arguments=HIDING)
    page = (await browser.get(f"/approvals/{id}")).text
    assert '<mark class="named">[U+202E]</mark>' in page
    assert '<mark class="named">[U+200B]</mark>' in page
    assert "&lt;b&gt;" in page
    assert page.count("line\n") == 40
    assert "\u202e" not in page
    assert "<details open>" in page


async def test_no_page_of_another_site_frames_it_and_no_script_is_in_it(
    treasury: Treasury, browser: Browser
) -> None:
    id = await treasury.asked(arguments=paying("framed"))
    page = await browser.get(f"/approvals/{id}")
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-frame-options"] == "DENY"


async def test_a_refusal_tells_who_asked_why(treasury: Treasury, browser: Browser) -> None:
    id = await treasury.asked(arguments=paying("the thief"))
    await answer(browser, id, "refuse", note="We do not pay thieves.")
    told = await treasury.portal.call("pay", paying("the thief"), tier="ann")
    assert "We do not pay thieves." in told.text
    assert "We do not pay thieves." in (await browser.get(f"/approvals/{id}")).text


async def test_who_may_not_decide_is_told_of_nothing(treasury: Treasury, browser: Browser) -> None:
    id = await treasury.asked(tool="confirm", arguments=paying("hers alone"))
    assert (await browser.get(f"/approvals/{id}")).status_code == 404
    assert "hers alone" not in (await browser.get("/approvals")).text
    assert (await browser.get("/approvals/ap_unknown")).status_code == 404


async def test_a_stranger_signs_in_first_and_comes_back(treasury: Treasury) -> None:
    id = await treasury.asked(arguments=paying("the stranger"))
    stranger = Browser(treasury.portal.app, LOCAL)
    led = await stranger.get(f"/approvals/{id}")
    assert led.headers["location"] == f"/signin?next=%2Fapprovals%2F{id}"
    await stranger.sign_in(next_page=f"/approvals/{id}")
    assert stranger.page is not None
    assert "May this run?" in stranger.page.text
    await stranger.aclose()


async def test_ones_own_call_can_be_taken_back_and_not_approved(treasury: Treasury) -> None:
    from eth_account import Account as Key

    from auth.callers import Account

    key = Key.create()
    await treasury.portal.sign_in("dee", Account.of_key(key.address))
    id = await treasury.asked("dee", arguments=paying("myself"))
    own = Browser(treasury.portal.app, LOCAL)
    await own.sign_in(key)
    page = await own.get(f"/approvals/{id}")
    assert 'value="approve"' not in page.text
    sent = await own.submit(f"/approvals/{id}", {"answer": "approve"})
    assert sent.status_code == 403
    done = await answer(own, id, "refuse")
    assert "It is refused" in done.text
    await own.aclose()


async def test_the_callers_own_person_approves_where_the_rule_asks_them(
    treasury: Treasury,
) -> None:
    from eth_account import Account as Key

    from auth.callers import Account

    key = Key.create()
    await treasury.portal.sign_in("eve", Account.of_key(key.address))
    id = await treasury.asked("eve", tool="confirm", arguments=paying("for eve"))
    own = Browser(treasury.portal.app, LOCAL)
    await own.sign_in(key)
    done = await answer(own, id, "approve")
    assert "It is approved" in done.text
    await own.aclose()


async def test_what_was_decided_meanwhile_is_said(treasury: Treasury, browser: Browser) -> None:
    id = await treasury.asked(arguments=paying("twice"))
    await browser.get(f"/approvals/{id}")
    await treasury.say("bob", id, yes=False)
    told = await browser.follow(await browser.submit(f"/approvals/{id}", {"answer": "approve"}))
    assert "decided already" in told.text
    assert not [each for each in forms(told.text) if each.action.startswith("/approvals")]
