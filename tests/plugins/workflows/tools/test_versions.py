"""Editing without loss: answers given back, stages left out, older versions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.plugins.workflows.playing import done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob") as portal:
        yield portal


async def add(portal: TestPortal, *stages: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"name": "Review", "stages": [*stages] or [stage("Read", "Judge")], **more}
    return await done(portal, "alice", "add_workflow", **given)


async def read(portal: TestPortal, id: str, *, content: bool = True) -> dict[str, Any]:
    return await done(portal, "alice", "get_workflow", workflow_id=id, include_content=content)


async def edit(portal: TestPortal, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await done(portal, "alice", "edit_workflow", **given, **more)


async def rich(portal: TestPortal) -> dict[str, Any]:
    """A workflow with everything that one can have, and another's prompt and card in it."""
    card = {"name": "Naming", "content": "Name it.", "visibility": "PUBLIC"}
    theirs = await done(portal, "bob", "add_skill", **card)
    shown = {"name": "Shared", "stages": [stage("Bob's")], "visibility": "PUBLIC"}
    (lent,) = (await done(portal, "bob", "add_workflow", **shown))["stages"][0]["items"]
    first = {"name": "First", "color": "#ff0000", "withReview": True, "description": "One."}
    prompts = [{"name": "Read", "content": "Look."}, {"prompt_id": lent["id"]}]
    first |= {"prompts": prompts, "skills": [theirs["id"]]}
    first["itemOrder"] = [theirs["id"], "memory-board", "Read"]
    return await add(portal, first, stage("Judge", name="Second"), tags=["a"], complexity="M")


@pytest.mark.parametrize("content", [True, False])
async def test_what_is_read_can_be_given_back_and_changes_nothing(
    portal: TestPortal, content: bool
) -> None:
    made = await rich(portal)
    answer = await read(portal, made["id"], content=content)
    same = await edit(portal, answer)
    assert (same["done"], same["version"], same["warnings"]) == ("unchanged", 1, [])
    assert await read(portal, made["id"], content=content) == answer


async def test_what_was_changed_in_an_answer_is_all_that_changes(portal: TestPortal) -> None:
    made = await rich(portal)
    answer = await read(portal, made["id"])
    answer["stages"][0]["items"][0]["content"] = "Look twice."
    answer["stages"][1]["name"] = "Last"
    answer["stages"][1]["items"].append({"type": "MINI_PROMPT", "name": "Tell", "content": "Say."})
    edited = await edit(portal, answer)
    assert (edited["done"], edited["version"], edited["warnings"]) == ("updated", 2, [])
    now = await read(portal, made["id"])
    new = now["stages"][1]["items"].pop()
    assert (new["name"], new["content"]) == ("Tell", "Say.")
    answer["stages"][1]["items"].pop()
    for shown in (answer, now):
        shown.pop("version"), shown.pop("updatedAt")
        for each in (item for one in shown["stages"] for item in one["items"]):
            each.pop("version"), each.pop("updatedAt")
    assert now == answer


async def test_another_s_prompt_gets_no_other_words(portal: TestPortal) -> None:
    made = await rich(portal)
    answer = await read(portal, made["id"])
    answer["stages"][0]["items"][1]["content"] = "Mine now."
    why = await refused(portal, "alice", "edit_workflow", **answer)
    assert why == "Access denied: mini-prompt is not yours to edit"


async def test_stages_left_out_stay_where_they_were_and_are_named(portal: TestPortal) -> None:
    made = await add(portal, *(stage("Do", name=each) for each in ("A", "B", "C")))
    first, second, third = made["stages"]
    given = {"workflow_id": made["id"], "version": 1}
    edited = await edit(
        portal, given, stages=[stage("New", name="D"), {"name": "B", "color": "#fff"}]
    )
    assert [each["name"] for each in edited["stages"]] == ["A", "D", "B", "C"]
    assert edited["warnings"] == [
        f"Left out of the edit, and kept: A ({first['id']}), C ({third['id']}). "
        "remove_stages takes ids to remove."
    ]
    kept = (await read(portal, made["id"]))["stages"][2]
    assert (kept["id"], kept["color"], len(kept["items"])) == (second["id"], "#fff", 1)
    fewer = await edit(portal, given | {"version": 2}, remove_stages=[first["id"], third["id"]])
    assert [each["name"] for each in fewer["stages"]] == ["D", "B"]


