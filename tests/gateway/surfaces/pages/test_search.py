"""One search box: every plugin that may be asked is, and none spoils the page for the others."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from gateway.surfaces.pages import glances
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from tests.gateway.surfaces.views import painted, troubled


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    tiers = {"items": {"painted/list_things": "members", "troubled": "members"}}
    async with open_test_portal(painted, troubled, tiers=tiers) as opened:
        yield opened


async def searched(portal: TestPortal, query: str, tier: str = "open") -> str:
    answer = await portal.http(tier).get("/search", params={"query": query})
    assert answer.status_code == 200
    assert answer.headers["x-frame-options"] == "DENY"
    return answer.text


async def test_what_plugins_find_stands_under_their_titles(portal: TestPortal) -> None:
    page = await searched(portal, "chair")
    assert re.search(r"<h2[^>]*>The thing</h2>\s*<h1>chair</h1>", page)
    assert 'href="http://localhost/painted/thing?name=chair"' in page
    assert 'value="chair"' in page


async def test_without_words_nobody_is_asked(portal: TestPortal) -> None:
    page = await searched(portal, "  ")
    assert "It looks through what you may see here: The thing." in page
    assert "<h1>chair</h1>" not in page


async def test_who_may_not_use_a_tool_is_told_so_and_it_is_not_asked(portal: TestPortal) -> None:
    page = await searched(portal, "chair")
    assert "A higher tier also searches: Troubled: slow" in page
    assert 'href="/signin"' in page
    assert 'id="troubled-slow"' not in page


async def test_a_plugin_that_is_slow_or_fails_says_so_in_its_place(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One plugin never answers; the others have long enough on a busy machine.
    monkeypatch.setattr(glances, "SECONDS", 5.0)
    page = await searched(portal, "chair", "members")
    assert "<h1>chair</h1>" in page
    assert "It did not answer within" in page
    assert "Something went wrong" in page
    assert "a secret about" not in page
    assert "It cannot be shown here now." in page


async def test_the_words_of_a_search_are_text(portal: TestPortal) -> None:
    page = await searched(portal, painted.EVIL)
    assert "<script>alert" not in page
    assert "<img src=x" not in page


async def test_a_secret_that_is_searched_for_is_not_repeated_by_a_plugin(
    portal: TestPortal,
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    page = await searched(portal, token)
    assert f"<h1>{token}" not in page


async def test_who_searches_too_often_is_told_so() -> None:
    config = {"limits": {"calls": "2 in 60s"}}
    async with open_test_portal(painted, config=config) as portal:
        pages = [await searched(portal, f"chair {number}") for number in range(3)]
    assert "which is the limit" in pages[-1]
