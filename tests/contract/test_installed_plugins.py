"""Every installed plugin keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import PluginContract

PAGE = """---
title: {title}
type: {type}
publish: true
date: 2026-01-02
---

# {title}

{title} is a page of the contract suite's small knowledge base.
"""
KNOWLEDGE_CALLS: Mapping[str, Any] = {
    "search_knowledge": [{"query": "small knowledge base"}, {"query": "Garden", "filters": {}}],
    "define_term": [{"term": "garden"}, {"term": "nothing like it"}],
    "search_lexicon": [{"keyword": "garden"}],
    "get_document": [{"contentType": "tag", "id": "garden"}],
    "search_with_documents": [{"query": "small knowledge base"}],
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages of content."""
    directory = tmp_path_factory.mktemp("content")
    for name, title, kind in (("garden", "Garden", "tag"), ("sow", "How to sow", "pattern")):
        (directory / f"{name}.md").write_text(PAGE.format(title=title, type=kind))
    return directory


class TestKnowledge(PluginContract):
    calls = KNOWLEDGE_CALLS

    @pytest.fixture(autouse=True)
    def _with_content(self, notes: Path) -> None:
        from plugins.knowledge import plugin

        self.plugin = plugin
        self.config = {"sources": [{"directory": str(notes)}]}


def suites() -> Iterator[str]:
    """The plugins that have a suite in this file."""
    for each in PluginContract.__subclasses__():
        if each.__module__ == __name__:
            yield each.__name__.removeprefix("Test").lower()


def test_every_installed_plugin_has_its_suite() -> None:
    installed = {
        point.name
        for point in entry_points(group="porch.plugins")
        if point.dist is not None and point.dist.name == "porch"
    }
    assert installed == set(suites())
