"""The pages of a portal on the machine of whoever runs it, and browsers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.portal import LOCAL, PagesPortal, open_pages

Opening = Callable[..., Browser]
"""Opens one more browser, at a portal or at the one of the test."""


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[PagesPortal]:
    async with open_pages(tmp_path) as portal:
        yield portal


@pytest.fixture
async def browse() -> AsyncIterator[Opening]:
    opened: list[Browser] = []

    def open_one(portal: PagesPortal, base: str = "") -> Browser:
        opened.append(Browser(portal.app, base or portal.parts.site.url))
        return opened[-1]

    yield open_one
    for browser in opened:
        await browser.aclose()


@pytest.fixture
def browser(portal: PagesPortal, browse: Opening) -> Browser:
    return browse(portal, LOCAL)
