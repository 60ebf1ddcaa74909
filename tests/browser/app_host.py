"""Apps in the reference host of MCP Apps, inside Chromium."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import FrameLocator, Page

from gateway.cli.mcp_client import McpClient

NODE = Path(__file__).parents[1] / "node"
_PAGE = """<!doctype html><html lang="en"><head><title>A client</title></head><body>
<iframe title="The app" sandbox="allow-scripts" style="width: 100%; height: 700px"></iframe>
</body></html>"""


@cache
def _bridge() -> str:
    """The bridge of ``@modelcontextprotocol/ext-apps`` for a browser, in one file."""
    with TemporaryDirectory() as place:
        made = Path(place, "host.js")
        bundler = str(NODE / "node_modules/.bin/rolldown")
        bundle = [bundler, "reference_host.mjs", "--file", str(made), "--format", "esm"]
        subprocess.run(bundle, cwd=NODE, check=True, capture_output=True)
        return made.read_text()


async def show_app(
    page: Page, client: McpClient, tool: str, arguments: Mapping[str, Any]
) -> tuple[FrameLocator, list[str]]:
    """Call a tool, and show its answer in its app.

    Args:
        page: an empty page.
        client: declares that it shows apps.
        tool: the tool.
        arguments: what it is called with.

    Returns:
        The app, and the names of the tools that it calls from now on.
    """
    called: list[str] = []

    async def call(name: str, given: dict[str, Any]) -> dict[str, Any]:
        called.append(name)
        return await client.call(name, given)

    tools = {each["name"]: each for each in await client.list("tools")}
    uri = tools[tool]["_meta"]["ui"]["resourceUri"]
    (read,) = (await client.request("resources/read", {"uri": uri}))["contents"]
    result = await client.call(tool, dict(arguments))
    await page.expose_function("callTool", call)
    await page.set_content(_PAGE)
    await page.add_script_tag(content=_bridge(), type="module")
    await page.wait_for_function("window.host !== undefined")
    await page.evaluate("(given) => host(...given)", [read["text"], dict(arguments), result])
    return page.frame_locator("iframe"), called
