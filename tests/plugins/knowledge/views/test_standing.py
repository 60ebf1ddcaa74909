"""What does not hold any more leads to what holds instead, on every page that says so."""

from __future__ import annotations

from pathlib import Path

from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from tests.gateway.surfaces.pages.browser import Browser

DOCUMENT = "http://localhost/knowledge/document"
NOTE = "---\ntitle: {}\npublish: true\n{}---\nThe fee of the year is {} euros.\n"


async def test_what_supersedes_a_document_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "fee1.md").write_text(NOTE.format("The fee", "", 20))
    (tmp_path / "fee2.md").write_text(NOTE.format("The new fee", "supersedes: fee1\n", 30))
    sources = [{"directory": str(tmp_path), "tier": "open"}]
    config = {"services": {"embedding": "none"}, "plugins": {"knowledge": {"sources": sources}}}
    tiers = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(plugin, config=config, tiers=tiers) as portal:
        browser = Browser(portal.app, "http://localhost")
        await browser.sign_in()
        search = (await browser.get("/knowledge/search?query=fee+of+the+year")).text
        page = (await browser.get("/knowledge/document?contentType=file&id=fee1")).text
        for shown in (search, page):
            _, _, link = shown.partition("superseded by <a href=")
            assert link.startswith(f'"{DOCUMENT}?contentType=file&amp;id=fee2"'), shown
            assert link.partition(">")[2].startswith("file/fee2</a>")
        await browser.aclose()


async def test_the_links_of_a_document_lead_to_the_pages_of_others(tmp_path: Path) -> None:
    (tmp_path / "Watering the beds.md").write_text("# Watering\n\nAt six.\n")
    (tmp_path / "hidden.md").write_text("---\ntier: members\n---\n# Hidden\n")
    text = "[[watering the beds|when]], [so](Watering%20the%20beds.md), [[hidden]]\n"
    (tmp_path / "start.md").write_text(text)
    sources = [{"directory": str(tmp_path), "publish": "all", "tier": "open"}]
    config = {"services": {"embedding": "none"}, "plugins": {"knowledge": {"sources": sources}}}
    async with open_test_portal(
        plugin, config=config, tiers={"items": {"knowledge": "open"}}
    ) as portal:
        browser = Browser(portal.app, "http://localhost")
        page = (await browser.get("/knowledge/document?contentType=file&id=start")).text
        to = f'<a href="{DOCUMENT}?contentType=file&amp;id=Watering+the+beds"'
        assert page.count(to) == 2, page
        assert ">when</a>" in page
        assert "[[hidden]]" in page
        await browser.aclose()
