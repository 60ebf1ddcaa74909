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
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.servers.streaming import Served, over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

NOTES = {
    "patterns/commons.md": "---\ntitle: The commons\npublish: true\ntags: [land]\n---\n"
    "# Sharing\n\nA meadow is *shared* by all. See [water](water.md).\n\n"
    "| what | whose |\n|---|---|\n| grass | everybody's |\n\n<script>alert(1)</script>\n",
    "patterns/water.md": "---\ntitle: Water rights\npublish: true\n---\nWho may use the well.\n",
}
HOST = Path(__file__).with_name("apps_host.html")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """A portal with a small knowledge base that is open to all."""
    notes = tmp_path / "notes"
    for path, text in NOTES.items():
        file = notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    source = {"directory": str(notes), "tier": "open"}
    config = {"plugins": {"knowledge": {"sources": [source]}}}
    tiers = {"items": {"knowledge": "open"}}
    async with open_test_portal(plugin, config=config, tiers=tiers) as portal:
        async with over_network(portal) as opened:
            yield opened


async def _search(page: Page, base: str) -> None:
    await page.goto(f"{base}/")
    await page.get_by_role("link", name="Search the pages").click()
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
        await page.get_by_role("link", name="Water rights").first.click()
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
            "/knowledge/search",
            "/knowledge/search?query=shared+meadow",
            "/knowledge/documents",
            f"/knowledge/document?{document}",
            f"/knowledge/related?{document}",
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
    uri = "ui://knowledge/search"
    (read,) = (await client.request("resources/read", {"uri": uri}))["contents"]
    called: list[tuple[str, dict[str, Any]]] = []

    async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        called.append((name, arguments))
        return await client.call(name, arguments)

    async with opened(browser) as (_, page):
        await page.expose_function("callTool", call)
        await page.goto(HOST.as_uri())
        result = await client.call("search_knowledge", {"query": "shared meadow"})
        await page.evaluate("([html, result]) => host(html, result)", [read["text"], result])
        app = page.frame_locator("iframe")
        await app.get_by_role("link", name="The commons").click()
        await expect(app.get_by_role("heading", name="Sharing")).to_be_visible()
        await app.get_by_role("link", name="What stands around it").click()
        await expect(app.get_by_role("heading", name="What stands around it")).to_be_visible()
        assert [name for name, _ in called] == ["get_document", "related_documents"]
        assert await page.evaluate("sizes.length") > 0
