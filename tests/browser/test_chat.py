"""The assistant in Chromium: words as they come, a yes on a phone, without scripts, read by all."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.browser.test_views import session
from tests.gateway.assistant.garden import LOOK, PLANT, Garden, open_garden
from tests.servers.openai_compatible import OpenAICompatible, Reply
from tests.servers.streaming import over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

PATIENCE_MS = 60_000
ANSWER = "# By consent\n\n| who | when |\n|---|---|\n| all | at dawn |\n\n" + "x" * 200


expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAICompatible]:
    with OpenAICompatible() as server:
        yield server


@pytest.fixture(scope="module")
def garden() -> Garden:
    return Garden()


@pytest.fixture(scope="module")
async def base(server: OpenAICompatible, garden: Garden) -> AsyncIterator[str]:
    async with open_garden(server, garden) as portal, over_network(portal) as served:
        yield f"http://{served.address}"


async def ask(page: Page, base: str, message: str) -> None:
    await page.goto(f"{base}/")
    await page.get_by_role("link", name="Assistant").click()
    await page.get_by_label("What do you want to know?").fill(message)
    await page.get_by_role("button", name="Send").click()


async def test_words_are_shown_as_they_come_and_in_the_end_the_whole_answer(
    browser: Browser, base: str, server: OpenAICompatible
) -> None:
    gate = threading.Event()
    server.then(LOOK, Reply(text="Slowly it grows", hold=gate), Reply(text=ANSWER))
    async with opened(browser, viewport=PHONE) as (context, page):
        await context.add_cookies(await session(base))
        await ask(page, base, "How are decisions made?")
        await expect(page.get_by_text("Asking look")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("Asking look")).to_be_visible()
        gate.set()
        await expect(page.locator(".said")).to_contain_text("Slowly it grows")
        await expect(page.get_by_role("link", name="How we decide")).to_be_visible()
        await expect(page.get_by_label("Your message")).to_be_visible()
        await page.get_by_label("Your message").fill("And then?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_role("cell", name="at dawn")).to_be_visible()


async def test_an_answer_is_stopped_on_its_page(
    browser: Browser, base: str, server: OpenAICompatible
) -> None:
    server.then(Reply(text="word " * 3000, pause_s=0.02))
    async with opened(browser, viewport=DESK) as (context, page):
        await context.add_cookies(await session(base))
        await ask(page, base, "Tell me everything")
        await expect(page.locator(".growing")).to_contain_text("word word")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_text("You stopped it.")).to_be_visible()
        await expect(page.get_by_role("button", name="Go on")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_it_and_say_yes_without_scripts(
    browser: Browser,
    base: str,
    server: OpenAICompatible,
    garden: Garden,
    scheme: str,
    viewport: dict[str, int],
) -> None:
    server.then(PLANT, Reply(text=ANSWER))
    planted, signed = len(garden.planted), await session(base)
    problems: list[str] = []
    async with opened(browser, viewport=viewport, java_script_enabled=False) as (context, page):
        await context.add_cookies(signed)
        await ask(page, base, "Plant an oak " + "and water it " * 20)
        await expect(page.get_by_role("heading", name="May this run?")).to_be_visible()
        address = page.url.partition("#")[0]
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
        await context.add_cookies(signed)
        for path in (f"{base}/chat", address):
            await page.goto(path)
            problems += await violations(page) + await too_wide(page)
    async with opened(browser, viewport=viewport, java_script_enabled=False) as (context, page):
        await context.add_cookies(signed)
        await page.goto(address)
        await page.get_by_role("button", name="Approve").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("cell", name="at dawn")).to_be_visible()
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
        await context.add_cookies(signed)
        await page.goto(address)
        problems += await violations(page) + await too_wide(page)
    assert problems == []
    assert len(garden.planted) == planted + 1
