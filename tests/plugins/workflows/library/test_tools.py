"""The tools for the library, through a whole portal."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.testing import TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ana", "ben") as portal:
        yield portal


async def in_library(portal: TestPortal, who: str) -> list[str]:
    found = await done(portal, who, "get_available_workflows", scope="library")
    return [each["id"] for each in found["workflows"]]


async def test_a_kept_workflow_is_found_in_the_library_while_it_is_public(
    portal: TestPortal,
) -> None:
    shared = {"name": "Review", "stages": [stage("Read")], "visibility": "PUBLIC"}
    workflow = await done(portal, "ben", "add_workflow", **shared)
    assert await in_library(portal, "ana") == []
    kept = await done(portal, "ana", "add_to_library", id=workflow["id"])
    assert kept == {
        "type": "WORKFLOW",
        "id": workflow["id"],
        "inLibrary": True,
        "changed": True,
    }
    again = await done(portal, "ana", "add_to_library", id=workflow["id"], type="workflow")
    assert again["changed"] is False
    assert await in_library(portal, "ana") == [workflow["id"]]
    assert await in_library(portal, "ben") == []
    back = {"workflow_id": workflow["id"], "version": 1, "visibility": "PRIVATE"}
    await done(portal, "ben", "edit_workflow", **back)
    assert await in_library(portal, "ana") == []
    denied = await refused(portal, "ana", "select_workflow", workflow_id=workflow["id"])
    assert denied == "Access denied: workflow is private"
    removed = await done(portal, "ana", "remove_from_library", id=workflow["id"])
    assert (removed["inLibrary"], removed["changed"]) == (False, True)


async def test_what_is_private_or_no_item_of_a_library_is_refused(portal: TestPortal) -> None:
    workflow = await done(portal, "ben", "add_workflow", name="Mine", stages=[stage("Read")])
    prompt = workflow["stages"][0]["items"][0]["id"]
    for id, said in [
        (workflow["id"], "Access denied: workflow is private"),
        (workflow["key"], "Item not found"),
        (prompt, "Item not found"),
    ]:
        for tool in ("add_to_library", "remove_from_library"):
            assert await refused(portal, "ana", tool, id=id) == said


async def test_a_library_needs_a_sign_in_whatever_tiers_yaml_says() -> None:
    async with opened(tiers={"items": {"workflows": "open"}}) as portal:
        for tool in ("add_to_library", "remove_from_library"):
            assert tool not in await portal.tools(ANYONE)
            assert "Requires public" in await refused(portal, ANYONE, tool, id="x")
