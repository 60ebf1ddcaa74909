"""Rows of every plugin, and every way of reading them: what the rules on rows are tried on.

Each row carries a word of its own, in its name, its description and its text, so that an answer
shows the row exactly where it has the word.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.cli.mcp_client import RequestRefused
from gateway.testing import TestPortal
from plugins.workflows.inputs import (
    PromptDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import PORTAL, Visibility
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import make_embed

FLOWERS = ("amaranth", "bergamot", "calendula", "dandelion")
NEVER = "eglantine"
"""The flower of rows that never were."""
ABOUT = "How plants grow, by {}."
"""What every row says; no question about a row holds it."""


def word(kind: str, flower: str) -> str:
    """A row's own word."""
    return f"{flower}-{kind}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows.

    Attributes:
        key: the row's key in ``tiers.yaml``, with ``{}`` for its word.
        doors: keys of items that show it alone, likewise.
        asked: tools that read it by name, and their arguments, likewise.
        uris: resources that show it, likewise.
        prompts: prompts that do, likewise.
        paths: REST paths that do, likewise.
    """

    key: str
    doors: tuple[str, ...] = ()
    asked: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    uris: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


SKILL = Kind(
    "skills_repo/skill:house/{}",
    ("skills_repo/resource:skill://house/{}/SKILL.md", "skills_repo/prompt:{}"),
    (
        ("get_skill", {"name": "{}"}),
        ("get_skill", {"name": "{}", "source": "house", "skipCache": True}),
        ("get_skill_file", {"skill": "{}", "file": "notes.md"}),
        ("get_skill_file", {"skill": "{}", "file": "SKILL.md"}),
    ),
    ("skill://house/{}/SKILL.md", "skill://house/{}/notes.md"),
    ("{}",),
)
AGENT = Kind("skills_repo/agent:crew/{}", asked=(("get_agent", {"name": "{}"}),))
PAGE = Kind("skills_repo/page:handbook/{}.md", asked=(("get_doc", {"path": ["{}"]}),))
DOCUMENT = Kind(
    "knowledge/document:pattern/{}",
    asked=(
        ("get_document", {"contentType": "pattern", "id": "{}"}),
        ("define_term", {"term": "{}"}),
    ),
    uris=("mcp://town/documents/pattern/{}",),
    paths=("/api/v1/entries/pattern/{}",),
)
REPOSITORY = Kind(
    "codegraph/repository:{}",
    asked=(
        ("get_file", {"repo": "{}", "file": "main.py"}),
        ("search_code", {"repo": "{}", "query": "grow"}),
        ("get_project_stats", {"repo": "{}"}),
        ("get_health_report", {"repo": "{}"}),
        ("get_recent_changes", {"repo": "{}"}),
        ("get_function", {"repo": "{}", "name": "grow"}),
    ),
)
WORKFLOW = Kind(
    "workflows/workflow:{}",
    asked=(
        ("get_workflow", {"workflow_id": "{}", "include_content": True}),
        ("select_workflow", {"workflow_id": "{}"}),
        ("get_next_step", {"workflow_id": "{}", "step_index": 0}),
    ),
    prompts=("workflow-{}",),
)
KINDS = {
    "skill": SKILL,
    "agent": AGENT,
    "page": PAGE,
    "document": DOCUMENT,
    "repository": REPOSITORY,
    "workflow": WORKFLOW,
}
LISTS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("list_skills", {}),
    ("search_skills", {"query": "how plants grow", "limit": 50}),
    ("list_agents", {}),
    ("list_docs", {}),
    ("list_docs", {"details": True}),
    ("search_knowledge", {"query": "how plants grow", "filters": {"limit": 20}}),
    ("search_with_documents", {"query": "how plants grow"}),
    ("search_lexicon", {"keyword": "grow"}),
    ("list_groups", {}),
    ("list_releases", {}),
    ("get_available_workflows", {}),
    ("get_available_workflows", {"task": "how plants grow"}),
    ("get_by_folder", {}),
    ("get_file", {"file": "main.py"}),
    ("search_code", {"query": "grow"}),
)
PLACES = ("/", "/api/v1/entries", "/api/v1/search?q=plants", "/readyz")


def write(root: Path) -> dict[str, Any]:
    """Write the content with its rows, and give the configuration that serves it."""
    for flower in FLOWERS:
        skill, agent, page, note, code, _ = (word(kind, flower) for kind in KINDS)
        for name in ("SKILL.md", "notes.md"):
            _write(root / "skills" / skill / name, _front(name=skill, description=_about(skill)))
        _write(root / f"agents/{agent}.md", _front(name=agent, description=_about(agent)))
        _write(root / f"docs/{page}.md", _front(title=page, description=_about(page)))
        fields = {"title": note, "type": "pattern", "publish": "true", "date": "2026-01-02"}
        fields |= {"description": _about(note), "group": note, "release": note}
        _write(root / f"notes/{note}.md", _front(**fields))
        program = f'def grow():\n    """{_about(code)}"""\n    return 1\n'
        _write(root / "code" / code / "main.py", program)
    house = {"name": "house", "kind": "skills", "directory": str(root / "skills")}
    crew = {"name": "crew", "kind": "agents", "directory": str(root / "agents")}
    handbook = {"name": "handbook", "kind": "docs", "directory": str(root / "docs")}
    sources = [{**each, "tier": "open"} for each in (house, crew, handbook)]
    names = [word("repository", flower) for flower in FLOWERS]
    repositories = [
        {"name": each, "path": str(root / "code" / each), "tier": "open"} for each in names
    ]
    return {
        "name": "Town",
        "plugins": {
            "skills_repo": {"sources": sources},
            "knowledge": {"sources": [{"directory": str(root / "notes")}]},
            "codegraph": {"repositories": repositories},
            "workflows": {"starter": False},
        },
    }


async def seed(portal: TestPortal) -> None:
    """Write the portal's own workflows, as an import would."""
    host = portal.running.plugins.host("workflows")
    playbook = Playbook(
        host.database, host.objects, make_embed(None, host.log), lambda: datetime.now(UTC)
    )
    for name in (word("workflow", flower) for flower in FLOWERS):
        about = _about(name)
        step = StageItemDraft(PromptDraft(name=name, content=about, key=f"{name}-step"))
        draft = WorkflowDraft(
            name=name,
            key=name,
            description=about,
            visibility=Visibility.PUBLIC,
            stages=(StageDraft(name="Grow", items=(step,)),),
        )
        await playbook.put_workflow(Writer(PORTAL, may_publish=True), draft)


