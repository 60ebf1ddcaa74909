"""A run remembers how far its person is, and keeps to the version it began with."""

from __future__ import annotations

import asyncio

import pytest

from tests.plugins.workflows.tools.execution.playbooks import Playbook, names

pytestmark = pytest.mark.one_database


async def test_nobody_anonymous_has_a_run(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    found = await playbook.get("open", "select_workflow", workflow_id=made["id"], start_run=True)
    assert names(found) == ["a", "b", "c"]
    assert found["run"] is None
    assert "sign-in" in found["note"]
    run = await playbook.run("ann", made)
    said = await playbook.refused("open", "get_next_step", run_id=run)
    assert said == ("authentication_required", "Authentication required")


async def test_a_run_goes_on_by_itself_to_the_end(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    walked = [await playbook.step("bob", run_id=run) for _ in range(3)]
    assert [each["content"] for each in walked] == ["Do a.", "Do b.", "Do c."]
    assert {each["runId"] for each in walked} == {run}
    assert [each["note"] for each in walked] == [None] * 3
    code, said = await playbook.refused("bob", "get_next_step", run_id=run)
    assert code == "no_such_step"
    assert "3 steps" in said
    assert "finish_run" in said
    await playbook.get("bob", "finish_run", run_id=run)
    code, _ = await playbook.refused("bob", "get_next_step", run_id=run)
    assert code == "run_finished"


async def test_a_run_goes_back_and_on_from_there(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("ann", made)
    for asked, wanted in (({"step_index": 2}, "c"), ({"step_index": 0}, "a"), ({}, "b")):
        found = await playbook.step("ann", run_id=run, workflow_id=made["key"], **asked)
        assert found["name"] == wanted


async def test_two_at_once_are_not_given_the_same_step(playbook: Playbook) -> None:
    run = await playbook.run("ann", await playbook.workflow("ann"))
    found = await asyncio.gather(*(playbook.step("ann", run_id=run) for _ in range(3)))
    assert sorted(each["index"] for each in found) == [0, 1, 2]


async def test_open_runs_are_told_when_a_workflow_is_selected(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    await playbook.step("bob", run_id=run, step_index=1)
    found = await playbook.get("bob", "select_workflow", workflow_id=made["id"])
    [told] = found["openRuns"]
    assert (told["runId"], told["step"], told["nextStep"], told["totalSteps"]) == (run, 1, 2, 3)
    again = await playbook.get("bob", "select_workflow", workflow_id=made["id"], start_run=True)
    assert [each["runId"] for each in again["openRuns"]] == [run]
    assert again["run"]["runId"] != run
    assert (again["run"]["step"], again["run"]["nextStep"]) == (None, 0)
    for who in ("ann", "open"):
        seen = await playbook.get(who, "select_workflow", workflow_id=made["id"])
        assert seen["openRuns"] == []


async def test_a_run_is_its_persons_and_its_workflows(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    other = await playbook.workflow("ann", name="Other")
    run = await playbook.run("bob", made)
    for who, asked in (("ann", run), ("bob", "nothing")):
        said = await playbook.refused(who, "get_next_step", run_id=asked)
        assert said == ("not_found", "Run not found")
    code, why = await playbook.refused("bob", "get_next_step", run_id=run, workflow_id=other["id"])
    assert (code, "another workflow" in why) == ("bad_input", True)


async def test_a_workflow_without_steps_starts_no_run(playbook: Playbook) -> None:
    made = await playbook.workflow("ann", {"name": "Empty"})
    found = await playbook.get("ann", "select_workflow", workflow_id=made["id"], start_run=True)
    assert found["run"] is None
    assert "no steps" in found["note"]


async def test_a_run_keeps_to_the_version_it_began_with(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    await playbook.step("bob", run_id=run)
    a, b, c = (item["id"] for item in made["stages"][0]["items"])
    new = {"prompt_id": b, "name": "new b", "content": "Do it otherwise."}
    await playbook.get(
        "ann",
        "edit_workflow",
        workflow_id=made["id"],
        version=made["version"],
        stages=[
            {
                "stage_id": made["stages"][0]["id"],
                "name": "New",
                "prompts": [{"prompt_id": c}, new, {"prompt_id": a}],
            }
        ],
    )
    old = await playbook.step("bob", run_id=run)
    assert (old["content"], old["index"], old["totalSteps"]) == ("Do b.", 1, 3)
    assert (old["version"], old["stageName"]) == (made["version"], "Work")
    assert f"follows version {made['version']}" in old["note"]
    assert (await playbook.step("bob", run_id=run, step_index=2))["content"] == "Do c."
    selected = await playbook.get("bob", "select_workflow", workflow_id=made["id"])
    assert names(selected) == ["c", "new b", "a"]
    [told] = selected["openRuns"]
    assert (told["totalSteps"], told["step"], told["nextStep"]) == (3, 2, None)
    fresh = await playbook.step("bob", workflow_id=made["id"], step_index=1)
    assert (fresh["content"], fresh["note"]) == ("Do it otherwise.", None)


async def test_a_run_has_the_steps_that_an_edit_has_replaced_since(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    await playbook.get(
        "ann",
        "edit_workflow",
        workflow_id=made["id"],
        version=made["version"],
        remove_stages=[made["stages"][0]["id"]],
        stages=[{"name": "New", "prompts": [{"name": "d", "content": "Do d."}]}],
    )
    found = [await playbook.step("bob", run_id=run) for _ in range(3)]
    assert [each["content"] for each in found] == ["Do a.", "Do b.", "Do c."]
    fresh = await playbook.step("bob", workflow_id=made["id"], step_index=0)
    assert (fresh["content"], fresh["totalSteps"]) == ("Do d.", 1)


async def test_a_step_that_was_taken_back_and_then_replaced_is_not_in_runs(
    playbook: Playbook,
) -> None:
    made = await playbook.workflow("ann")
    run = await playbook.run("bob", made)
    b = made["stages"][0]["items"][1]["id"]
    for changes in (
        {"visibility": "PRIVATE"},
        {
            "stages": [
                {"stage_id": made["stages"][0]["id"], "name": "New", "prompts": [{"prompt_id": b}]}
            ]
        },
        {"visibility": "PUBLIC"},
    ):
        now = await playbook.get("ann", "get_workflow", workflow_id=made["id"])
        changes = {"workflow_id": made["id"], "version": now["version"], **changes}
        await playbook.get("ann", "edit_workflow", **changes)
    found = await playbook.step("bob", run_id=run)
    assert (found["content"], found["totalSteps"], found["hasNext"]) == ("Do b.", 1, False)
