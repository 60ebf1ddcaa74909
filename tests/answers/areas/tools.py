"""Every tool that only reads, in both eras, with right and wrong arguments, as two tiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.answers.recorder import Recorder

Call = tuple[str, str, dict[str, Any]]
CODE: list[Call] = [
    ("by purpose", "semantic_search", {"query": "water the plants", "repo": "garden"}),
    ("by purpose, of a kind", "semantic_search", {"query": "bed", "kind": "class"}),
    ("by words", "search_code", {"query": "tend bed", "repo": "garden"}),
    ("by words, nothing", "search_code", {"query": "submarine", "repo": "garden"}),
    ("without a repository", "search_code", {"query": "open"}),
    ("a function", "get_function", {"name": "pour", "repo": "garden"}),
    ("a method", "get_function", {"name": "Bed.tend", "repo": "garden"}),
    ("an ambiguous method", "get_function", {"name": "tend", "repo": "garden"}),
    ("no function", "get_function", {"name": "poor", "repo": "garden"}),
    ("a class", "get_class", {"name": "Bed", "repo": "garden"}),
    ("a class of TypeScript", "get_class", {"name": "Plan", "repo": "garden"}),
    ("no class", "get_class", {"name": "Badger", "repo": "garden"}),
    ("a file", "get_file", {"file": "src/beds.py", "repo": "garden"}),
    ("a file with a secret", "get_file", {"file": "water.py", "repo": "garden"}),
    ("no file", "get_file", {"file": "nothing.py", "repo": "garden"}),
    ("callers", "get_callers", {"name": "pour", "repo": "garden"}),
    ("callers, deep", "get_callers", {"name": "share", "depth": 5, "repo": "garden"}),
    ("callees", "get_callees", {"name": "Bed.plant", "depth": 3, "repo": "garden"}),
    (
        "callees that are sure",
        "get_callees",
        {"name": "show", "min_confidence": 0.98, "repo": "garden"},
    ),
    ("too deep", "get_callees", {"name": "show", "depth": 99, "repo": "garden"}),
    ("imports", "get_imports", {"file": "src/beds.py", "repo": "garden"}),
    (
        "who imports",
        "get_imports",
        {"file": "src/water.py", "direction": "imported_by"},
    ),
    ("impact", "analyze_impact", {"name": "share", "repo": "garden"}),
    ("impact of a file", "analyze_impact", {"name": "scale.ts", "kind": "file", "repo": "garden"}),
    ("similar", "find_similar", {"name": "Bed.tend", "repo": "garden"}),
    ("stats", "get_project_stats", {"repo": "garden"}),
    ("stats of Go", "get_project_stats", {"repo": "shed"}),
    ("stats of no repository", "get_project_stats", {"repo": "greenhouse"}),
    ("a cursor of nobody's", "search_code", {"query": "bed", "repo": "garden", "cursor": "x"}),
]
KNOWLEDGE: list[Call] = [
    ("a question", "search_knowledge", {"query": "who may use what"}),
    ("for members", "search_knowledge", {"query": "where is the orchid key"}),
    ("nothing", "search_knowledge", {"query": "zeppelin"}),
    ("filters", "search_knowledge", {"query": "soil", "filters": {"tags": ["water"], "limit": 3}}),
    ("by date", "search_knowledge", {"query": "bed", "filters": {"sort": "date", "limit": 20}}),
    ("a kind", "search_knowledge", {"query": "plant", "filters": {"contentType": "question"}}),
    ("no kind", "search_knowledge", {"query": "plant", "filters": {"contentType": "gizmo"}}),
    ("no such filter", "search_knowledge", {"query": "plant", "filters": {"colour": "red"}}),
    ("an empty query", "search_knowledge", {"query": ""}),
    ("a long query", "search_knowledge", {"query": "bed " * 2000}),
    ("with documents", "search_with_documents", {"query": "compost", "filters": {"limit": 2}}),
    ("a document", "get_document", {"contentType": "pattern", "id": "three-tiers"}),
    ("a document for members", "get_document", {"contentType": "file", "id": "members-only"}),
    ("no document", "get_document", {"contentType": "pattern", "id": "nothing"}),
    ("a term", "define_term", {"term": "What is mulch?"}),
    ("an alias", "define_term", {"term": "ground cover"}),
    ("no term", "define_term", {"term": "mulchh"}),
    ("lexicon", "search_lexicon", {"keyword": "soil"}),
    ("lexicon, nothing", "search_lexicon", {"keyword": "zeppelin"}),
    ("groups", "list_groups", {}),
]
SKILLS: list[Call] = [
    ("all", "list_skills", {}),
    ("details", "list_skills", {"details": True}),
    ("of a source", "list_skills", {"source": "inner"}),
    ("of no source", "list_skills", {"source": "outer"}),
    ("for a task", "search_skills", {"query": "my leaves hang"}),
    ("too many", "search_skills", {"query": "leaves", "limit": 51}),
    ("one", "get_skill", {"name": "water-plants"}),
    ("one for members", "get_skill", {"name": "open-the-shed"}),
    ("one that is no strict YAML", "get_skill", {"name": "no-strict-yaml"}),
    ("one without frontmatter", "get_skill", {"name": "no-frontmatter"}),
    ("none", "get_skill", {"name": "water-plant"}),
    ("anew", "get_skill", {"name": "prune-trees", "skipCache": True}),
    ("a file", "get_skill_file", {"skill": "water-plants", "file": "references/amounts.md"}),
    ("a script", "get_skill_file", {"skill": "water-plants", "file": "scripts/amount.py"}),
    ("a way out", "get_skill_file", {"skill": "water-plants", "file": "../prune-trees/SKILL.md"}),
    ("agents", "list_agents", {}),
    ("an agent", "get_agent", {"name": "gardener"}),
    ("no agent", "get_agent", {"name": "janitor"}),
    ("docs", "list_docs", {}),
    ("docs of a section", "list_docs", {"section": ["guides"], "details": True}),
    ("a page", "get_doc", {"path": ["guides", "beds"]}),
    ("a page of MDX", "get_doc", {"path": ["guides", "tools"]}),
    ("no page", "get_doc", {"path": ["guides", "nothing"]}),
]
WORKFLOWS: list[Call] = [
    ("all", "get_available_workflows", {}),
    ("for a task", "get_available_workflows", {"task": "review a pull request", "limit": 2}),
    ("of a size", "get_available_workflows", {"complexity": "S"}),
    ("of no size", "get_available_workflows", {"complexity": "XXL"}),
    ("with tags", "get_available_workflows", {"tags": ["code", "design"]}),
    ("cards", "get_skills", {}),
    ("cards for a task", "get_skills", {"task": "read a diff"}),
    ("a plan", "select_workflow", {"workflow_id": "code-review"}),
    ("no plan", "select_workflow", {"workflow_id": "Code review"}),
    ("a step", "get_next_step", {"workflow_id": "code-review", "step_index": 0}),
    ("a later step", "get_next_step", {"workflow_id": "code-review", "current_step": 2}),
    ("a step past the end", "get_next_step", {"workflow_id": "code-review", "step_index": 99}),
    ("a step of nothing", "get_next_step", {}),
    ("a workflow", "get_workflow", {"workflow_id": "code-review"}),
    ("its words", "get_workflow", {"workflow_id": "code-review", "include_content": True}),
    ("folders", "get_by_folder", {}),
    ("no folder", "get_by_folder", {"folder_key": "nothing"}),
    ("no card", "get_selected_skill", {"skill_id": "nothing"}),
    ("no attachment", "get_attachment", {"skill_id": "nothing", "name": "a.md"}),
    ("no runs", "list_runs", {"state": "all"}),
]
WRONG: list[Call] = [
    ("no such tool", "serach_knowledge", {"query": "x"}),
    ("a hidden tool", "list_approvals", {}),
    ("no arguments", "search_knowledge", {}),
    ("a number for a text", "search_knowledge", {"query": 7}),
    ("too much", "search_knowledge", {"query": "x", "quarry": "y"}),
    ("several faults", "search_knowledge", {"filters": {"limit": "many", "tags": "soil"}}),
    ("a text for a number", "get_callers", {"name": "pour", "depth": "three"}),
    ("no cursor", "list_skills", {"cursor": 5}),
    ("a secret", "search_knowledge", {"query": "my key is AKIAIOSFODNN7EXAMPLE"}),
]


def record(recorder: Recorder) -> None:
    """Call everything, in both eras, as a member and as a stranger."""
    for era, ask in (("modern", recorder.modern), ("legacy", recorder.legacy)):
        for what, name, arguments in _all():
            for who in ("member", "open"):
                if who == "open" and era == "legacy" and name in _SAME_FOR_ALL:
                    continue
                case = f"{era} {name}, {what}, as {who}"
                ask(case, "tools/call", {"name": name, "arguments": arguments}, who)
        for number in range(4):
            case = f"{era} list_releases, which is limited, call {number + 1}"
            who = "public" if era == "legacy" else "other"
            ask(case, "tools/call", {"name": "list_releases", "arguments": {}}, who)
        _paged(era, ask)


_SAME_FOR_ALL = {"get_imports", "find_similar", "search_lexicon", "get_class", "get_callees"}


def _all() -> Iterator[Call]:
    for calls in (CODE, KNOWLEDGE, SKILLS, WORKFLOWS, WRONG):
        yield from calls


def _paged(era: str, ask: Any) -> None:
    """A list that takes several pages, by the cursor that each page gives."""
    params = {"name": "list_skills", "arguments": {"details": True}}
    asks_for_progress = {**params, "_meta": {"progressToken": "p"}}
    ask(f"{era} with a progress token", "tools/call", asks_for_progress)
    path = "/mcp/knowledge"
    ask(f"{era} a tool of another plugin", "tools/call", params, path=path)
    params = {"name": "list_groups", "arguments": {}}
    ask(f"{era} a tool of the plugin", "tools/call", params, path=path)
    ask(f"{era} a tool without arguments", "tools/call", {"name": "list_groups"}, path=path)
