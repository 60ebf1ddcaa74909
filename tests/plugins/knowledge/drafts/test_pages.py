"""The pages of drafts: what people write there reads in its own direction."""

from __future__ import annotations

from typing import Any

from tests.gateway.surfaces.pages.browser import Browser
from tests.plugins.knowledge.drafts.garden import WATER, Ground
from tests.plugins.knowledge.views.directions import Reader

BASE = "http://localhost"


async def test_a_draft_that_reads_from_the_right_is_marked(begun: Ground) -> None:
    signed_in: dict[str, Any] = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with begun.opened(signed_in) as garden:
        browser = Browser(garden.portal.app, BASE)
        await browser.sign_in()
        await browser.get("/knowledge/drafts")
        typed = {**WATER, "title": "באר", "body": "כולם שותים מן [הבאר](./אין.md)."}
        typed |= {"frontmatter": "tags: [מים]"}
        sent = await browser.follow(await browser.submit(f"{BASE}/knowledge/drafts", typed))
        for page in (sent, await browser.get("/knowledge/drafts")):
            read = Reader(page.text)
            assert any("באר" in text for text in read.marked)
            assert read.unmarked == []
        await browser.aclose()


async def test_an_unknown_draft_is_told_of_in_words_for_people(begun: Ground) -> None:
    signed_in: dict[str, Any] = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with begun.opened(signed_in) as garden:
        browser = Browser(garden.portal.app, BASE)
        await browser.sign_in()
        page = (await browser.get("/knowledge/draft?draft=none")).text
        assert "There is no such draft. It may be taken in" in page
        assert "list_drafts" not in page
        await browser.aclose()
