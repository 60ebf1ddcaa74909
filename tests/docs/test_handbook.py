"""The handbook that a fresh portal answers from knows what the portal has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.catalog.catalog import Catalog

CONTENT = Path(__file__).parents[2] / "content"
PAGES = {str(page.relative_to(CONTENT)): page.read_text() for page in CONTENT.glob("**/*.md")}
REFERENCE = "".join(
    page.read_text() for page in (CONTENT.parent / "docs" / "reference").glob("*.md")
)
NOT_HERE = "artifacts/articles/what-is-not-here-yet.md"
NAMED = re.compile(r"`([a-z]+(?:_[a-z]+)+|remember|forget|publish)`")
PAGE = re.compile(r"`(/(?:knowledge|skills_repo|workflows|codegraph|upstreams)(?:/[\w-]+)?)`")
OTHERS = {"list_notes", "my_notes", "pay_invoice"}
"""Tools of plugins that are made up, as examples."""
OTHERS |= {"all_of", "github_age", "github_org", "github_team", "pg_dump", "proxy_read_timeout"}
"""Conditions of rules, whose names no page of reference lists, and words of other programs."""


def offered(catalog: Catalog, plugin: str) -> set[str]:
    tools = (item for item in catalog.items() if item.kind == "tool")
    return {item.name for item in tools if item.plugin == plugin}


@pytest.mark.parametrize("name", [name for name in PAGES if name != NOT_HERE])
def test_a_page_puts_nothing_off(name: str) -> None:
    assert not re.search(r"\bplanned\b|not in this release|\bnot yet here\b", PAGES[name])


def test_what_is_said_not_to_be_there_names_no_tool(catalog: Catalog) -> None:
    _, heading, missing = PAGES[NOT_HERE].partition("## Not in this release")
    tools = {item.name for item in catalog.items() if item.kind == "tool"}
    assert heading
    assert not tools & set(re.findall(r"[a-z_]+", missing)) - {"forget", "publish"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_tools_and_settings_that_there_are(name: str) -> None:
    named = set(NAMED.findall(PAGES[name])) - OTHERS
    assert {word for word in named if not re.search(rf"\b{word}\b", REFERENCE)} == set()


def test_the_pages_of_plugins_that_are_named_are_there() -> None:
    views = {f"/{name}" for name in re.findall(r"### `ui://([\w/-]+)`", REFERENCE)}
    named = {page for text in PAGES.values() for page in PAGE.findall(text)}
    assert {"/knowledge/search", "/knowledge/memory"} <= named <= views


@pytest.mark.parametrize("plugin", ["knowledge", "codegraph", "skills_repo", "workflows"])
def test_the_page_of_a_plugin_lists_its_tools(plugin: str, catalog: Catalog) -> None:
    page = PAGES[f"data/projects/{plugin.replace('_', '-')}-plugin.md"]
    _, _, offer = page.partition("## What it offers")
    named = set(NAMED.findall(offer.partition("\n## ")[0]))
    assert named == offered(catalog, plugin)
