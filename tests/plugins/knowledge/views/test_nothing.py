"""What is not there is said once, and leads on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from tests.gateway.surfaces.pages.browser import Browser


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    (tmp_path / "fee.md").write_text("---\ntitle: The fee\npublish: true\n---\nIt is 20 euros.\n")
    sources = [{"directory": str(tmp_path), "tier": "open"}]
    config = {"services": {"embedding": "none"}, "plugins": {"knowledge": {"sources": sources}}}
    tiers = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(plugin, config=config, tiers=tiers) as portal:
        opened = Browser(portal.app, "http://localhost")
        await opened.sign_in()
        yield opened
        await opened.aclose()


async def test_a_search_that_finds_nothing_says_so_once_and_leads_on(browser: Browser) -> None:
    nothing = (await browser.get("/knowledge/search?query=zeppelin")).text
    assert nothing.count("Nothing here fits") == 1
    assert "Narrow it" not in nothing
    assert "newest first" not in nothing
    assert 'href="http://localhost/knowledge/documents"' in nothing
    near = (await browser.get("/knowledge/search?query=fee+zeppelin+hydrogen+mooring+mast")).text
    assert near.count("Nothing here fits") == 1
    assert re.search(
        r'\(<a href="[^"]+/document\?contentType=file&amp;id=fee"[^>]*>file/fee</a>\)', near
    )
    found = (await browser.get("/knowledge/search?query=fee")).text
    assert "Narrow it" in found


@pytest.mark.parametrize("path", ["document?contentType=file&id=nope", "entry?id=zzz"])
async def test_what_is_not_there_offers_a_search_and_no_request_id(
    browser: Browser, path: str
) -> None:
    answer = await browser.get(f"/knowledge/{path}")
    assert answer.status_code == 404
    assert "<h1>Nothing here</h1>" in answer.text
    assert "request id" not in answer.text
    assert 'href="/search"' in answer.text
