"""A form of a page whose tool waits for a yes: it asks, is approved, and runs exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from tests.gateway.approvals.portal import Treasury, open_treasury
from tests.gateway.surfaces.pages.browser import NAVIGATES, Browser, forms

LOCAL = "http://127.0.0.1:8321"
LEDGER = "/vault/ledger"


@pytest.fixture
async def treasury() -> AsyncGenerator[Treasury]:
    async with open_treasury() as opened:
        yield opened


@pytest.fixture
async def browser(treasury: Treasury) -> AsyncGenerator[Browser]:
    """The browser of a member, who sends forms."""
    opened = Browser(treasury.portal.app, LOCAL)
    await opened.sign_in()
    yield opened
    await opened.aclose()


async def sent(browser: Browser, number: int, to: str) -> str:
    """Send a form of the ledger; the path of the page that it leads to."""
    await browser.get(LEDGER)
    answer = await browser.submit(LOCAL + LEDGER, {"to": to}, number=number)
    assert answer.status_code == 303, answer.text
    led = answer.headers["location"]
    page = await browser.follow(answer)
    assert "Nothing has run yet" in page.text
    return str(led)


async def test_the_form_of_who_is_asked_themselves_is_their_yes_which_is_written_down_and_spent(
    treasury: Treasury, browser: Browser
) -> None:
    await browser.get(LEDGER)
    done = await browser.submit(LOCAL + LEDGER, {"to": "the baker"}, number=1)
    assert done.headers["location"] == LEDGER
    assert "Paid 8 to the baker." in (await browser.follow(done)).text
    assert treasury.paid == 1
    (asked,) = await treasury.portal.running.approvals.store.every()
    assert (asked.own, asked.state, asked.back) == (True, "used", None)
    assert "has run" in (await browser.get(f"/approvals/{asked.id}")).text


async def test_a_form_with_a_token_is_nobodys_yes_and_asks_for_none(
    treasury: Treasury, browser: Browser
) -> None:
    token = treasury.portal.http("ann").headers["authorization"]
    page = await browser.get(LEDGER)
    ledger = [each for each in forms(page.text) if each.action == LOCAL + LEDGER]
    assert len(ledger) == 2
    for form in ledger:
        headers = NAVIGATES | {"origin": LOCAL, "authorization": token}
        told = await browser.post(LOCAL + LEDGER, form.fields | {"to": "the baker"}, headers)
        assert told.status_code == 401
        assert "Two credentials" in told.text
        alone = await treasury.portal.http("ann").post(LEDGER, data=form.fields)
        assert alone.status_code == 403
    assert treasury.paid == 0
    assert not await treasury.portal.running.approvals.store.every()


async def test_what_is_approved_runs_once_however_often_it_is_told_to(
    treasury: Treasury, browser: Browser
) -> None:
    path = await sent(browser, 0, "the cook")
    await treasury.say("bob", path.rpartition("/")[2])
    page = await browser.get(path)
    assert "Run it now" in page.text
    form = next(each for each in forms(page.text) if each.action == path)
    run = {**form.fields, "answer": "run"}
    several = await asyncio.gather(*(browser.post(path, run) for _ in range(4)))
    assert treasury.paid == 1
    leads = {each.headers["location"] for each in several}
    assert leads == {LEDGER, path}  # one ran; the others say so
    assert "1 payments" in (await browser.get(LEDGER)).text
    again = await browser.follow(await browser.post(path, run))
    assert "run already" in again.text
    assert treasury.paid == 1


async def test_what_others_approve_is_run_by_who_sent_the_form_and_by_nobody_else(
    treasury: Treasury, browser: Browser
) -> None:
    path = await sent(browser, 0, "the mason")
    assert browser.page is not None
    assert 'value="approve"' not in browser.page.text
    assert "come back here to run it" in browser.page.text
    (form,) = [each for each in forms(browser.page.text) if each.action == path]
    early = await browser.post(path, {**form.fields, "answer": "run"})
    assert "is not approved" in (await browser.follow(early)).text
    other = Browser(treasury.portal.app, LOCAL)
    await other.sign_in(next_page=path)
    await other.submit(path, {"answer": "approve"})
    (theirs,) = [each for each in forms((await other.get(path)).text) if each.action == path]
    await other.post(path, {**theirs.fields, "answer": "run"})
    assert treasury.paid == 0
    page = await browser.get(path)
    assert "Run it now" in page.text
    assert "Open it to run it" in (await browser.get("/approvals")).text
    await browser.get(path)
    done = await browser.submit(path, {"answer": "run"})
    assert done.headers["location"] == LEDGER
    assert "Paid 7 to the mason." in (await browser.follow(done)).text
    assert treasury.paid == 1
    await other.aclose()


async def test_the_same_form_again_is_the_same_request_and_runs_once_it_is_approved(
    treasury: Treasury, browser: Browser
) -> None:
    path = await sent(browser, 0, "the smith")
    assert await sent(browser, 0, "the smith") == path
    await treasury.say("bob", path.rpartition("/")[2])
    await browser.get(LEDGER)
    done = await browser.submit(LOCAL + LEDGER, {"to": "the smith"}, number=0)
    assert "Paid 7 to the smith." in (await browser.follow(done)).text
    assert treasury.paid == 1


async def test_a_refused_form_says_so_and_a_token_goes_on_with_nothing(
    treasury: Treasury, browser: Browser
) -> None:
    path = await sent(browser, 0, "the thief")
    await treasury.say("bob", path.rpartition("/")[2], yes=False, note="No thieves.")
    await browser.get(LEDGER)
    told = await browser.submit(LOCAL + LEDGER, {"to": "the thief"}, number=0)
    assert told.status_code == 400
    assert "No thieves." in told.text
    for_ann = await treasury.portal.http("ann").post(path, data={"answer": "run"})
    assert for_ann.status_code == 403
    assert treasury.paid == 0


async def test_a_page_that_waits_itself_is_shown_once_after_the_yes(
    treasury: Treasury, browser: Browser
) -> None:
    led = await browser.get("/vault/audit")
    path = led.headers["location"]
    asks = await browser.get(path)
    assert "you yourself, on a page" in asks.text
    assert "Approve and open" in asks.text
    done = await browser.follow(await browser.submit(path, {"answer": "approve"}))
    assert "audited: 0 payments" in done.text
    assert (await browser.get("/vault/audit")).status_code == 303
