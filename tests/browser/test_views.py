"""Views in Chromium: the knowledge base leafed through, and apps inside a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.cli.mcp_client import McpClient
from gateway.surfaces.views.apps import APPS
from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from tests.browser.app_host import show_app
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.gateway.surfaces.pages.browser import Browser as Visitor
from tests.servers.github_history import History
from tests.servers.streaming import Served, over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

NOTES = {
    "patterns/commons.md": "---\ntitle: The commons\npublish: true\ntags: [land]\n---\n"
    "# Sharing\n\nA meadow is *shared* by all. See [water](water.md).\n\n"
    "| what | whose |\n|---|---|\n| grass | everybody's |\n\n<script>alert(1)</script>\n",
    "patterns/water.md": "---\ntitle: Water rights\npublish: true\n---\nWho may use the well.\n",
    "tags/well.md": "---\ntitle: Well\ntype: tag\npublish: true\n---\n"
    f"A hole, not a meadow: https://example.org/{'x' * 300}\n",
}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """A portal with a small knowledge base that is open to all."""
    notes = tmp_path / "notes"
    history = History.begun(notes)
    older = NOTES["patterns/commons.md"].replace("everybody", "nobody")
    history.commit({"patterns/commons.md": older.encode()}, message="Say whose <b>grass</b> is")
    history.commit({path: text.encode() for path, text in NOTES.items()}, message="Mend it")
    source = {"directory": str(notes), "tier": "open"}
    config = {"plugins": {"knowledge": {"sources": [source]}}}
    tiers = {"items": {"knowledge": "open"}, "access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(plugin, config=config, tiers=tiers) as portal:
        async with over_network(portal) as opened:
            yield opened


async def _search(page: Page, base: str) -> None:
    await page.goto(f"{base}/")
    await page.get_by_role("link", name="Knowledge").click()
    await page.get_by_label("What are you looking for?").fill("shared meadow")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("mark").first).to_be_visible()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
async def test_a_document_is_found_read_and_followed(
    browser: Browser, served: Served, script: bool
) -> None:
    async with opened(browser, viewport=PHONE, java_script_enabled=script) as (_, page):
        await _search(page, f"http://{served.address}")
        await page.get_by_role("link", name="The commons").click()
        await expect(page.get_by_role("heading", name="The commons")).to_be_visible()
        await expect(page.get_by_role("heading", name="Sharing")).to_be_visible()
        await expect(page.get_by_role("cell", name="everybody's")).to_be_visible()
        await expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
        await page.get_by_role("link", name="What stands around it").click()
        await page.locator("main li").get_by_role("link", name="Water rights").first.click()
        await expect(page.get_by_text("Who may use the well.")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_every_view(
    browser: Browser, served: Served, scheme: str, viewport: dict[str, int]
) -> None:
    base = f"http://{served.address}"
    document = "contentType=file&id=commons"
    problems: list[str] = []
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (_, page):
        for path in (
            "/",
            "/search?query=shared+meadow",
            "/knowledge/search",
            "/knowledge/search?query=shared+meadow",
            "/knowledge/search?query=meadow&filters.tags=land&filters.sort=date",
            "/knowledge/documents",
            "/knowledge/lexicon?keyword=well",
            "/knowledge/groups",
            "/knowledge/releases",
            f"/knowledge/document?{document}",
            f"/knowledge/related?{document}",
            f"/knowledge/history?{document}",
            "/knowledge/map",
            "/knowledge/map?tag=land",
        ):
            answer = await page.goto(base + path)
            assert answer is not None
            assert answer.status == 200, path
            assert len(await answer.body()) < 60_000
            problems += await violations(page)
            problems += await too_wide(page)
    assert problems == []


async def test_an_app_draws_the_answer_and_its_links_are_calls(
    browser: Browser, served: Served
) -> None:
    client = McpClient(served.portal.http("open"), capabilities=APPS)
    async with opened(browser) as (_, page):
        app, called = await show_app(page, client, "search_knowledge", {"query": "shared meadow"})
        await app.get_by_role("link", name="The commons").click()
        await expect(app.get_by_role("heading", name="Sharing")).to_be_visible()
        await app.get_by_role("link", name="What stands around it").click()
        await expect(app.get_by_role("heading", name="What stands around it")).to_be_visible()
        assert called == ["get_document", "related_documents"]
        assert await page.evaluate("sizes.length") > 0


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
async def test_memory_is_kept_corrected_and_forgotten(
    browser: Browser, served: Served, script: bool
) -> None:
    base, problems = f"http://{served.address}", list[str]()
    options = {"viewport": PHONE, "java_script_enabled": script}

    async def unfolded(page: Page, text: str) -> None:
        await page.locator("summary", has_text=text).click()
        if script:
            problems.extend([*await violations(page), *await too_wide(page)])

    async with opened(browser, **options) as (context, page):
        await context.add_cookies(await session(base))
        await page.goto(f"{base}/knowledge/memory")
        await unfolded(page, "Keep something yourself")
        await page.get_by_label("What to remember").fill("The gate code changes in May.")
        await page.get_by_role("button", name="Keep it").click()
        await expect(page.get_by_role("status")).to_contain_text("It is kept.")
        await unfolded(page, "Correct it")
        await page.get_by_label("What it is to say").fill("The gate code changes in June.")
        await page.get_by_role("button", name="Save it as a new version").click()
        await expect(page.get_by_role("article")).to_contain_text("changes in June")
        await page.get_by_role("link", name="What it said before").click()
        await page.get_by_role("button", name="Say this again").click()
        await expect(page.get_by_role("article")).to_contain_text("changes in May")
        await unfolded(page, "Change who may read it")
        await unfolded(page, "Forget it")
        await page.get_by_role("button", name="Forget it").click()
        await expect(page.get_by_role("status").first).to_contain_text("It is forgotten")
    assert problems == []


async def session(base: str) -> list[Any]:
    """The cookies of somebody who has signed in with a wallet."""
    person = Visitor(None, base)
    await person.sign_in()
    kept = [
        {"name": each.name, "value": each.value, "url": base} for each in person.client.cookies.jar
    ]
    await person.aclose()
    return [each for each in kept if each["value"]]
