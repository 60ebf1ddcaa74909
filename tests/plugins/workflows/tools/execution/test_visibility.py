"""Walking shows nobody more than selecting would, whatever was visible before."""

from __future__ import annotations

import json

import pytest

from tests.plugins.workflows.playing import stage
from tests.plugins.workflows.tools.execution.playbooks import Playbook, names

pytestmark = pytest.mark.one_database


async def test_a_key_stands_for_ones_own_workflow_only(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    found = await playbook.get("ann", "select_workflow", workflow_id=made["key"])
    assert found["id"] == made["id"]
    for who in ("bob", "open"):
        said = await playbook.refused(who, "select_workflow", workflow_id=made["key"])
        assert said == ("not_found", "Workflow not found")


async def test_a_private_workflow_is_its_owners_by_every_tool(playbook: Playbook) -> None:
    made = await playbook.workflow("ann", visibility="PRIVATE")
    asked = {"workflow_id": made["id"]}
    for tool, more in (
        ("select_workflow", {}),
        ("select_workflow", {"start_run": True}),
        ("get_next_step", {"step_index": 0}),
        ("get_workflow", {"include_content": True}),
    ):
        await playbook.get("ann", tool, **asked, **more)
        for who in ("bob", "open"):
            said = await playbook.refused(who, tool, **asked, **more)
            assert said == ("access_denied", "Access denied: workflow is private")
            gone = await playbook.refused(who, tool, **{**asked, "workflow_id": "nothing"}, **more)
            assert gone == ("not_found", "Workflow not found")


async def test_a_workflow_that_is_taken_back_stops_others_runs(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    await playbook.step("bob", run_id=run)
    await playbook.get(
        "ann",
        "edit_workflow",
        workflow_id=made["id"],
        version=made["version"],
        visibility="PRIVATE",
    )
    for asked in ({"run_id": run}, {"run_id": run, "step_index": 0}):
        said = await playbook.refused("bob", "get_next_step", **asked)
        assert said == ("access_denied", "Access denied: workflow is private")


async def test_a_deleted_workflow_is_gone_and_its_owner_is_told_where_it_is(
    playbook: Playbook,
) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("ann", made)
    await playbook.get(
        "ann", "edit_workflow", workflow_id=made["id"], version=made["version"], is_active=False
    )
    code, message = await playbook.refused("ann", "get_next_step", run_id=run)
    assert code == "workflow_deleted"
    assert "restore_workflow" in message
    for person in ("ann", "bob"):
        asked = {"workflow_id": made["id"], "step_index": 0}
        said = await playbook.refused(person, "get_next_step", **asked)
        assert said == ("not_found", "Workflow not found")


async def test_a_card_that_its_owner_takes_back_is_left_out_of_plans_and_runs(
    playbook: Playbook,
) -> None:
    card = await playbook.card("bob", "Secret card")
    made = await playbook.workflow(
        "ann", stage("a", "b", skills=[card["id"]], item_order=["a", card["id"], "b"])
    )
    carls, bobs = await playbook.run("carl", made), await playbook.run("bob", made)
    assert (await playbook.step("carl", run_id=carls))["name"] == "a"
    assert (await playbook.step("carl", run_id=carls, step_index=1))["name"] == "Secret card"
    await playbook.step("carl", run_id=carls, step_index=0)
    await playbook.get(
        "bob", "edit_skill", skill_id=card["id"], version=card["version"], visibility="PRIVATE"
    )
    for who in ("ann", "carl", "open"):
        selected = await playbook.call(who, "select_workflow", workflow_id=made["id"])
        assert names(selected.structured) == ["a", "b"]
        whole = await playbook.call(
            who, "get_workflow", workflow_id=made["id"], include_content=True
        )
        shown = json.dumps([selected.structured, selected.content, whole.structured])
        assert "Secret card" not in shown
        assert card["id"] not in shown
        found = await playbook.step(who, workflow_id=made["id"], step_index=1)
        assert (found["name"], found["totalSteps"], found["hasNext"]) == ("b", 2, False)
        denied = await playbook.refused(who, "get_selected_skill", skill_id=card["id"])
        assert denied == ("access_denied", "Access denied: skill is private")
    chosen = await playbook.get("bob", "select_workflow", workflow_id=made["id"])
    assert names(chosen) == ["a", "Secret card", "b"]
    # Carl's run is of the version that had the card: it goes on, past it.
    found = await playbook.step("carl", run_id=carls)
    assert (found["name"], found["index"], found["totalSteps"]) == ("b", 1, 2)
    assert [(await playbook.step("bob", run_id=bobs))["name"] for _ in range(3)] == [
        "a",
        "Secret card",
        "b",
    ]
    code, said = await playbook.refused("carl", "get_next_step", run_id=carls)
    assert (code, "2 steps" in said) == ("no_such_step", True)


async def test_a_private_cards_files_are_its_owners(playbook: Playbook) -> None:
    files = [{"name": "notes.md", "text": "Notes"}]
    card = await playbook.card("ann", visibility="PRIVATE", attachments=files)
    asked = {"skill_id": card["id"], "name": "notes.md"}
    await playbook.get("ann", "get_attachment", **asked)
    for who in ("bob", "open"):
        for tool, arguments in (
            ("get_attachment", asked),
            ("get_selected_skill", {"skill_id": card["id"]}),
        ):
            said = await playbook.refused(who, tool, **arguments)
            assert said == ("access_denied", "Access denied: skill is private")
    code, _ = await playbook.refused("ann", "get_attachment", **{**asked, "name": "other.md"})
    assert code == "not_found"
