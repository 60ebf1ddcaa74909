"""An agent selects a workflow, walks it step by step, and reads what is in it."""

from __future__ import annotations

import asyncio
import base64

import pytest

from tests.plugins.workflows.playing import stage
from tests.plugins.workflows.tools.execution.playbooks import Playbook

pytestmark = pytest.mark.one_database


async def test_selecting_brings_the_head_the_stages_and_a_plan_without_content(
    playbook: Playbook,
) -> None:
    made = await playbook.workflow(
        "ann",
        stage("a", "b", name="Look", color="#fff", description="First."),
        stage("c", name="Say"),
        description="How to review.",
        complexity="M",
        tags=["code", "review"],
    )
    found = await playbook.get("open", "select_workflow", workflow_id=made["id"])
    assert (found["name"], found["description"]) == ("Review code", "How to review.")
    assert (found["complexity"], found["tags"]) == ("M", ["code", "review"])
    assert (found["author"], found["mine"]) == ("ann", False)
    assert [each["name"] for each in found["stages"]] == ["Look", "Say"]
    assert found["stages"][0]["color"] == "#fff"
    assert (found["run"], found["openRuns"], found["note"]) == (None, [], None)
    plan = found["executionPlan"]
    assert (plan["workflowId"], plan["workflowName"]) == (made["id"], "Review code")
    assert (plan["totalSteps"], plan["includeMultiAgentChat"]) == (3, False)
    first, _, last = plan["items"]
    assert "content" not in first
    assert (first["index"], first["type"], first["name"]) == (0, "mini-prompt", "a")
    assert (first["attachments"], first["extra"]) == (None, None), "nothing empty is sent"
    assert (last["stageIndex"], last["stageName"]) == (1, "Say")


