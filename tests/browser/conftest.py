"""The pages in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser

from tests.browser.chromium import chromium, executable
from tests.gateway.surfaces.pages.portal import PagesPortal, open_pages
from tests.servers.serving import bound

Serving = Callable[..., AbstractAsyncContextManager[PagesPortal]]
"""Serves a portal's pages on a free port; takes what ``open_pages`` takes."""


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, for all tests of a file."""
    if executable() is None:
        pytest.skip("Chromium is not installed: install it, or name it in PORCH_TEST_CHROMIUM.")
    async with chromium() as browser:
        yield browser


@pytest.fixture
def served(tmp_path: Path) -> Serving:
    @asynccontextmanager
    async def serve(**options: Any) -> AsyncGenerator[PagesPortal]:
        listener = bound()
        listener.listen(64)
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with open_pages(tmp_path, base, **options) as portal:
            config = uvicorn.Config(portal.app, log_config=None, lifespan="off", ws="none")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve([listener]))
            try:
                yield portal
            finally:
                server.should_exit = True
                await serving

    return serve


@pytest.fixture
async def portal(served: Serving) -> AsyncIterator[PagesPortal]:
    async with served() as portal:
        yield portal
