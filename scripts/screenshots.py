"""Pictures of what people see: each page and app, for the documentation.

``make screenshots`` serves a portal over the handbook and its own code, signs a person in who is an
admin, and writes ``docs/screenshots`` and the page of all components,
``docs/plugin-authors/components.html``. It needs Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import httpx2
from eth_account import Account
from markupsafe import Markup
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize

from benchmarks.processes import free_port, launched
from gateway.cli.mcp_client import McpClient
from gateway.contract import Graph, GraphEdge, GraphNode
from gateway.surfaces.views.apps import APPS
from gateway.surfaces.views.drawing import environment
from gateway.surfaces.views.graphs.picture import figure
from tests.browser.app_host import show_app
from tests.browser.chromium import Wallet, chromium
from tests.browser.community import Community, open_community
from tests.servers.openai_compatible import OpenAICompatible

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "screenshots"
COMPONENTS = ROOT / "docs" / "plugin-authors" / "components.html"
STATIC = ROOT / "gateway" / "surfaces" / "pages" / "static"
CODE = ("auth", "gateway")
"""The folders of this checkout that are served as a repository."""
DESK = ViewportSize(width=1100, height=780)
PHONE = ViewportSize(width=390, height=780)
LOOKS: Sequence[tuple[ViewportSize, Literal["light", "dark"], str]] = (
    (DESK, "light", ""),
    (PHONE, "dark", "-phone"),
)
"""How each page is seen: the size, the colours, and what the file's name ends with."""
PAGES: Mapping[str, tuple[str, str]] = {
    "start": ("/", "The start page"),
    "everything": ("/search?query=tiers", "Everything here, searched"),
    "account": ("/account", "A person's account"),
    "documents": ("/knowledge/documents", "All documents"),
    "knowledge": ("/knowledge/search?query=who+may+use+what", "The knowledge base, searched"),
    "document": ("/knowledge/document?contentType=project&id=access", "A document"),
    "related": ("/knowledge/related?contentType=project&id=access", "What stands around it"),
    "memory": ("/knowledge/memory", "What agents remember of a person"),
    "approvals": ("/approvals", "What waits for a yes"),
    "workflows": ("/workflows/workflows", "The playbook"),
    "code": ("/codegraph/search?query=picture", "Code, searched"),
    "graph": (
        "/codegraph/graph?name=layout.py::laid_out&direction=both",
        "The calls around a function",
    ),
    "impact": ("/codegraph/impact?name=layout.py::laid_out", "What a change breaks"),
    "routes": ("/codegraph/routes", "HTTP routes"),
    "repository": ("/codegraph/repository", "A repository"),
    "workspace": ("/codegraph/workspace", "A person's uncommitted work"),
    "admin": ("/admin", "What needs an admin's hand"),
    "admin-access": ("/admin/access?plugin=knowledge", "Who may use what"),
    "admin-tiers": ("/admin/tiers", "What other rules would change"),
    "admin-explain": ("/admin/explain?as=public&item=get_document", "Why, or why not"),
    "admin-people": ("/admin/people", "People"),
    "admin-health": ("/admin/health", "Health"),
    "admin-usage": ("/admin/usage?over=day", "Usage"),
    "admin-audit": ("/admin/audit", "The audit log"),
}
"""What one sees who is signed in: the file's name, the address and what it shows."""
BEFORE: Mapping[str, tuple[str, str]] = {
    "welcome": ("/", "The start page of a stranger"),
    "signin": ("/signin", "Signing in"),
}
"""What one sees before."""
COMMUNITY: Mapping[str, tuple[str, str]] = {
    "skill": ("/skills_repo/skill", "A skill, its files and its use"),
    "skill-file": ("/skills_repo/skill-file", "A file of a skill"),
    "history": ("/knowledge/history", "A document's history"),
    "map": ("/knowledge/map", "How the documents hang together"),
    "drafts": ("/knowledge/drafts", "Drafts of pages"),
    "draft": ("/knowledge/draft", "A draft, as it would stand"),
    "review": ("/knowledge/review", "What waits for a look in memory"),
    "workflow": ("/workflows/workflow", "A workflow of one's own, and what was changed"),
    "workflow-preview": ("/workflows/preview", "An edit, before it is saved"),
    "workflow-new": ("/workflows/new", "A new workflow, before it is written"),
    "workflow-links": ("/workflows/links", "Links to a workflow that end"),
    "workflow-shared": ("/workflows/shared", "What whoever has a link sees"),
    "run": ("/workflows/run", "A run, walked in the browser"),
    "folders": ("/workflows/folders", "A folder"),
    "bin": ("/workflows/bin", "What one has deleted"),
    "waiting": ("/approvals", "Calls that wait for a yes"),
    "approval": ("/approvals/{id}", "A call that waits, with its arguments"),
    "approval-of-memory": ("/approvals/{plugin}/{id}", "What waits in memory"),
    "chat": ("/chat/{id}", "The assistant"),
    "chats": ("/chat", "Conversations with it"),
    "month": ("/usage/month", "What models cost in a month"),
    "activity": ("/account/activity", "What one has done"),
    "admin-models": ("/admin/models", "What models cost everybody"),
}
"""What one sees in a small community where all of it has something to show
(``tests/browser/community.py``): the file's name, the path of the page, and what it shows."""
APP_CALLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "search": ("search_knowledge", {"query": "who may use what"}),
    "graph": ("get_call_graph", {"name": "layout.py::laid_out", "direction": "both"}),
    "impact": ("analyze_impact", {"name": "layout.py::laid_out"}),
}
"""The apps: the file's name, the tool, and what it is called with."""


