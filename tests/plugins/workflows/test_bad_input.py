"""Bad input: a clear error or the stated rule, and nothing half-written."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from plugins.workflows import limits
from plugins.workflows.store.tables import metadata
from tests.plugins.workflows.playing import done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob") as portal:
        yield portal


async def rows(portal: TestPortal) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the plugin's tables, and the objects that it keeps."""
    host = portal.running.plugins.host("workflows")
    async with host.database.engine.connect() as connection:
        found = {
            name: sorted(map(tuple, await connection.execute(table.select())), key=repr)
            for name, table in metadata.tables.items()
        }
    found["objects"] = sorted([(each.key, each.size) async for each in host.objects.list()])
    return found


def workflow(*stages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "A", "stages": list(stages), **more}


def card(*files: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "A", "content": "B", "attachments": list(files), **more}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"extra": value}
    return value


MEGABYTE = "x" * 1_000_000
REFUSED = [
    ("add_workflow", {}, "name"),
    ("add_workflow", {"name": "A"}, "stages"),
    ("add_workflow", workflow(name=""), "name"),
    ("add_workflow", workflow(name="   "), "name"),
    ("add_workflow", workflow(name="x" * 256), "name"),
    ("add_workflow", workflow(name="two\nlines"), "name"),
    ("add_workflow", workflow(name="bell\x07"), "U+0007"),
    ("add_workflow", workflow(name="nul\x00"), "U+0000"),
    ("add_workflow", workflow(description="nul\x00"), "U+0000"),
    ("add_workflow", workflow(description="x" * 4_001), "description"),
    ("add_workflow", workflow(complexity="XXL"), "complexity"),
    ("add_workflow", workflow(visibility="SECRET"), "visibility"),
    ("add_workflow", workflow(tags=[f"tag {n}" for n in range(10_000)]), "tags"),
    ("add_workflow", workflow(tags=["x" * 65]), "tags"),
    ("add_workflow", workflow(tags=["a\x1b[31m"]), "U+001B"),
    ("add_workflow", workflow(tags="review"), "tags"),
    ("add_workflow", workflow(stage(prompt="typo")), "stages.0.prompt"),
    ("add_workflow", workflow(desription="typo"), "desription"),
    ("add_workflow", workflow(folder="F", folder_id="G"), "give folder_id or folder, not both"),
    ("add_workflow", workflow(folder_id="nowhere"), "Folder not found"),
    ("add_workflow", workflow(folder="x" * 101), "folder"),
    ("add_workflow", workflow(*[stage()] * 101), "stages"),
    ("add_workflow", workflow(stage(*["P"] * 201)), "stages.0.prompts"),
    ("add_workflow", workflow(stage(*["P"] * 101, skills=["s"] * 100)), "stages[0].items: has 201"),
    ("add_workflow", workflow(*[stage(*["P"] * 200)] * 11), "2200 steps"),
    ("add_workflow", workflow(stage(item_order=["a"] * 801)), "stages.0.item_order"),
    ("add_workflow", workflow(stage(color="#" + "f" * 64)), "stages.0.color"),
    ("add_workflow", workflow({"name": "S", "prompts": [{}]}), "name and content"),
    ("add_workflow", workflow({"name": "S", "prompts": [{"name": "P"}]}), "name and content"),
    (
        "add_workflow",
        workflow({"name": "S", "prompts": [{"name": "P", "content": MEGABYTE}]}),
        "stages.0.prompts.0.content",
    ),
    (
        "add_workflow",
        workflow({"name": "S", "prompts": [{"name": "P", "content": "a\x00b"}]}),
        "U+0000",
    ),
    (
        "add_workflow",
        workflow({"name": "S", "prompts": [{"prompt_id": "nowhere"}]}),
        "Mini-prompt not found",
    ),
    ("add_workflow", workflow(stage("P", skills=["nowhere"])), "Skill not found"),
    ("add_workflow", workflow(stage("P", skills=[{"id": "a"}])), "stages.0.skills.0"),
    ("add_workflow", workflow(stage(**nested(40))), "stages[0].extra"),
    ("add_workflow", workflow(**nested(40)), "extra"),
    ("add_skill", {"name": "A"}, "content"),
    ("add_skill", card(content=""), "content"),
    ("add_skill", card(content="a\x00b"), "U+0000"),
    ("add_skill", card(content="x" * 100_001), "content"),
    ("add_skill", card({"name": "a.md"}), "a.md: give its text, or its bytes as base64"),
    ("add_skill", card({"name": "a", "text": "x", "base64": "eA=="}), "not both"),
    ("add_skill", card({"name": "a", "base64": "no base64!"}), "no Base64"),
    ("add_skill", card({"name": "a", "base64": "eA="}), "no Base64"),
    ("add_skill", card({"name": "a/b", "text": "x"}), "attachments.0.name"),
    ("add_skill", card({"name": "..", "text": "x"}), "attachments[0].name"),
    ("add_skill", card({"name": "a", "text": "x", "mime_type": "text"}), "mime_type"),
    ("add_skill", card(*[{"name": f"{n}", "text": "x"} for n in range(21)]), "attachments"),
    (
        "add_skill",
        card({"name": "a", "text": "x"}, {"name": "a", "text": "y"}),
        "attachments[1].name: a is there twice",
    ),
    ("add_skill", card({"name": "a", "text": "x" * 1_048_577}), "attachments.0.text"),
    ("add_skill", card({"name": "a", "text": "é" * 600_000}), "1,200,000 bytes"),
    (
        "add_skill",
        card({"name": "a", "base64": base64.b64encode(b"x" * 1_048_577).decode()}),
        "1,048,577 bytes",
    ),
    ("add_skill", card({"name": "a", "base64": "A" * 2_000_000}), "attachments.0.base64"),
    ("edit_workflow", {"workflow_id": "nowhere", "version": 1, "name": "B"}, "Workflow not found"),
    ("edit_workflow", {"workflow_id": "there", "name": "B"}, "version"),
    ("edit_workflow", {"workflow_id": "there", "version": 0}, "version"),
    ("edit_workflow", {"workflow_id": "there", "version": 99, "name": "B"}, "no version 99"),
    ("edit_workflow", {"workflow_id": "there", "version": 2**63, "name": "B"}, ""),
    ("edit_workflow", {"workflow_id": "a\x00b", "version": 1}, "U+0000"),
    ("edit_workflow", {"workflow_id": "' OR 1=1 --", "version": 1}, "Workflow not found"),
    ("edit_skill", {"skill_id": "nowhere", "version": 1, "name": "B"}, "Skill not found"),
    ("edit_skill", {"skill_id": "card", "version": 1, "attachments": [{"name": "b"}]}, "no file b"),
    ("publish", {"type": "FOLDER", "id": "there", "version": 1}, "type"),
    ("publish", {"type": "SKILL", "id": "nowhere", "version": 1}, "Skill not found"),
    ("publish", {"type": "WORKFLOW", "id": "there", "version": 9}, "has no version"),
    ("create_folder", {"name": ""}, "name"),
    ("create_folder", {"name": "x" * 101}, "name"),
    ("create_folder", {"name": "F", "key": "outer"}, "outer"),
    ("create_folder", {"name": "F", "parent": "nowhere"}, "Folder not found"),
    ("create_folder", {"name": "F", "position": -1}, "position"),
    ("edit_folder", {"folder_key": "outer", "version": 1, "parent": "inner"}, "inside itself"),
    ("edit_folder", {"folder_key": "outer", "version": 1, "parent": "outer"}, "inside itself"),
    ("get_next_step", {"workflow_id": "there", "step_index": 10**30}, ""),
    ("get_next_step", {"workflow_id": "there", "step_index": 1}, "no step 1"),
    ("get_selected_skill", {"skill_id": "\x00"}, "U+0000"),
    ("add_to_library", {"id": "nowhere"}, "not found"),
    ("finish_run", {"run_id": "nowhere"}, "Run not found"),
]


