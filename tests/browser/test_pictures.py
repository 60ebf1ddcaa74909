"""Pictures of graphs in Chromium: zoomed, filtered, dragged, saved, and clicked inside a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.cli.mcp_client import McpClient
from gateway.surfaces.views.apps import APPS
from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from tests.browser.app_host import show_app
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.servers.streaming import Served, over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

USERS = 30
GRAPH = "/codegraph/graph?name=shared&depth=2"
EMBEDDING = ("impact", "callers", "context")
"""The pages that show the picture of another one."""


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """A portal with a repository in which many functions call one."""
    root = tmp_path / "town"
    root.mkdir()
    (root / "shared.py").write_text("def shared():\n    return 1\n")
    for number in range(USERS):
        text = f"from shared import shared\n\n\ndef user_{number}():\n    return shared()\n"
        (root / f"user_{number}.py").write_text(text)
    declared = [{"name": "town", "path": str(root), "tier": "open"}]
    config = {"plugins": {"codegraph": {"repositories": declared}}}
    async with open_test_portal(plugin, config=config) as portal:
        async with over_network(portal) as opened:
            yield opened


async def _number(page: Page, script: str) -> float:
    value = await page.evaluate(script)
    assert isinstance(value, int | float)
    return value


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_a_picture(
    browser: Browser, served: Served, scheme: str, viewport: dict[str, int]
) -> None:
    base = f"http://{served.address}"
    problems: list[str] = []
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (_, page):
        for path in (GRAPH, *(f"/codegraph/{page}?name=shared" for page in EMBEDDING)):
            await page.goto(base + path)
            await expect(page.get_by_role("button", name="Fit all of it")).to_be_visible()
            problems += await violations(page)
            problems += await too_wide(page)
    assert problems == []


async def test_without_scripts_a_picture_is_there_and_its_boxes_are_links(
    browser: Browser, served: Served
) -> None:
    async with opened(browser, viewport=PHONE, java_script_enabled=False) as (_, page):
        await page.goto(f"http://{served.address}/codegraph/impact?name=shared")
        await page.get_by_role("link", name="The same as a picture").click()
        await page.locator("svg.graph a").nth(1).click()
        await expect(page.locator(".node.start text").first).to_contain_text("user_")


async def test_the_page_of_why_code_exists_shows_the_calls_around_it_and_the_code(
    browser: Browser, served: Served
) -> None:
    async with opened(browser, viewport=DESK) as (_, page):
        await page.goto(f"http://{served.address}/codegraph/context?name=user_7")
        await expect(page.locator("svg.graph .node")).to_have_count(2)
        await expect(page.locator("figure.source")).to_contain_text("return shared()")
        await page.locator("svg.graph a", has_text="shared").last.click()
        await expect(page.locator(".node.start text").first).to_contain_text("shared")


async def test_a_picture_is_zoomed_filtered_dragged_and_saved(
    browser: Browser, served: Served
) -> None:
    async with opened(browser, viewport=DESK) as (_, page):
        await page.goto(f"http://{served.address}{GRAPH}")
        width = "document.querySelector('svg.graph').getBoundingClientRect().width"
        before = await _number(page, width)
        await page.get_by_role("button", name="Larger").click()
        assert await _number(page, width) == pytest.approx(before * 1.25, rel=0.01)

        await page.get_by_label("Show only boxes with these letters").fill("user_7")
        assert await _number(page, "document.querySelectorAll('.node.away').length") == USERS
        await page.get_by_label("Show only boxes with these letters").fill("")

        top = "document.querySelector('.canvas').scrollTop"
        start = await _number(page, top)
        box = await page.locator(".canvas").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 200, box["y"] + 300)
        await page.mouse.down()
        await page.mouse.move(box["x"] + 200, box["y"] + 200, steps=4)
        await page.mouse.up()
        assert await _number(page, top) == pytest.approx(start + 100, abs=2)
        assert page.url.endswith(GRAPH)  # a drag opens no box

        await page.locator(".node.start").hover()
        assert await _number(page, "document.querySelectorAll('.edge.near').length") == USERS

        for text, name in (("Save as PNG", "codegraph-graph.png"), ("", "codegraph-graph.svg")):
            async with page.expect_download() as download:
                button = page.get_by_role("button", name=text) if text else None
                await (button or page.get_by_role("link", name="Save as SVG")).click()
            saved = await download.value
            assert saved.suggested_filename == name
            assert (await saved.path()).stat().st_size > 1_000


async def test_what_a_change_breaks_is_a_picture_in_a_client_that_one_can_click(
    browser: Browser, served: Served
) -> None:
    client = McpClient(served.portal.http("open"), capabilities=APPS)
    async with opened(browser) as (_, page):
        app, called = await show_app(page, client, "analyze_impact", {"name": "shared"})
        await expect(app.locator(".node")).to_have_count(USERS + 1)
        await app.locator(".node", has_text="user_7").locator("a").click()
        await expect(app.locator(".node.start text").first).to_have_text("user_7")
        assert called == ["get_call_graph", "get_call_graph"]