def components() -> str:
    """The page of all components, which needs no portal."""
    nodes = [
        GraphNode("a", "renew", "sessions.py:12", "start"),
        GraphNode("b", "Session.load", "sessions.py:40"),
        GraphNode("c", "test_renewal", "test_sessions.py:7", "test"),
        GraphNode("d", "Sessions", "a group", "group"),
    ]
    edges = [GraphEdge("a", "b"), GraphEdge("c", "a"), GraphEdge("d", "b", faint=True)]

    def link(tool: str, **arguments: Any) -> Markup:
        return Markup('href="#{}"').format(tool)

    templates = environment(Path(__file__).parent)
    drawn = figure(Graph("An arrow leads from what uses to what is used.", nodes, edges), link, "")
    picture = Markup(templates.get_template("picture.html").render(**drawn))  # noqa: S704
    # Read as text: as a template of this folder it would import itself.
    source = Path(__file__).with_name("components.html").read_text()
    template = environment(STATIC).from_string(source)
    body = template.render(link=link, form=lambda tool: Markup('action="#"'), picture=picture)
    static = "../../gateway/surfaces/pages/static"
    sheets = "".join(
        f'<link rel="stylesheet" href="{static}/{name}.css">\n'
        for name in ("tokens", "porch", "views", "graphs")
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Components of views</title>\n{sheets}"
        "<style>.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; }</style>\n"
        f'</head><body><main id="main" class="wide">{body}</main></body></html>\n'
    )


@contextmanager
def _portal(address: str) -> Generator[str]:
    """A portal whose admin has a wallet's address; gives where it is served."""
    with TemporaryDirectory() as place:
        config, data, port = Path(place, "config"), Path(place, "data"), free_port()
        shutil.copytree(ROOT / "config", config)
        tiers = (config / "tiers.yaml").read_text()
        for tier in ("members", "admins"):
            tiers = tiers.replace(
                f"  {tier}: {{any_of: []}}", f"  {tier}: {{any_of: [{{address: '{address}'}}]}}"
            )
        (config / "tiers.yaml").write_text(tiers)
        where = ["--config", str(config), "--data", str(data)]
        content = ["--content", str(ROOT / "content")]
        command = ["-m", "gateway.cli", "serve", "--port", str(port), *where, *content]
        with launched(command, None):
            code = Path(place, "porch")
            for folder in CODE:
                shutil.copytree(ROOT / folder, code / folder)
            _add(code, where)
            yield f"http://127.0.0.1:{port}"


