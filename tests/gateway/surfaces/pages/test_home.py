"""The first page."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from gateway.contract import Offer, Plugin, Prompt, hookimpl
from gateway.surfaces.pages.snippets import server_name, snippets
from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.diaries import Diaries
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import PagesPortal, open_pages


class Many:
    """A plugin with a prompt for each thing that one may plan."""

    @staticmethod
    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin(name="many", summary="Plans.", open=Many.opened)

    @staticmethod
    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncIterator[Offer]:
        async def render(args: Any, caller: Any) -> str:
            return "Plan."

        names = [f"plan-{number}" for number in range(1200)]
        yield Offer(prompts=[Prompt(name, "Plans.", render, title=name) for name in names])


EVERYONE = {"members": {"any_of": ["signed_in"]}}


async def test_a_stranger_sees_what_is_open_and_what_signing_in_adds(browser: Browser) -> None:
    page = (await browser.get("/")).text
    assert "Search the library" in page
    assert "Signing in adds" in page
    assert "Ask a question" in page
    assert "For members" in page
    assert "Draft a proposal" in page
    assert "http://127.0.0.1:8321/mcp" in page


async def test_a_tool_is_told_by_its_first_sentence(browser: Browser) -> None:
    page = (await browser.get("/")).text
    assert "Find documents by what they mean." in page
    assert "Takes" not in page


async def test_what_is_hidden_is_told_to_nobody_below_its_tier(browser: Browser) -> None:
    assert "treasury" not in (await browser.get("/")).text
    await browser.sign_in()
    assert "treasury" not in (await browser.get("/")).text


async def test_a_member_sees_everything(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, rules=EVERYONE) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/")).text
        assert "Move the treasury" in page
        assert "Signing in adds" not in page
        assert "You may use, as a member" in page


async def test_what_is_hidden_does_not_even_count(portal: PagesPortal, browser: Browser) -> None:
    page = (await browser.get("/")).text
    assert page.count("<strong>") == 4  # three tools that may be known, and a prompt


async def test_of_very_many_prompts_most_wait_behind_a_click() -> None:
    async with open_test_portal(Many, tiers={"default": "open"}) as portal:
        page = (await portal.http().get("/", headers={"accept": "text/html"})).text
    told, _, waiting = page.partition("<details>")
    assert told.count("<strong>") == 8
    assert "<summary>1,192 more</summary>" in waiting
    assert waiting.count("<strong>") == 1192
    assert "<code>plan-7</code>" not in told  # its title is the same


async def test_a_family_of_prompts_is_one_line_to_those_who_may_use_it() -> None:
    tiers = {"default": "open"}
    async with open_test_portal(Diaries({"monday": None}), tiers=tiers) as portal:
        page = (await portal.http().get("/", headers={"accept": "text/html"})).text
    assert "day-*" in page
    assert "day-monday" not in page


async def test_a_portal_on_this_machine_says_who_cannot_reach_it(browser: Browser) -> None:
    page = (await browser.get("/")).text
    assert "runs on your own machine" in page
    assert "ChatGPT" in page
    assert "mcp-remote" in page


async def test_a_portal_on_the_web_offers_the_connector(tmp_path: Path, browse: Opening) -> None:
    async with open_pages(tmp_path, "https://portal.example.org") as portal:
        page = (await browse(portal).get("/")).text
        assert "runs on your own machine" not in page
        assert "mcp-remote" not in page
        assert "Add custom connector" in page
        assert "https://portal.example.org/members/mcp" in page


async def test_another_loopback_name_is_the_address_that_is_shown(
    portal: PagesPortal, browse: Opening
) -> None:
    page = (await browse(portal, "http://localhost:9999").get("/")).text
    assert "http://localhost:9999/mcp" in page


def test_install_links_say_what_the_snippets_say() -> None:
    by_name = {each.client: each for each in snippets("Porch", "https://p.example/a", local=False)}
    cursor = parse_qs(urlsplit(by_name["Cursor"].install).query)
    assert cursor["name"] == ["porch"]
    assert json.loads(base64.b64decode(cursor["config"][0])) == {"url": "https://p.example/a/mcp"}
    link = by_name["VS Code"].install
    assert link.startswith("vscode:mcp/install?")
    assert json.loads(unquote(link.partition("?")[2])) == {
        "name": "porch",
        "type": "http",
        "url": "https://p.example/a/mcp",
    }


def test_every_client_of_the_contract_has_a_snippet() -> None:
    clients = {each.client for each in snippets("Porch", "https://p.example", local=False)}
    assert clients == {"Claude Code", "Claude Desktop", "Cursor", "VS Code", "Windsurf", "Codex"}


async def test_snippets_in_the_page_are_whole(browser: Browser) -> None:
    page = (await browser.get("/")).text
    shown = [unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    for each in snippets("The Commons", browser.base, local=True):
        assert each.text in shown
        if each.install:
            assert each.install in unescape(page)


@pytest.mark.parametrize(
    ("portal", "name"),
    [
        ("The Commons", "the-commons"),
        ("Porch", "porch"),
        ("SuperBenefit knowledge base", "superbenefit-kno"),
        ("日本", "porch"),
        ("$(rm -rf /)", "rm-rf"),
        ('"; curl evil', "curl-evil"),
    ],
)
def test_a_portal_has_a_short_name_that_a_shell_can_take(portal: str, name: str) -> None:
    assert server_name(portal) == name
