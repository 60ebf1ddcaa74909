"""The whole plugin: what it declares, how it opens, and how it tells how it is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import Account
from plugins.workflows import plugin
from plugins.workflows.config import WorkflowsConfig
from tests.plugins.workflows.playing import ANYONE, done, opened, stage

NAMED_IN_THE_SEED = {
    "get_available_workflows",
    "get_skills",
    "select_workflow",
    "get_next_step",
    "get_selected_skill",
    "get_workflow",
    "add_workflow",
    "edit_workflow",
    "add_skill",
    "edit_skill",
    "create_folder",
    "get_by_folder",
    "get_versions",
}
READING = {
    "get_available_workflows",
    "get_skills",
    "get_selected_skill",
    "get_workflow",
    "get_attachment",
    "get_by_folder",
    "get_versions",
    "list_runs",
    "get_run",
    "list_bin",
    "list_folders",
    "preview_edit",
    "preview_workflow",
    "list_workflow_links",
    "open_workflow_link",
}
"""Of the tools, those that write nothing whatever their arguments are."""
DELETING = {"edit_workflow", "edit_skill", "edit_folder", "restore_version", "erase_workflow"}


def test_the_declaration_does_nothing_yet() -> None:
    declared = plugin.porch_plugin()
    assert (declared.name, declared.command) == ("workflows", None)
    assert [command.name for command in declared.commands] == ["import", "export"]
    assert declared.config is WorkflowsConfig


def test_declaring_imports_neither_the_database_nor_numpy() -> None:
    code = (
        "import sys; from plugins.workflows import plugin; plugin.porch_plugin(); "
        "print([each for each in ('sqlalchemy', 'numpy', 'yaml', 'rich') if each in sys.modules])"
    )
    root = Path(__file__).parents[3]
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"


async def test_it_offers_the_tools_that_the_seed_names_with_schemas_and_hints() -> None:
    async with opened("alice") as portal:
        tools = await portal.tools("alice")
        assert set(tools) >= NAMED_IN_THE_SEED
        for name, tool in tools.items():
            hints = tool["annotations"]
            assert tool["outputSchema"]["type"] == "object", name
            assert hints["readOnlyHint"] is (name in READING), name
            assert hints["destructiveHint"] is (name in DELETING), name
            assert hints["openWorldHint"] is False, name
            assert tool["title"], name
        assert [name for name in tools if "skill" in name and not card_is_meant(tools[name])] == []


def card_is_meant(tool: dict[str, Any]) -> bool:
    """Whether a summary says that these skills are the playbook's cards."""
    return "skill card" in tool["description"] and "playbook" in tool["description"]


async def test_as_suggested_reading_is_open_writing_public_and_publishing_for_members() -> None:
    async with opened(tiers=None) as portal:
        anyone, signed_in = set(await portal.tools("open")), set(await portal.tools("public"))
        assert signed_in - anyone == {
            "add_workflow",
            "edit_workflow",
            "add_skill",
            "edit_skill",
            "create_folder",
            "edit_folder",
            "get_versions",
            "restore_version",
            "list_runs",
            "get_run",
            "finish_run",
            "add_to_library",
            "remove_from_library",
            "duplicate_workflow",
            "rate_workflow",
            "list_bin",
            "list_folders",
            "preview_edit",
            "preview_workflow",
            "restore_workflow",
            "erase_workflow",
            "list_workflow_links",
            "end_workflow_link",
        }
        told = set(await portal.tools("members")) - signed_in
        assert told == {"publish", "create_workflow_link"}


async def test_the_shipped_tiers_say_the_same_as_what_is_suggested() -> None:
    shipped = (Path(__file__).parents[3] / "config" / "tiers.yaml").read_text()
    async with opened(tiers=None) as suggested, opened(tiers=shipped) as written:
        for tier in ("open", "public", "members"):
            assert set(await written.tools(tier)) == set(await suggested.tools(tier))
            assert set(await written.resources(tier)) == set(await suggested.resources(tier))


async def test_health_counts_what_is_there() -> None:
    async with opened("alice") as portal:
        await done(portal, "alice", "add_workflow", name="A", stages=[stage("B", "C")])
        await done(portal, "alice", "add_skill", name="A", content="B")
        await done(portal, "alice", "select_workflow", workflow_id="a", start_run=True)
        told = (await portal.health())["plugins"]["workflows"]
        assert (told["state"], told["detail"]) == ("ok", "")
        assert told["facts"]["workflows"] == told["facts"]["skills"] == 1
        assert told["facts"]["openRuns"] == 1
        assert told["facts"]["prompts"] >= 2


async def test_the_starter_workflows_are_there_unless_they_are_not_wanted() -> None:
    async with opened(starter=True) as portal:
        found = await done(portal, ANYONE, "get_available_workflows", task="code review")
        assert found["workflows"][0]["key"] == "code-review"
    async with opened(starter=False) as portal:
        assert (await done(portal, ANYONE, "get_available_workflows"))["workflows"] == []


async def test_in_a_portal_that_serves_the_first_work_goes_on_behind(tmp_path: Path) -> None:
    """Twice on the same data: the second opening finds all there, and adds nothing."""
    counted = []
    for _ in range(2):
        async with opened(starter=True, data_dir=tmp_path, wait_ready=False) as portal:
            told = (await portal.health())["plugins"]["workflows"]
            while told["state"] == "starting":
                told = (await portal.health())["plugins"]["workflows"]
            assert told["state"] == "ok", told["detail"]
            counted.append(told["facts"])
    assert counted[0] == counted[1]


async def test_a_starter_that_cannot_be_taken_in_is_told_and_the_rest_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: Any) -> bool:
        raise RuntimeError("starter/workflows/a.yaml:3: name: is missing")

    monkeypatch.setattr("plugins.workflows.offer.import_starter", fail)
    async with opened("alice", starter=True) as portal:
        told = (await portal.health())["plugins"]["workflows"]
        assert told["state"] == "degraded"
        assert "a.yaml:3" in told["detail"]
        assert await done(portal, "alice", "add_workflow", name="A", stages=[])


async def test_what_is_written_is_there_after_a_restart(tmp_path: Path) -> None:
    account = Account.of_key(f"0x{'1' * 40}")
    async with opened(data_dir=tmp_path) as portal:
        await portal.sign_in("alice", account)
        await done(portal, "alice", "add_workflow", name="A", stages=[stage("B", "C")])
        begun = await done(portal, "alice", "select_workflow", workflow_id="a", start_run=True)
        await done(portal, "alice", "get_next_step", run_id=begun["run"]["runId"])
    async with opened(data_dir=tmp_path) as portal:
        await portal.sign_in("alice", account)
        (run,) = (await done(portal, "alice", "list_runs"))["runs"]
        step = await done(portal, "alice", "get_next_step", run_id=run["runId"])
        assert (step["name"], step["content"]) == ("C", "Do C.")


async def test_clients_hear_that_their_lists_have_changed() -> None:
    async with opened("alice") as portal:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        portal.running.changes.listen(heard.put_nowait)
        await done(portal, "alice", "add_workflow", name="A", stages=[stage("B")])
        edit = {"workflow_id": "a", "version": 1, "visibility": "PUBLIC"}
        made = await done(portal, "alice", "edit_workflow", **edit)
        told = [await heard.get() for _ in range(3)]
        assert {(each.kind, each.uri) for each in told} == {
            ("resource", f"playbook://workflows/{made['id']}"),
            ("prompts", None),
            ("resources", None),
        }
