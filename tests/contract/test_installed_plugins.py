"""Every installed plugin keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Vault
from gateway.testing import PluginContract, TestPortal
from plugins.codegraph import plugin as codegraph
from plugins.knowledge import plugin as knowledge
from plugins.skills_repo import plugin as skills_repo
from plugins.upstreams import plugin as upstreams
from plugins.upstreams.store.connections import ConnectionStore, Kept
from plugins.workflows import plugin as workflows

GARDEN = Path(__file__).parents[1] / "plugins" / "skills_repo" / "garden"
PAGE = """---
title: {title}
type: {type}
publish: true
date: 2026-01-02
---

# {title}

{title} is a page of the contract suite's small knowledge base.
"""
DRAFT = {"title": "How to weed", "contentType": "pattern", "body": "By hand. See [[Garden]]."}
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


CODE = {
    "water.py": "from tools import dig\n\n\ndef pour():\n    return dig()  # into the beds\n",
    "tools.py": "class Spade:\n    pass\n\n\ndef dig():\n    return Spade()\n",
}


NEW_FILE = """diff --git a/rake.py b/rake.py
new file mode 100644
--- /dev/null
+++ b/rake.py
@@ -0,0 +1,2 @@
+def rake():
+    return 1
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program."""
    directory = tmp_path_factory.mktemp("garden")
    for name, text in CODE.items():
        (directory / name).write_text(text)
    return directory


class TestCodegraph(PluginContract):
    plugin = codegraph
    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {
        "search_code": [{"query": "pour"}],
        "semantic_search": [{"query": "water the beds"}],
        "get_function": [{"name": "pour"}],
        "get_class": [{"name": "Spade"}],
        "get_file": [{"file": "water.py"}],
        "get_callers": [{"name": "dig"}],
        "get_callees": [{"name": "pour"}],
        "get_imports": [{"file": "water.py"}],
        "analyze_impact": [{"name": "dig"}, {"name": "dig", "business": True}],
        "get_business_context": [{"name": "pour"}],
        "search_by_purpose": [{"query": "water the beds"}, {"type": "UTILITY"}],
        "get_blueprint": [{}],
        "get_project_stats": [{}],
        "get_health_report": [{}],
        "get_recent_changes": [{}, {"limit": 1}],
        "refresh_index": [{}],
        "sync_local_diff": [{"diff": "", "branch": "main", "baseSha": "0" * 40}],
    }
    leaves = (("sync_local_diff", {"diff": NEW_FILE, "branch": "main", "baseSha": "0" * 40}),)

    @pytest.fixture(autouse=True)
    def _with_code(self, code: Path) -> None:
        self.config = {"repositories": [{"path": str(code), "name": "garden"}]}


class TestKnowledge(PluginContract):
    plugin = knowledge
    tables = ("memory_",)
    calls = KNOWLEDGE_CALLS
    leaves = (("remember", {"content": "The shed is locked."}), ("preview_draft", DRAFT))

    @pytest.fixture(autouse=True)
    def _with_content(self, notes: Path) -> None:
        self.config = {"sources": [{"directory": str(notes), "drafts": True}]}

    async def seed(self, portal: TestPortal) -> None:
        ids = []
        for content in ("The gate is open.", "The old gate is gone."):
            kept = await portal.call("remember", {"content": content})
            assert not kept.is_error, kept.text
            ids.append({"id": kept.structured["id"]})
        draft = await portal.call("preview_draft", {**DRAFT, "title": "How to mow"})
        assert not draft.is_error, draft.text
        self.calls = {
            **KNOWLEDGE_CALLS,
            "remember": [{"content": "Beans climb.", "layer": "working", "tags": ["beans"]}],
            "query_memory": [{"query": "gate"}, {"query": "beans", "layers": ["working"]}],
            "update_memory": [{**ids[0], "content": "The gate is shut.", "version": 1}],
            "memory_history": [ids[0]],
            "get_memory": [ids[0]],
            "list_memory": [{}, {"mine": True}],
            "forget": [ids[1]],
            "preview_draft": [DRAFT, {**DRAFT, "frontmatter": "date: never"}],
            "get_draft": [{"draft": draft.structured["draft"]["id"]}],
            "list_drafts": [{}, {"mine": True}],
        }


class TestSkillsRepo(PluginContract):
    plugin = skills_repo
    config: Mapping[str, Any] = {
        "sources": [
            {"name": "house", "kind": "skills", "directory": str(GARDEN), "path": "skills"},
            {"name": "crew", "kind": "agents", "directory": str(GARDEN), "path": "agents"},
            {"name": "handbook", "kind": "docs", "directory": str(GARDEN), "path": "docs"},
        ]
    }
    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {
        "search_skills": [{"query": "watering"}],
        "get_skill": [{"name": "water-plants"}],
        "get_skill_file": [{"skill": "water-plants", "file": "references/how-much.md"}],
        "get_agent": [{"name": "gardener"}],
        "get_doc": [{"path": ["index"]}],
    }


class TestUpstreams(PluginContract):
    plugin = upstreams

    async def leave(self, portal: TestPortal, person: str) -> bool:
        services = portal.running.services
        vault = Vault(services.signing_key, "upstreams")
        store = ConnectionStore(services.for_plugin("upstreams").database, vault)
        await store.keep(Kept(person, "partner", "there", "what was given"))
        return True


class TestWorkflows(PluginContract):
    plugin = workflows
    tables = ("playbook_",)
    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {
        "get_available_workflows": [{"task": "review a pull request"}, {"complexity": "M"}],
        "get_skills": [{"task_description": "review"}, {"search": "consent", "tags": []}],
        "select_workflow": [{"workflow_id": "code-review"}, {"workflow_id": "code-review"}],
        "get_next_step": [{"workflow_id": "code-review", "step_index": 0}],
        "get_workflow": [{"workflow_id": "code-review", "include_content": True}],
        "get_selected_skill": [{"skill_id": "code-review-checklist"}],
        "add_workflow": [{"name": "Mine", "stages": [{"name": "One", "skills": ["house-rules"]}]}],
        "edit_workflow": [{"workflow_id": "mine", "version": 1, "tags": ["a"]}],
        "add_skill": [{"name": "Another", "content": "So.", "folder": "Cards"}],
        "edit_skill": [{"skill_id": "another", "version": 1, "is_active": False}],
        "get_attachment": [{"skill_id": "house-rules", "name": "list.md"}],
        "publish": [{"type": "SKILL", "id": "house-rules", "version": 1}],
        "create_folder": [{"name": "Drafts", "visibility": "PRIVATE"}],
        "edit_folder": [{"folder_key": "cards", "version": 1, "description": "Of mine."}],
        "get_by_folder": [{}, {"folder_key": "cards"}],
        "add_to_library": [{"id": "code-review"}],
        "remove_from_library": [{"id": "code-review"}],
        "duplicate_workflow": [{"workflow_id": "code-review"}],
        "list_bin": [{}],
        "list_runs": [{}, {"state": "all"}],
    }
    leaves = (
        ("add_workflow", {"name": "Mine", "stages": [{"name": "One"}], "folder": "Work"}),
        ("add_skill", {"name": "House rules", "content": "Be kind."}),
        ("select_workflow", {"workflow_id": "code-review", "start_run": True}),
        ("add_to_library", {"id": "code-review"}),
    )

    async def seed(self, portal: TestPortal) -> None:
        files = [{"name": "list.md", "text": "- one"}]
        card = {"name": "House rules", "content": "Be kind.", "attachments": files}
        written = await portal.call("add_skill", {**card, "folder": "Cards"})
        assert not written.is_error, written.text


def suites() -> Iterator[str]:
    """The plugins that have a suite in this file."""
    for each in PluginContract.__subclasses__():
        if each.__module__ == __name__:
            yield each.plugin.porch_plugin().name


def test_every_installed_plugin_has_its_suite() -> None:
    installed = {
        point.name
        for point in entry_points(group="porch.plugins")
        if point.dist is not None and point.dist.name == "porch"
    }
    assert installed == set(suites())
