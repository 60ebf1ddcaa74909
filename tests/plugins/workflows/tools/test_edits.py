"""Writing workflows and skill cards through a whole portal."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import RequestRefused, TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob") as portal:
        yield portal


async def add(portal: TestPortal, who: str = "alice", **more: Any) -> dict[str, Any]:
    given = {"name": "Code review", "stages": [stage("Read", "Judge")], **more}
    return await done(portal, who, "add_workflow", **given)


async def card(portal: TestPortal, who: str = "alice", **more: Any) -> dict[str, Any]:
    return await done(portal, who, "add_skill", **{"name": "Reviewing", "content": "Look.", **more})


async def test_a_new_workflow_is_private_and_says_what_was_written(portal: TestPortal) -> None:
    made = await add(portal)
    assert (made["done"], made["type"], made["version"]) == ("added", "WORKFLOW", 1)
    assert (made["key"], made["visibility"], made["folder"]) == ("code-review", "PRIVATE", None)
    (written,) = made["stages"]
    assert [each["name"] for each in written["items"]] == ["Read", "Judge"]
    assert made["warnings"] == []
    whole = await done(
        portal, "alice", "get_workflow", workflow_id=made["id"], include_content=True
    )
    assert [each["content"] for each in whole["stages"][0]["items"]] == ["Do Read.", "Do Judge."]
    assert await refused(portal, "bob", "get_workflow", workflow_id=made["id"]) == (
        "Access denied: workflow is private"
    )
    assert await refused(portal, "bob", "get_workflow", workflow_id="code-review") == (
        "Workflow not found"
    )


async def test_everything_that_is_given_is_written(portal: TestPortal) -> None:
    skill = await card(portal)
    made = await add(
        portal,
        description="For pull requests.",
        complexity="m",
        tags=["Review", "review", " code "],
        include_multi_agent_chat=True,
        stages=[
            stage(
                "Read",
                description="First.",
                color="#3b82f6",
                with_review=True,
                include_multi_agent_chat=False,
                skills=[skill["key"]],
                item_order=[skill["id"], "memory-board", "Read"],
            )
        ],
    )
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert found["description"] == "For pull requests."
    assert (found["complexity"], found["tags"]) == ("M", ["code", "review"])
    assert found["includeMultiAgentChat"] is True
    (written,) = found["stages"]
    assert (written["description"], written["color"]) == ("First.", "#3b82f6")
    assert (written["withReview"], written["includeMultiAgentChat"]) == (True, False)
    prompt, used = written["items"]
    assert (prompt["type"], used["type"]) == ("MINI_PROMPT", "SKILL")
    assert used["id"] == skill["id"]
    assert written["itemOrder"] == [skill["id"], "memory-board", prompt["id"]]


async def test_names_are_taken_in_camel_case_too(portal: TestPortal) -> None:
    given = {"name": "A", "stages": [{"name": "S", "withReview": True, "itemOrder": []}]}
    made = await done(portal, "alice", "add_workflow", **given, includeMultiAgentChat=True)
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert (found["includeMultiAgentChat"], found["stages"][0]["withReview"]) == (True, True)


async def test_an_order_that_names_what_is_not_there_is_taken_with_a_warning(
    portal: TestPortal,
) -> None:
    given = stage("Read", item_order=["Read", "gone", "memory-board-7", "multi-agent-chat"])
    made = await add(portal, stages=[stage("A"), given])
    assert made["warnings"] == [
        "stages.1.item_order names what the stage does not hold, which is left out of the plan: "
        "gone."
    ]


@pytest.mark.parametrize("tool", ["add_workflow", "edit_workflow", "add_skill", "edit_skill"])
async def test_writing_needs_a_sign_in_even_where_tiers_open_it(tool: str) -> None:
    tiers = {"items": {"workflows": "open", f"workflows/{tool}": "open"}}
    async with opened(tiers=tiers) as portal:
        given: dict[str, dict[str, Any]] = {
            "add_workflow": {"name": "A", "stages": []},
            "edit_workflow": {"workflow_id": "a", "version": 1},
            "add_skill": {"name": "A", "content": "B"},
            "edit_skill": {"skill_id": "a", "version": 1},
        }
        assert await refused(portal, ANYONE, tool, **given[tool]) == "Authentication required"


async def test_as_the_tiers_are_suggested_someone_anonymous_may_not_write(
    portal: TestPortal,
) -> None:
    assert "add_workflow" not in await portal.tools("open")
    text = await refused(portal, ANYONE, "add_workflow", name="A", stages=[])
    assert text.startswith("Requires public access. Current: open.")


# Editing.


async def test_an_edit_changes_what_is_given_and_leaves_the_rest(portal: TestPortal) -> None:
    made = await add(portal, description="Old.", tags=["a"], complexity="S")
    edited = await done(
        portal, "alice", "edit_workflow", workflow_id=made["id"], version=1, name="Better"
    )
    assert (edited["done"], edited["version"], edited["name"]) == ("updated", 2, "Better")
    assert edited["stages"] == made["stages"]
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert (found["description"], found["tags"], found["complexity"]) == ("Old.", ["a"], "S")
    assert found["key"] == "code-review", "a key stays, so that links hold"


async def test_an_empty_text_or_list_takes_something_away(portal: TestPortal) -> None:
    made = await add(portal, description="Old.", tags=["a"])
    given = {"workflow_id": made["id"], "version": 1, "description": "", "tags": []}
    (there,) = made["stages"]
    edited = await done(portal, "alice", "edit_workflow", **given, remove_stages=[there["id"]])
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert (found["description"], found["tags"], edited["stages"]) == (None, [], [])


async def test_an_edit_that_changes_nothing_keeps_the_version(portal: TestPortal) -> None:
    made = await add(portal)
    given = {"workflow_id": made["key"], "version": 1, "name": "Code review"}
    same = await done(portal, "alice", "edit_workflow", **given)
    assert (same["done"], same["version"]) == ("unchanged", 1)


async def test_stages_are_replaced_and_prompts_stay_by_their_ids(portal: TestPortal) -> None:
    made = await add(portal)
    (before,) = made["stages"]
    read, judge = before["items"]
    prompts = [
        {"prompt_id": judge["id"]},
        {"prompt_id": read["id"], "name": "Read all", "content": "Every line."},
        {"name": "Tell", "content": "Say it."},
    ]
    given = [{"name": "Later", "stage_id": before["id"], "prompts": prompts}]
    edited = await done(
        portal, "alice", "edit_workflow", workflow_id=made["id"], version=1, stages=given
    )
    (after,) = edited["stages"]
    assert (after["id"], after["name"]) == (before["id"], "Later")
    assert [each["id"] for each in after["items"][:2]] == [judge["id"], read["id"]]
    step = await done(portal, "alice", "get_next_step", workflow_id=made["id"], step_index=1)
    assert (step["name"], step["content"]) == ("Read all", "Every line.")


async def test_a_stale_edit_is_refused_with_what_changed(portal: TestPortal) -> None:
    made = await add(portal)
    edit = {"workflow_id": made["id"], "version": 1}
    await done(portal, "alice", "edit_workflow", **edit, description="By one client.")
    result = await portal.call("edit_workflow", {**edit, "name": "By another"}, tier="alice")
    assert result.is_error
    assert "has changed since version 1: description." in result.text
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    assert (found["name"], found["version"]) == ("Code review", 2)


async def test_a_deleted_workflow_is_gone(portal: TestPortal) -> None:
    made = await add(portal)
    given = {"workflow_id": made["id"], "is_active": False}
    text = await refused(portal, "alice", "edit_workflow", **given, version=7)
    assert "Workflow has no version 7: it is at 1." in text, "a deletion names the version as well"
    gone = await done(portal, "alice", "edit_workflow", **given, version=1)
    assert gone["done"] == "deleted"
    for tool, more in (("get_workflow", {}), ("edit_workflow", {"version": 1})):
        text = await refused(portal, "alice", tool, workflow_id=made["id"], **more)
        assert text == "Workflow not found"
    again = await add(portal)
    assert (again["key"], again["id"] == made["id"]) == ("code-review", False)


async def test_only_its_owner_edits_what_everyone_sees(portal: TestPortal) -> None:
    made = await add(portal, visibility="PUBLIC")
    skill = await card(portal, visibility="PUBLIC")
    edit = {"workflow_id": made["id"], "version": 1, "name": "Mine"}
    assert await refused(portal, "bob", "edit_workflow", **edit) == (
        "Access denied: workflow is not yours to edit"
    )
    edit = {"skill_id": skill["id"], "version": 1, "is_active": False}
    assert await refused(portal, "bob", "edit_skill", **edit) == (
        "Access denied: skill is not yours to edit"
    )


# Skill cards and files.


async def test_a_card_is_written_with_its_files(portal: TestPortal) -> None:
    raw = bytes(range(256))
    files = [
        {"name": "checklist.md", "text": "- [ ] tests"},
        {"name": "logo.bin", "base64": base64.encodebytes(raw).decode()},
        {"name": "data.csv", "text": "a,b", "mime_type": "text/plain"},
    ]
    made = await card(portal, description="How.", tags=["x"], attachments=files)
    assert (made["type"], made["key"], made["stages"]) == ("SKILL", "reviewing", [])
    found = await done(portal, "alice", "get_selected_skill", skill_id=made["id"])
    assert [(each["name"], each["mimeType"], each["size"]) for each in found["attachments"]] == [
        ("checklist.md", "text/markdown", 11),
        ("logo.bin", "application/octet-stream", 256),
        ("data.csv", "text/plain", 3),
    ]
    got = await done(portal, "alice", "get_attachment", skill_id=made["id"], name="logo.bin")
    assert base64.b64decode(got["content"]) == raw


async def test_a_file_that_is_named_alone_stays(portal: TestPortal) -> None:
    files = [{"name": "a.md", "text": "A"}, {"name": "b.md", "text": "B"}]
    made = await card(portal, attachments=files)
    kept = [{"name": "b.md"}, {"name": "c.md", "text": "C"}]
    edit = {"skill_id": made["id"], "version": 1}
    edited = await done(portal, "alice", "edit_skill", **edit, attachments=kept)
    assert edited["version"] == 2
    found = await done(portal, "alice", "get_selected_skill", skill_id=made["id"])
    assert [each["name"] for each in found["attachments"]] == ["b.md", "c.md"]
    got = await done(portal, "alice", "get_attachment", skill_id=made["id"], name="b.md")
    assert base64.b64decode(got["content"]) == b"B"
    edit = {"skill_id": made["id"], "version": 2, "attachments": [{"name": "nowhere.md"}]}
    text = await refused(portal, "alice", "edit_skill", **edit)
    assert text == "The card has no file nowhere.md. Give its text, or its bytes as base64."


async def test_a_changed_card_is_a_change_of_the_workflows_that_use_it(portal: TestPortal) -> None:
    skill = await card(portal)
    made = await add(portal, stages=[stage(skills=[skill["id"]])])
    edit = {"skill_id": skill["id"], "version": 1, "content": "Look twice."}
    assert (await done(portal, "alice", "edit_skill", **edit))["version"] == 2
    stale = {"workflow_id": made["id"], "version": made["version"], "name": "Other"}
    assert "Reviewing" in await refused(portal, "alice", "edit_workflow", **stale)
    step = await done(portal, "alice", "get_next_step", workflow_id=made["id"], step_index=0)
    assert step["content"] == "Look twice."


async def test_a_deleted_card_leaves_the_workflows_that_used_it(portal: TestPortal) -> None:
    skill = await card(portal)
    made = await add(portal, stages=[stage("Read", skills=[skill["id"]])])
    edit = {"skill_id": skill["id"], "version": 1, "is_active": False}
    assert (await done(portal, "alice", "edit_skill", **edit))["done"] == "deleted"
    plan = (await done(portal, "alice", "select_workflow", workflow_id=made["id"]))["executionPlan"]
    assert [each["name"] for each in plan["items"]] == ["Read"]


# Folders.


async def test_an_item_goes_into_a_folder_that_is_made_once(portal: TestPortal) -> None:
    first = await add(portal, folder="Reviews")
    second = await card(portal, folder="Reviews")
    assert first["folder"]["created"] is True
    assert second["folder"] == {**first["folder"], "created": False}
    third = await add(portal, folder_id=first["folder"]["key"])
    assert third["folder"]["id"] == first["folder"]["id"]
    found = await done(portal, "alice", "get_by_folder", folder_key=first["folder"]["key"])
    assert {first["id"], second["id"], third["id"]} <= set(ids_in(found))


def ids_in(value: Any) -> list[str]:
    """Every id in an answer."""
    if isinstance(value, dict):
        own = [value["id"]] if isinstance(value.get("id"), str) else []
        return own + [found for each in value.values() for found in ids_in(each)]
    if isinstance(value, list):
        return [found for each in value for found in ids_in(each)]
    return []


async def test_without_the_folder_nothing_is_written(portal: TestPortal) -> None:
    given = {"name": "A", "stages": [stage("B")], "folder_id": "nowhere"}
    assert await refused(portal, "alice", "add_workflow", **given) == "Folder not found"
    assert await refused(portal, "alice", "get_workflow", workflow_id="a") == "Workflow not found"


# Publishing.


async def test_a_published_workflow_has_its_author_and_its_prompts(portal: TestPortal) -> None:
    made = await add(portal)
    given = {"type": "WORKFLOW", "id": made["id"]}
    shown = await done(portal, "alice", "publish", **given, version=1)
    assert (shown["done"], shown["visibility"], shown["version"]) == ("updated", "PUBLIC", 2)
    found = await done(portal, ANYONE, "get_workflow", workflow_id=made["id"])
    assert (found["author"], found["mine"]) == ("alice", False)
    assert [each["name"] for each in found["stages"][0]["items"]] == ["Read", "Judge"]
    back = await done(portal, "alice", "publish", **given, version=2, visibility="PRIVATE")
    assert back["visibility"] == "PRIVATE"
    for who in (ANYONE, "bob"):
        text = await refused(portal, who, "get_workflow", workflow_id=made["id"])
        assert text == "Access denied: workflow is private"


async def test_a_private_card_is_published_before_its_workflow(portal: TestPortal) -> None:
    skill = await card(portal)
    made = await add(portal, stages=[stage(skills=[skill["id"]])])
    publish = {"type": "workflow", "id": made["id"], "version": made["version"]}
    assert "Reviewing" in await refused(portal, "alice", "publish", **publish)
    await done(portal, "alice", "publish", type="SKILL", id=skill["id"], version=1)
    found = await done(portal, "alice", "get_workflow", workflow_id=made["id"])
    shown = await done(portal, "alice", "publish", **{**publish, "version": found["version"]})
    assert shown["visibility"] == "PUBLIC"


async def test_who_may_not_publish_may_do_so_by_no_tool() -> None:
    async with opened("carol", tiers=None) as portal:
        assert "publish" not in await portal.tools("carol")
        told = "Publishing needs a higher tier"
        new = {"name": "A", "stages": [stage("B")]}
        text = await refused(portal, "carol", "add_workflow", **new, visibility="PUBLIC")
        assert text.startswith(told)
        made = await done(portal, "carol", "add_workflow", **new)
        assert made["key"] == "a", "what was refused left nothing behind"
        edit = {"workflow_id": made["id"], "version": 1, "visibility": "PUBLIC"}
        assert (await refused(portal, "carol", "edit_workflow", **edit)).startswith(told)
        text = await refused(
            portal, "carol", "add_skill", name="A", content="B", visibility="PUBLIC"
        )
        assert text.startswith(told)
        text = await refused(portal, "carol", "publish", type="SKILL", id="a", version=1)
        assert text.startswith("Requires members access. Current: public.")


async def test_a_tool_that_is_hidden_still_says_who_may_publish() -> None:
    hidden = {"items": {"workflows/publish": {"tier": "members", "hidden": True}}}
    async with opened("carol", tiers=hidden) as portal:
        with pytest.raises(RequestRefused):
            await portal.call("publish", {}, tier="carol")
        new = {"name": "A", "stages": [], "visibility": "PUBLIC"}
        text = await refused(portal, "carol", "add_workflow", **new)
        assert text.startswith("Publishing needs a higher tier")


async def test_an_admin_may_let_everyone_publish() -> None:
    async with opened("carol", tiers={"items": {"workflows/publish": "public"}}) as portal:
        made = await add(portal, "carol", visibility="PUBLIC")
        assert made["visibility"] == "PUBLIC"
        assert (await done(portal, ANYONE, "get_workflow", workflow_id=made["id"]))["id"]


async def test_an_agent_can_write_a_workflow_from_the_schema_alone(portal: TestPortal) -> None:
    schema = (await portal.tools("alice"))["add_workflow"]["inputSchema"]
    named = schema["properties"] | schema["$defs"]["StageInput"]["properties"]
    named |= schema["$defs"]["PromptInput"]["properties"]
    assert [name for name, each in named.items() if not each.get("description")] == []
    assert schema["required"] == ["name", "stages"]
    assert schema["additionalProperties"] is False


async def test_bytes_stay_as_they_are_whatever_their_base64_looks_like(portal: TestPortal) -> None:
    # In Base64 it reads as an access key's id, which is taken out of every text.
    encoded = "AKIA" + "QZ3MN7PXWV2LJ5TR"
    files = [{"name": "a.bin", "base64": encoded}, {"name": "a.md", "text": f"Use {encoded}."}]
    made = await card(portal, attachments=files)
    held = {
        name: base64.b64decode(
            (await done(portal, "alice", "get_attachment", skill_id=made["id"], name=name))[
                "content"
            ]
        )
        for name in ("a.bin", "a.md")
    }
    assert held == {"a.bin": base64.b64decode(encoded), "a.md": b"Use [REDACTED]."}