async def furnish(portal: TestPortal) -> None:
    """Something that is there already."""
    await done(portal, "alice", "add_workflow", name="There", stages=[stage("One")])
    await done(portal, "alice", "add_skill", **card({"name": "a", "text": "x"}, name="Card"))
    await done(portal, "alice", "create_folder", name="Outer")
    await done(portal, "alice", "create_folder", name="Inner", parent="outer")


async def test_each_is_refused_by_name_and_writes_nothing(portal: TestPortal) -> None:
    await furnish(portal)
    before = await rows(portal)
    for tool, arguments, named in REFUSED:
        shown = f"{tool} {str(arguments)[:200]}"
        text = await refused(portal, "alice", tool, **arguments)
        assert named in text, f"{shown}: {text[:500]}"
        assert len(text) < 2_000, f"{shown}: a megabyte is not sent back"
        assert "Something went wrong" not in text, shown
        assert await rows(portal) == before, shown


async def test_half_of_a_workflow_is_never_written(portal: TestPortal) -> None:
    """The last item of the last stage is wrong; the folder would be new."""
    await furnish(portal)
    before = await rows(portal)
    stages = [stage("A", "B"), stage("C", skills=["card", "nowhere"])]
    given = {"name": "New", "stages": stages, "folder": "New folder"}
    assert "Skill not found" in await refused(portal, "alice", "add_workflow", **given)
    edit = {"workflow_id": "there", "version": 1, "name": "Other", "stages": stages}
    assert "Skill not found" in await refused(portal, "alice", "edit_workflow", **edit)
    assert await rows(portal) == before