async def test_what_is_to_be_removed_must_be_there_and_not_be_edited(portal: TestPortal) -> None:
    made = await add(portal)
    given = {"workflow_id": made["id"], "version": 1}
    (there,) = made["stages"]
    why = await refused(portal, "alice", "edit_workflow", **given, remove_stages=["nothing"])
    assert why == "remove_stages: the stage nothing is not there."
    both = {"stages": [{"name": "Work"}], "remove_stages": [there["id"]]}
    why = await refused(portal, "alice", "edit_workflow", **given, **both)
    assert why == f"remove_stages: the stage {there['id']} is among the stages of this edit."


async def test_each_version_is_shown_compared_and_restored(portal: TestPortal) -> None:
    made = await add(portal)
    id, there = made["id"], made["stages"][0]["id"]
    given = {"workflow_id": id, "version": 1}
    await edit(portal, given, stages=[stage("Tell", name="After")], remove_stages=[there])
    await edit(portal, given | {"version": 2}, name="Renamed", tags=["new"])
    answer = await done(portal, "alice", "get_versions", id=id, version=1, compare_with=3)
    assert [each["version"] for each in answer["versions"]] == [3, 2, 1]
    assert [each["fields"] for each in answer["versions"]] == [
        ["name", "tags"],
        ["stages"],
        ["created"],
    ]
    assert {"-name: Review", "+name: Renamed", "+  - new"} <= set(answer["diff"].splitlines())
    shown = (await done(portal, "alice", "get_versions", id=id, version=1))["content"]
    assert [each["name"] for each in shown["stages"][0]["items"]] == ["Read", "Judge"]
    back = await done(portal, "alice", "restore_version", id=id, version=3, restore=1)
    assert (back["done"], back["version"], back["warnings"]) == ("updated", 4, [])
    now = await read(portal, id)
    assert (now["name"], now["tags"]) == ("Review", [])
    assert [each["content"] for each in now["stages"][0]["items"]] == ["Do Read.", "Do Judge."]


async def test_nobody_but_the_owner_sees_older_versions_of_what_is_public(
    portal: TestPortal,
) -> None:
    made = await add(portal, description="My salary is secret.")
    given = {"workflow_id": made["id"], "version": 1, "description": "For all."}
    await edit(portal, given, visibility="PUBLIC")
    asked = {"id": made["id"], "version": 1}
    why = await refused(portal, "bob", "get_versions", **asked)
    assert why == "Access denied: workflow is not yours to edit"
    why = await refused(portal, "bob", "restore_version", id=made["id"], version=2, restore=1)
    assert why == "Access denied: workflow is not yours to edit"


async def test_a_card_is_restored_with_its_files(portal: TestPortal) -> None:
    file = {"name": "list.md", "text": "One."}
    card = {"name": "Card", "content": "Do.", "attachments": [file]}
    made = await done(portal, "alice", "add_skill", **card)
    given = {"skill_id": made["id"], "version": 1, "content": "Do more.", "attachments": []}
    await done(portal, "alice", "edit_skill", **given)
    asked = {"id": made["id"], "type": "skill", "version": 2, "restore": 1}
    back = await done(portal, "alice", "restore_version", **asked)
    assert (back["version"], back["warnings"]) == (3, [])
    read = await done(portal, "alice", "get_selected_skill", skill_id=made["id"])
    assert (read["content"], [each["name"] for each in read["attachments"]]) == ("Do.", ["list.md"])


async def test_a_version_that_never_was_or_is_not_kept_is_told_apart(portal: TestPortal) -> None:
    made = await add(portal)
    why = await refused(portal, "alice", "get_versions", id=made["id"], version=9)
    assert why == "Workflow has no version 9: it is at 1."