async def test_the_same_version_gives_the_same_plan(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    first, second = await asyncio.gather(
        *(playbook.get(who, "select_workflow", workflow_id=made["id"]) for who in ("ann", "open"))
    )
    assert first["executionPlan"] == second["executionPlan"]


async def test_every_step_can_be_walked_by_its_index(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    walked, index = [], 0
    while index is not None:
        found = await playbook.step("open", workflow_id=made["id"], step_index=index)
        assert (found["index"], found["totalSteps"]) == (index, 3)
        assert found["hasNext"] is (found["nextIndex"] is not None)
        assert (found["workflowId"], found["version"]) == (made["id"], made["version"])
        assert found["runId"] is None
        walked.append(found["content"])
        index = found["nextIndex"]
    assert walked == ["Do a.", "Do b.", "Do c."]


async def test_a_step_is_named_by_either_name_of_its_index(playbook: Playbook) -> None:
    ref = {"workflow_id": (await playbook.workflow("ann"))["id"]}
    assert (await playbook.step("open", **ref, current_step=1))["name"] == "b"
    assert (await playbook.step("open", **ref, current_step=1, step_index=1))["name"] == "b"
    code, said = await playbook.refused(
        "open", "get_next_step", **ref, current_step=1, step_index=2
    )
    assert code == "bad_input"
    assert "step_index is 2 and current_step is 1" in said


async def test_a_step_that_is_not_there_is_refused_in_words_that_help(playbook: Playbook) -> None:
    made = await playbook.workflow("ann")
    ref = {"workflow_id": made["id"]}
    for beyond in (3, 10**30):
        code, said = await playbook.refused("open", "get_next_step", **ref, step_index=beyond)
        assert code == "no_such_step"
        assert "3 steps, 0 to 2" in said
    for wrong, word in (({"step_index": -1}, "step_index"), ({}, "run_id")):
        code, said = await playbook.refused("open", "get_next_step", **ref, **wrong)
        assert code in {"bad_input", "invalid_arguments"}
        assert word in said
    code, said = await playbook.refused("open", "get_next_step", step_index=0)
    assert (code, "workflow_id" in said) == ("bad_input", True)
    empty = await playbook.workflow("ann", {"name": "Empty"}, name="Nothing to do")
    code, said = await playbook.refused(
        "open", "get_next_step", workflow_id=empty["id"], step_index=0
    )
    assert "no steps" in said


async def test_get_workflow_brings_what_an_edit_needs(playbook: Playbook) -> None:
    card = await playbook.card("ann", attachments=[{"name": "notes.md", "text": "Notes"}])
    made = await playbook.workflow(
        "ann",
        stage(
            "a",
            skills=[card["id"]],
            item_order=[card["id"], "multi-agent-chat", "a"],
            with_review=True,
        ),
    )
    found = await playbook.get("ann", "get_workflow", workflow_id=made["id"])
    assert (found["version"], found["mine"]) == (made["version"], True)
    [told] = found["stages"]
    prompt, placed = told["items"]
    assert told["id"] == made["stages"][0]["id"]
    assert told["withReview"] is True
    assert told["itemOrder"] == [card["id"], "multi-agent-chat", prompt["id"]]
    assert (prompt["type"], prompt["name"], prompt["content"]) == ("MINI_PROMPT", "a", None)
    assert (placed["type"], placed["id"], placed["content"]) == ("SKILL", card["id"], None)
    assert [each["name"] for each in placed["attachments"]] == ["notes.md"]
    whole = await playbook.get("ann", "get_workflow", workflow_id=made["id"], include_content=True)
    assert [each["content"] for each in whole["stages"][0]["items"]] == ["Do a.", "Do Card."]


async def test_a_card_comes_whole_and_its_files_by_name(playbook: Playbook) -> None:
    data = bytes(range(256))
    files = [
        {"name": "notes.md", "text": "Notes"},
        {"name": "all.bin", "base64": base64.b64encode(data).decode()},
    ]
    card = await playbook.card("ann", attachments=files, tags=["x"], description="A card.")
    found = await playbook.get("open", "get_selected_skill", skill_id=card["id"])
    assert (found["content"], found["tags"], found["description"]) == (
        "Do Card.",
        ["x"],
        "A card.",
    )
    assert [(each["name"], each["size"]) for each in found["attachments"]] == [
        ("notes.md", 5),
        ("all.bin", 256),
    ]
    file = await playbook.get("open", "get_attachment", skill_id=card["id"], name="all.bin")
    assert base64.b64decode(file["content"]) == data
    assert (file["encoding"], file["size"], file["skillId"]) == ("base64", 256, card["id"])
    assert file["digest"] == found["attachments"][1]["digest"]


async def test_a_step_names_its_files_for_get_attachment(playbook: Playbook) -> None:
    card = await playbook.card("ann", attachments=[{"name": "notes.md", "text": "Notes"}])
    made = await playbook.workflow("ann", stage(skills=[card["id"]]))
    step = await playbook.step("open", workflow_id=made["id"], step_index=0)
    [named] = step["attachments"]
    file = await playbook.get("open", "get_attachment", skill_id=step["id"], name=named["name"])
    assert base64.b64decode(file["content"]) == b"Notes"


ODD = ["\x00", "a\x00b", "x" * 10_000, "%", "'; --", "日本"]


async def test_an_odd_id_is_an_error_that_can_be_read(playbook: Playbook) -> None:
    for odd in ODD:
        for tool, arguments in (
            ("select_workflow", {"workflow_id": odd}),
            ("get_next_step", {"workflow_id": odd, "step_index": 0}),
            ("get_next_step", {"run_id": odd}),
            ("get_workflow", {"workflow_id": odd}),
            ("get_selected_skill", {"skill_id": odd}),
            ("get_attachment", {"skill_id": odd, "name": odd}),
        ):
            code, _ = await playbook.refused("ann", tool, **arguments)
            assert code in {"not_found", "invalid_arguments"}


async def test_tools_that_walk_say_that_they_write_and_the_others_that_they_only_read(
    playbook: Playbook,
) -> None:
    shown = await playbook.portal.tools("open")
    reading = {"get_workflow", "get_selected_skill", "get_attachment"}
    walking = {"select_workflow", "get_next_step"}
    assert reading | walking <= shown.keys()
    for name in reading | walking:
        hints = shown[name]["annotations"]
        assert hints["readOnlyHint"] is (name in reading)
        assert hints["destructiveHint"] is False
        assert "outputSchema" in shown[name]