def _about(name: str) -> str:
    return ABOUT.format(name)


def _front(**fields: str) -> str:
    lines = [f"{name}: {value}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", fields.get("description", ""), ""])


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def filled(template: Any, name: str) -> Any:
    """A template of a key, of arguments or of a URI, about one row."""
    return json.loads(json.dumps(template).replace("{}", name))


async def lists(portal: TestPortal, tier: str) -> AsyncIterator[tuple[str, str]]:
    """Every answer that names no row in its question, and what was asked."""
    mcp = portal.mcp(tier)
    for kind in ("tools", "prompts", "resources", "templates", "skills"):
        yield kind, json.dumps(await mcp.list(kind))
    for tool, arguments in LISTS:
        yield tool, await _told(portal.call(tool, arguments, tier=tier))
    yield "skill://house", await _told(portal.directory("skill://house", tier=tier))
    template = "mcp://town/documents/{contentType}/{id}"
    for of, argument in ((template, "id"), ("research-topic", "topic")):
        yield f"complete {of}", await _told(portal.complete(of, argument, "", tier=tier))
    for path in PLACES:
        yield path, (await portal.get(path, tier=tier)).text


async def reads(
    portal: TestPortal, tier: str, kind: Kind, name: str
) -> AsyncIterator[tuple[str, str]]:
    """Every answer to a question that names one row, and what was asked."""
    for tool, arguments in filled(list(kind.asked), name):
        yield f"{tool} {arguments}", await _told(portal.call(tool, arguments, tier=tier))
    for uri in filled(list(kind.uris), name):
        yield uri, await _told(portal.read(uri, tier=tier))
    for prompt in filled(list(kind.prompts), name):
        yield f"prompt {prompt}", await _told(portal.prompt(prompt, tier=tier))
    for path in filled(list(kind.paths), name):
        yield path, (await portal.get(path, tier=tier)).text


async def _told(asking: Awaitable[Any]) -> str:
    try:
        return str(await asking)
    except RequestRefused as refused:
        return f"refused: {refused}"
