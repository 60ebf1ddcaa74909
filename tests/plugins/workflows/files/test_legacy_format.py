"""The older form of playbooks is taken in without loss, and comes back out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.workflows.files.exporter import export
from plugins.workflows.files.importer import check_paths, import_paths
from plugins.workflows.ids import portal_id
from plugins.workflows.model import PORTAL, AutoPrompt, TargetType, Workflow
from plugins.workflows.playbook import Playbook
from tests.plugins.workflows.files.desk import OPERATOR, emptied, rows, tree, write

pytestmark = pytest.mark.one_database


@pytest.fixture
def book(test_data: Path, tmp_path: Path) -> Path:
    """A copy of a real playbook of the older form."""
    return Path(shutil.copytree(test_data / "workflows-playbook", tmp_path / "book"))


async def got(playbook: Playbook, key: str) -> Workflow:
    return await playbook.workflow(portal_id(TargetType.WORKFLOW, key), None)


def as_it_was(workflow: Workflow) -> dict[str, Any]:
    """A workflow in the older form again."""
    phases = [
        {"phase": stage.name, "description": stage.description, **stage.extra}
        | {"steps": [dict(item.extra) for item in stage.items]}
        for stage in workflow.stages
    ]
    told = {"name": workflow.name, "description": workflow.description, **workflow.extra}
    return told | {"tags": list(workflow.tags), "phases": phases}


async def test_nothing_of_a_real_playbook_is_lost(playbook: Playbook, book: Path) -> None:
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.problems, report.dangling) == ([], [])
    assert len(report.added) == 28
    for path in sorted((book / "workflows").glob("*.json")):
        meant = json.loads(path.read_text("utf-8"))
        meant["tags"].sort()
        workflow = await got(playbook, path.stem)
        assert as_it_was(workflow) == meant
        for item in (item for stage in workflow.stages for item in stage.items):
            source = book / "mini-prompts" / f"{item.extra['miniPrompt']}.md"
            assert item.item.content == source.read_text("utf-8").removesuffix("\n")


async def test_it_comes_back_from_our_own_form_with_the_same_rows(
    playbook: Playbook, book: Path, database: Any, tmp_path: Path
) -> None:
    await import_paths(playbook, OPERATOR, [book])
    first = await rows(database)
    await export(playbook, tmp_path / "one", PORTAL)
    await emptied(database)
    report = await import_paths(playbook, OPERATOR, [tmp_path / "one"])
    assert report.problems == report.dangling == []
    assert await rows(database) == first
    await export(playbook, tmp_path / "two", PORTAL)
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


async def test_mini_prompts_are_called_what_their_first_heading_says(
    playbook: Playbook, book: Path
) -> None:
    await import_paths(playbook, OPERATOR, [book])
    names = {
        key: (await playbook.mini_prompt(portal_id(TargetType.MINI_PROMPT, key), None)).name
        for key in (
            "analysis-ask-clarifying-questions",
            "design-architecture-design-architecture",
            "handoff-memory-board",
        )
    }
    assert list(names.values()) == [
        "Ask Clarifying Questions Prompt (v1)",
        "Design architecture",
        "Handoff Memory Board (v1)",
    ]


async def test_the_folder_automatic_holds_the_two_automatic_prompts(
    playbook: Playbook, book: Path
) -> None:
    await import_paths(playbook, OPERATOR, [book])
    automatic = await playbook.automatic()
    assert {kind: each.name for kind, each in automatic.items()} == {
        AutoPrompt.MEMORY_BOARD: "Handoff Memory Board (v2)",
        AutoPrompt.MULTI_AGENT_CHAT: "Internal Agents Chat (v2)",
    }
    assert automatic[AutoPrompt.MEMORY_BOARD].key == "memory-board"


async def test_a_mini_prompt_that_is_missing_is_named_and_its_step_kept(
    playbook: Playbook, book: Path, tmp_path: Path
) -> None:
    lost = (book / "mini-prompts/analysis/trace-bug-root-cause.md").rename(tmp_path / "lost.md")
    report = await import_paths(playbook, OPERATOR, [book])
    [dangling] = report.dangling
    source = (book / "workflows/quick-fix.json").read_text("utf-8").splitlines()
    assert '"miniPrompt": "analysis/trace-bug-root-cause"' in source[dangling.line - 1]
    assert "there is no prompt 'analysis/trace-bug-root-cause'" in dangling.reason
    first = (await got(playbook, "quick-fix")).stages[0]
    [kept] = first.extra["unresolved"]
    assert (kept["prompt"], kept["at"]) == ("analysis/trace-bug-root-cause", 1)
    assert kept["extra"]["dependencies"] == ["ask-clarifying-questions"]
    await export(playbook, tmp_path / "out", PORTAL)
    text = (tmp_path / "out/workflows/quick-fix.yaml").read_text("utf-8")
    assert "      - prompt: analysis/trace-bug-root-cause\n        extra:\n" in text
    shutil.copy(lost, tmp_path / "out/prompts/analysis-trace-bug-root-cause.md")
    report = await import_paths(playbook, OPERATOR, [tmp_path / "out"])
    assert report.updated == ["workflows/quick-fix"]
    keys = [each.item.key for each in (await got(playbook, "quick-fix")).stages[0].items]
    assert keys == ["analysis-ask-clarifying-questions", "analysis-trace-bug-root-cause"]


async def test_one_file_brings_the_mini_prompts_that_it_names(
    playbook: Playbook, book: Path
) -> None:
    report = await import_paths(
        playbook, OPERATOR, [book / "workflows/design-system-creation.json"]
    )
    assert report.added == [
        "prompts/analysis-analyze-design-system",
        "prompts/implementation-implement-design-system",
        "workflows/design-system-creation",
    ]


async def test_yaml_of_the_older_form_says_the_same(
    playbook: Playbook, book: Path, tmp_path: Path
) -> None:
    await import_paths(playbook, OPERATOR, [book])
    for path in sorted((book / "workflows").glob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        path.with_suffix(".yml").write_text(yaml.safe_dump(told, sort_keys=False), "utf-8")
        path.unlink()
    plain = book / "workflows/quick-fix.yml"
    plain.write_text(plain.read_text("utf-8").replace("version: '1.0'", "version: 1.0"), "utf-8")
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.added, report.updated, len(report.unchanged)) == ([], [], 28)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\nphases: y\n", "a.yaml:2: phases must be a list"),
        ("name: x\nphases:\n- y\n", "a.yaml:3: phase 1 must be made of"),
        ("name: x\nphases:\n- phase: y\n  steps: [z]\n", "a.yaml:4: a step must be made of"),
        ("phases: []\n", "a.yaml:1: name is missing"),
        ("name: x\nphases: []\nunresolved: 1\n", "used for steps that are not there"),
    ],
)
async def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows/a.yaml").write_text(text, "utf-8")
    report = await check_paths([tmp_path])
    assert any(said in str(each) for each in report.problems), report.problems


async def test_steps_and_files_of_odd_names_are_kept_and_named(tmp_path: Path) -> None:
    write(tmp_path, "mini-prompts/automatic/other.md", "x")
    write(tmp_path, "mini-prompts/a b.md", "x")
    write(tmp_path, "mini-prompts/memory-board.md", "x")
    steps = "steps: [{miniPrompt: ../../x}, {id: alone}, {note: y}]"
    write(tmp_path, "workflows/a.yaml", f"name: x\nphases:\n- {steps}\n")
    report = await check_paths([tmp_path])
    assert [Path(each.path).name for each in report.problems] == [
        "a b.md",
        "other.md",
        "memory-board.md",
    ]
    assert [each.reason.split(" in these")[0] for each in report.dangling] == [
        "there is no prompt '../../x'",
        "there is no prompt 'alone'",
        "there is no prompt 'step 1'",
    ]