async def test_html_is_text_and_is_given_back_as_it_is(portal: TestPortal) -> None:
    html = "<script>alert(1)</script> & <b>bold</b> {{ 7 * 7 }} %s \u202e \u200b"
    prompts = [{"name": html, "content": html, "description": html}]
    given = {"name": html, "description": html, "tags": ["<i>"], "visibility": "PUBLIC"}
    made = await done(
        portal, "alice", "add_workflow", **given, stages=[{"name": html, "prompts": prompts}]
    )
    found = await done(portal, "open", "get_workflow", workflow_id=made["id"], include_content=True)
    assert (found["name"], found["description"], found["tags"]) == (html, html, ["<i>"])
    (item,) = found["stages"][0]["items"]
    assert (item["name"], item["content"]) == (html, html)
    assert html in await portal.read(f"playbook://workflows/{made['id']}", tier="open")


async def test_line_breaks_and_tabs_are_kept_in_texts(portal: TestPortal) -> None:
    made = await done(portal, "alice", "add_skill", name="A", content="a\tb\r\nc\n\nd")
    found = await done(portal, "alice", "get_selected_skill", skill_id=made["id"])
    assert found["content"] == "a\tb\nc\n\nd"


async def test_as_much_as_is_allowed_is_taken(portal: TestPortal) -> None:
    prompts = [{"name": "P" * limits.MAX_NAME_CHARS, "content": "x" * limits.MAX_CONTENT_CHARS}]
    given = {
        "name": "N" * limits.MAX_NAME_CHARS,
        "description": "d" * limits.MAX_DESCRIPTION_CHARS,
        "tags": [f"{n:0{limits.MAX_TAG_CHARS}}" for n in range(limits.MAX_TAGS)],
        "stages": [{"name": "S", "prompts": prompts}],
    }
    made = await done(portal, "alice", "add_workflow", **given)
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert len(found["tags"]) == limits.MAX_TAGS
    step = await done(portal, "alice", "get_next_step", workflow_id=made["id"], step_index=0)
    assert len(step["content"]) == limits.MAX_CONTENT_CHARS
    raw = base64.b64encode(b"x" * limits.MAX_ATTACHMENT_BYTES).decode()
    files = [{"name": "a.bin", "base64": raw}, {"name": "b.bin", "base64": raw}]
    made = await done(portal, "alice", "add_skill", **card(*files))
    got = await done(portal, "alice", "get_attachment", skill_id=made["id"], name="b.bin")
    assert got["size"] == limits.MAX_ATTACHMENT_BYTES


async def test_duplicate_positions_come_by_name(portal: TestPortal) -> None:
    outer = await done(portal, "alice", "create_folder", name="Outer")
    for name in ("Two", "One", "Three"):
        await done(portal, "alice", "create_folder", name=name, parent="outer", position=7)
    found = await done(portal, "alice", "get_by_folder", folder_key=outer["id"])
    assert [each["name"] for each in found["subfolders"]] == ["One", "Three", "Two"]


async def test_an_order_that_names_what_is_not_there_leaves_it_out(portal: TestPortal) -> None:
    given = stage("One", "Two", item_order=["gone", "Two", "gone", "Two", "memory-board-x"])
    made = await done(portal, "alice", "add_workflow", name="A", stages=[given])
    assert "gone" in made["warnings"][0]
    plan = (await done(portal, "alice", "select_workflow", workflow_id=made["id"]))["executionPlan"]
    told = [each["name"] for each in plan["items"] if each["type"] == "mini-prompt"]
    assert told == ["Two", "One"]
    assert plan["items"][1]["autoPromptType"] == "memory-board"


async def test_another_owner_s_things_refuse_by_the_same_words(portal: TestPortal) -> None:
    await furnish(portal)
    listed = (await done(portal, "alice", "get_available_workflows"))["workflows"]
    theirs = {"version": 1, "name": "B"}
    text = await refused(portal, "bob", "edit_workflow", workflow_id=listed[0]["id"], **theirs)
    assert text == "Access denied: workflow is private"
    text = await refused(portal, "bob", "edit_workflow", workflow_id="there", **theirs)
    assert text == "Workflow not found"
