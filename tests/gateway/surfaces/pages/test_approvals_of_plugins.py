"""What waits in memory is shown and decided on the same page, as its own rules have it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account as Key

from auth.callers import Account
from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from tests.gateway.surfaces.pages.browser import Browser

LOCAL = "http://127.0.0.1:8321"
ADMIN = Key.create()
TIERS = {
    "access": {"members": "signed_in", "admins": {"any_of": [{"address": ADMIN.address}]}},
    "items": {"knowledge": "public"},
}


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncGenerator[TestPortal]:
    config = {"plugins": {"knowledge": {"sources": [{"directory": str(tmp_path)}]}}}
    async with open_test_portal(plugin, config=config, tiers=TIERS) as opened:
        yield opened


async def waiting(portal: TestPortal, key: str = "") -> str:
    """The address of the page of something that waits."""
    accounts = (Account.of_key(key),) if key else ()
    await portal.sign_in("ann", *accounts)
    wanted = {"content": "The gate opens at nine.", "policy": "organization"}
    kept = await portal.call("remember", wanted, tier="ann")
    assert "appr_" in kept.text
    found = re.search(r"appr_\w+", kept.text)
    assert found is not None
    return f"/approvals/knowledge/{found[0]}"


async def test_somebody_else_reads_it_whole_and_approves_it(portal: TestPortal) -> None:
    path = await waiting(portal)
    browser = Browser(portal.app, LOCAL)
    await browser.sign_in(next_page="/approvals")
    assert browser.page is not None
    assert f'href="{path}"' in browser.page.text
    assert "The gate opens at nine." in browser.page.text  # tells it from others
    assert "waits for somebody else" not in browser.page.text
    assert "waits for your yes" not in browser.page.text
    read = (await browser.get(path)).text
    assert "The gate opens at nine." in read
    assert "confidence" not in read  # and what else nobody has said
    done = await browser.follow(await browser.submit(path, {"answer": "approve"}))
    assert "It is approved and done." in done.text
    found = await portal.call("query_memory", {"query": "gate"}, tier="ann")
    assert "The gate opens at nine." in found.text
    again = await browser.get(path)
    assert (again.status_code, "may have been decided already" in again.text) == (404, True)
    await browser.aclose()


async def test_ones_own_is_taken_back_and_not_approved(portal: TestPortal) -> None:
    key = Key.create()
    path = await waiting(portal, key.address)
    own = Browser(portal.app, LOCAL)
    await own.sign_in(key, next_page=path)
    assert own.page is not None
    assert 'value="approve"' not in own.page.text
    told = await own.follow(await own.submit(path, {"answer": "approve"}))
    assert "takes somebody else to approve it" in told.text
    done = await own.follow(await own.submit(path, {"answer": "refuse"}))
    assert "It is refused." in done.text
    await own.aclose()


@pytest.mark.parametrize(("key", "waits"), [(Key.create(), True), (ADMIN, False)])
async def test_ones_own_waits_for_somebody_else_but_an_admin_s(
    portal: TestPortal, key: Any, waits: bool
) -> None:
    await waiting(portal, key.address)
    own = Browser(portal.app, LOCAL)
    await own.sign_in(key, next_page="/approvals")
    assert own.page is not None
    line = own.page.text[own.page.text.index("Asked for by you") :]
    assert ("waits for somebody else" in line[: line.index("</li>")]) is waits
    await own.aclose()


async def test_a_token_and_a_page_that_has_changed_decide_nothing(portal: TestPortal) -> None:
    path = await waiting(portal)
    browser = Browser(portal.app, LOCAL)
    await browser.sign_in(next_page=path)
    sent = await browser.submit(path, {"answer": "approve", "request": "0" * 64})
    assert sent.status_code == 403  # the mark is of what was shown
    token = portal.http("ann").headers["authorization"]
    answer = await portal.http("ann").post(path, data={"answer": "approve"})
    assert answer.status_code == 403
    assert token
    assert "The gate opens at nine." in (await browser.get(path)).text
    await browser.aclose()