def _add(code: Path, where: list[str]) -> None:
    add = ["codegraph", "add", str(code), *where]
    for _ in range(60):  # until the portal listens
        command = [sys.executable, "-m", "gateway.cli", *add]
        if (
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode
            == 0
        ):
            return
    raise SystemExit("The portal does not start.")


async def _taken() -> None:
    key = Account.create()
    with _portal(key.address) as base:
        async with chromium() as browser:
            await _pages(browser, base, key)
            await _apps(browser, base)
    with TemporaryDirectory() as place, OpenAICompatible() as server:
        async with open_community(Path(place), server) as community, chromium() as browser:
            await _community(browser, community)


async def _pages(browser: Browser, base: str, key: Any) -> None:
    for viewport, scheme, suffix in LOOKS:
        context = await browser.new_context(viewport=viewport, color_scheme=scheme)
        page = await context.new_page()
        for name, (path, _) in BEFORE.items():
            await page.goto(base + path)
            await _shot(page, name + suffix)
        await _sign_in(context, base, key)
        for name, (path, _) in PAGES.items():
            await page.goto(base + path)
            await _shot(page, name + suffix)
        await context.close()


async def _community(browser: Browser, community: Community) -> None:
    for viewport, scheme, suffix in LOOKS:
        context = await browser.new_context(viewport=viewport, color_scheme=scheme)
        await context.add_cookies(community.cookies)
        page = await context.new_page()
        for name, (path, _) in COMMUNITY.items():
            await page.goto(community.base + community.pages[path])
            await _shot(page, name + suffix)
        await context.close()


async def _sign_in(context: BrowserContext, base: str, key: Any) -> None:
    await Wallet(key).install(context)
    page = await context.new_page()
    await page.goto(f"{base}/signin")
    await page.get_by_role("button", name="Continue with Test Wallet").click()
    await page.wait_for_url("**/account")
    await page.close()


async def _apps(browser: Browser, base: str) -> None:
    async with httpx2.AsyncClient(base_url=base) as http:
        client = McpClient(http, capabilities=APPS)
        for name, (tool, arguments) in APP_CALLS.items():
            page = await browser.new_page(viewport=DESK, color_scheme="dark")
            await show_app(page, client, tool, arguments)
            await _shot(page, f"app-{name}")
            await page.close()


async def _shot(page: Page, name: str) -> None:
    await page.wait_for_timeout(400)  # pictures are brought in after the page
    await page.screenshot(path=PICTURES / f"{name}.png")


def _index() -> str:
    lines = [
        "<!-- Written by `make screenshots`; do not edit. -->",
        "",
        "# What Porch looks like",
        "",
    ]
    for name, (_, what) in {**BEFORE, **PAGES, **COMMUNITY}.items():
        lines += [f"## {what}", "", f"![{what}]({name}.png) ![On a phone]({name}-phone.png)", ""]
    lines += ["## In a client that shows MCP Apps", ""]
    for name, (tool, arguments) in APP_CALLS.items():
        lines += [f"`{tool}` with `{json.dumps(arguments)}`:", "", f"![{tool}](app-{name}.png)", ""]
    return "\n".join(lines)


def main() -> None:
    """Write the pictures, or the page of components alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--components", action="store_true", help="the page of components alone")
    chosen = parser.parse_args()
    COMPONENTS.write_text(components())
    if chosen.components:
        return
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    asyncio.run(_taken())
    (PICTURES / "README.md").write_text(_index())


if __name__ == "__main__":
    main()
