"""Pages that everybody can read: with a silent console, checked by axe and for their width."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, Frame, Page, expect

from tests.browser.chromium import AXE

PATIENCE_MS = 45_000
_NO_FAULTS = ("404", "hidden by content-visibility")
"""What the console says of a page that is right: what was asked for is not there; and Playwright
looked into a picture that is drawn in the next moment."""
PHONE, DESK = {"width": 360, "height": 780}, {"width": 1280, "height": 800}


@asynccontextmanager
async def opened(browser: Browser, **options: Any) -> AsyncGenerator[tuple[BrowserContext, Page]]:
    """A browser of its own, whose console must stay silent: no policy may be broken."""
    context = await browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        yield context, page
    finally:
        await context.close()
    said = [line for line in said if not any(each in line for each in _NO_FAULTS)]
    assert said == [], said


async def violations(page: Page | Frame) -> list[str]:
    """What axe finds wrong with a page, or with a frame of one, once its pictures are drawn."""
    undrawn = page.locator("figure.picture:not([data-alive])")
    await expect(undrawn).to_have_count(0, timeout=PATIENCE_MS)
    await page.evaluate(AXE.read_text())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{page.url} {each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


async def too_wide(page: Page) -> list[str]:
    """Whether a page is wider than the screen."""
    wide = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return [f"{page.url} is {wide} px too wide"] if wide > 0 else []
