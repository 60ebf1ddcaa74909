"""The tools for folders, through a whole portal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ana", "ben") as portal:
        yield portal


async def made(portal: TestPortal, name: str, who: str = "ana", **more: Any) -> dict[str, Any]:
    return await done(portal, who, "create_folder", name=name, **more)


async def contents(
    portal: TestPortal, who: str, folder_key: str | None = None, **more: Any
) -> dict[str, Any]:
    return await done(portal, who, "get_by_folder", folder_key=folder_key, **more)


async def names(portal: TestPortal, who: str, folder_key: str | None = None) -> list[str]:
    found = await contents(portal, who, folder_key, limit=100)
    return [each["name"] for each in [*found["subfolders"], *found["items"]]]


async def test_a_folder_is_made_filled_shown_and_deleted(portal: TestPortal) -> None:
    folder = await made(portal, "Code Review", description="For pull requests.")
    assert (folder["done"], folder["key"], folder["version"]) == ("added", "code-review", 1)
    workflow = await done(
        portal, "ana", "add_workflow", name="Review", stages=[stage("Read")], folder="Code Review"
    )
    card = await done(
        portal, "ana", "add_skill", name="Naming", content="Short.", folder_id=folder["id"]
    )
    (prompt,) = workflow["stages"][0]["items"]
    edited = await done(
        portal,
        "ana",
        "edit_folder",
        folder_key="code-review",
        version=1,
        add=[{"id": prompt["id"], "position": 0}, {"id": workflow["id"], "position": 5}],
    )
    assert (edited["done"], edited["changed"], edited["version"]) == ("updated", ["items"], 2)
    await made(portal, "Older", parent="code-review")
    found = await contents(portal, "ana", "code-review")
    assert found["folder"]["description"] == "For pull requests."
    assert [each["name"] for each in found["subfolders"]] == ["Older"]
    assert [(each["type"], each["id"], each["position"]) for each in found["items"]] == [
        ("MINI_PROMPT", prompt["id"], 0),
        ("SKILL", card["id"], 1),
        ("WORKFLOW", workflow["id"], 5),
    ]
    assert found["pagination"] == {"page": 1, "limit": 20, "total": 4, "hasMore": False}
    gone = await done(
        portal, "ana", "edit_folder", folder_key="code-review", version=2, is_active=False
    )
    assert (gone["done"], gone["subfoldersDeleted"]) == ("deleted", 1)
    assert await names(portal, "ana") == []
    assert (await done(portal, "ana", "get_workflow", workflow_id="review"))["name"] == "Review"


async def test_others_see_of_a_published_folder_what_they_may_see_anyway(
    portal: TestPortal,
) -> None:
    outer = await made(portal, "Outer")
    shown = await made(portal, "Shown", parent=outer["id"], visibility="public")
    await made(portal, "Secret within", parent=shown["id"])
    await made(portal, "Open within", parent=shown["id"], visibility="PUBLIC")
    for name, visibility in [("Mine", "PRIVATE"), ("Ours", "PUBLIC")]:
        await done(
            portal,
            "ana",
            "add_skill",
            name=name,
            content="Text.",
            visibility=visibility,
            folder_id=shown["id"],
        )
    assert await names(portal, "ana", "shown") == ["Secret within", "Open within", "Mine", "Ours"]
    for who in ("ben", ANYONE):
        found = await contents(portal, who, shown["id"])
        assert (found["folder"]["name"], found["folder"]["mine"]) == ("Shown", False)
        assert found["parent"] is None
        assert await names(portal, who, shown["id"]) == ["Open within", "Ours"]
        assert found["pagination"]["total"] == 2
        inside = await contents(portal, who, found["subfolders"][0]["id"])
        assert inside["parent"]["name"] == "Shown"
        assert await refused(portal, who, "get_by_folder", folder_key=outer["id"]) == (
            "Access denied: folder is private"
        )
        for key in ("outer", "shown"):
            assert await refused(portal, who, "get_by_folder", folder_key=key) == (
                "Folder not found"
            )
        assert await names(portal, who) == []


async def test_pages_are_clamped_and_say_whether_there_is_more(portal: TestPortal) -> None:
    for number in range(3):
        await made(portal, f"Folder {number}")
    pages = [
        await contents(portal, "ana", page=page, limit=limit)
        for page, limit in [(0, 2), (2, 2), (10**30, 0), (1, 10**9)]
    ]
    assert [len(each["subfolders"]) for each in pages] == [2, 1, 0, 3]
    assert [each["pagination"] for each in pages] == [
        {"page": 1, "limit": 2, "total": 3, "hasMore": True},
        {"page": 2, "limit": 2, "total": 3, "hasMore": False},
        {"page": 1_000_000, "limit": 1, "total": 3, "hasMore": False},
        {"page": 1, "limit": 100, "total": 3, "hasMore": False},
    ]
    assert pages[0]["folder"] is None


async def test_what_cannot_be_is_refused_in_words_that_say_what_to_do(portal: TestPortal) -> None:
    outer = await made(portal, "Outer")
    inner = await made(portal, "Inner", parent="outer")
    edit = {"folder_key": outer["id"], "version": 1}
    for given, said in [
        ({"parent": inner["id"]}, "Outer > Inner > Outer"),
        ({"parent": "a\x00b"}, "control character"),
        ({"add": [{"id": "nothing"}]}, "Item not found"),
        ({"position": -1}, "position"),
        ({"add": [{"id": "x"}] * 201}, "add"),
        ({"version": 10**9, "name": "Other"}, "Folder has no version 1000000000: it is at "),
    ]:
        assert said in await refused(portal, "ana", "edit_folder", **{**edit, **given})
    assert "letters" in await refused(portal, "ana", "create_folder", name="x", key="a b")
    moved = await done(portal, "ana", "edit_folder", folder_key="inner", version=1, parent="")
    assert (moved["parentId"], moved["changed"]) == (None, ["parent", "position"])
    same = await done(portal, "ana", "edit_folder", folder_key="inner", version=2, name="Inner")
    assert (same["done"], same["version"], same["changed"]) == ("unchanged", 2, [])


async def test_writing_asks_for_a_sign_in_and_publishing_for_its_tier() -> None:
    tiers = {"items": {"workflows/create_folder": "open", "workflows/edit_folder": "open"}}
    async with opened("ana", tiers=tiers) as portal:
        asked: dict[str, dict[str, Any]] = {
            "create_folder": {"name": "x"},
            "edit_folder": {"folder_key": "x", "version": 1},
        }
        for tool, fields in asked.items():
            assert await refused(portal, ANYONE, tool, **fields) == "Authentication required"
        given = {"name": "Ours", "visibility": "PUBLIC"}
        assert "Publishing needs" in await refused(portal, "ana", "create_folder", **given)
        folder = await made(portal, "Mine")
        edit = {"folder_key": folder["id"], "version": 1, "visibility": "PUBLIC"}
        assert "Publishing needs" in await refused(portal, "ana", "edit_folder", **edit)
        assert await names(portal, "ana") == ["Mine"]


async def test_as_shipped_someone_unknown_reads_folders_and_writes_none() -> None:
    async with opened(tiers=None) as portal:
        assert "get_by_folder" in await portal.tools(ANYONE)
        for tool in ("create_folder", "edit_folder"):
            assert "Requires public" in await refused(portal, ANYONE, tool, name="x")
