"""A deleted workflow is behind no door, says so where somebody walks it, and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from gateway.testing import RequestRefused, TestPortal
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage
from tests.plugins.workflows.test_pages import ONE, Person

BASE = "http://localhost"
WORD = "Xylophone"


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ana", "ben") as portal:
        yield portal


def doors(id: str, key: str, folder: str, run: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool that may show a workflow."""
    for scope in ("all", "mine", "library"):
        yield "get_available_workflows", {"scope": scope}
        yield "get_available_workflows", {"scope": scope, "task": WORD}
        yield "get_available_workflows", {"scope": scope, "tags": [WORD]}
    for ref in (id, key):
        yield "get_workflow", {"workflow_id": ref, "include_content": True}
        yield "select_workflow", {"workflow_id": ref, "start_run": True}
        yield "get_next_step", {"workflow_id": ref, "step_index": 0}
        yield "get_versions", {"id": ref, "version": 1}
        yield "restore_version", {"id": ref, "version": 2, "restore": 1}
        yield "duplicate_workflow", {"workflow_id": ref}
        yield "add_to_library", {"id": ref}
        yield "publish", {"type": "WORKFLOW", "id": ref, "version": 2}
        yield "edit_workflow", {"workflow_id": ref, "version": 2, "name": "Back"}
    yield "get_by_folder", {"folder_key": folder}
    yield "list_runs", {"state": "all"}
    yield "get_run", {"run_id": run}
    yield "get_next_step", {"run_id": run}


async def asked(portal: TestPortal, who: str, id: str, key: str) -> list[str]:
    """What the lists of prompts and resources have, and what they answer."""
    told = [str(await portal.mcp(who).list(kind)) for kind in ("prompts", "resources")]
    for method, params in (
        ("resources/read", {"uri": f"playbook://workflows/{id}"}),
        ("prompts/get", {"name": f"workflow-{key}"}),
    ):
        try:
            told.append(str(await portal.mcp(who).request(method, params)))
        except RequestRefused as refusal:
            told.append(str(refusal))
    return told


async def test_a_deleted_workflow_is_behind_no_door_until_it_is_back(portal: TestPortal) -> None:
    made = await done(
        portal,
        "ana",
        "add_workflow",
        name=WORD,
        tags=[WORD],
        stages=[stage(f"{WORD} step")],
        visibility="PUBLIC",
        folder="Music",
    )
    id, key, folder = made["id"], made["key"], made["folder"]["id"]
    await done(portal, "ben", "add_to_library", id=id)
    runs = {}
    for who in ("ana", "ben"):
        begun = await done(portal, who, "select_workflow", workflow_id=id, start_run=True)
        runs[who] = begun["run"]["runId"]
    gone = await done(portal, "ana", "edit_workflow", workflow_id=id, version=1, is_active=False)
    assert gone["done"] == "deleted"
    (entry,) = (await done(portal, "ana", "list_bin"))["workflows"]
    assert entry["keptUntil"] == gone["restorableUntil"]
    assert (await done(portal, "ben", "list_bin"))["workflows"] == []
    for who in ("ana", "ben", ANYONE):
        for tool, arguments in doors(id, key, folder, runs.get(who, "x")):
            result = await portal.call(tool, arguments, tier=who)
            assert WORD not in str(result.structured), (who, tool, arguments)
            assert WORD not in result.text, (who, tool, arguments)
        for told in await asked(portal, who, id, key):
            assert WORD not in told
    for tool in ("restore_workflow", "erase_workflow"):
        assert await refused(portal, "ben", tool, id=id) == "Workflow in your bin not found"
    back = await done(portal, "ana", "restore_workflow", id=id)
    assert (back["done"], back["visibility"], back["key"]) == ("restored", "PRIVATE", key)
    inside = await done(portal, "ana", "get_by_folder", folder_key=folder)
    assert [each["id"] for each in inside["items"]] == [id]
    found = await done(portal, "ana", "get_available_workflows", task=WORD)
    assert [each["id"] for each in found["workflows"]] == [id]
    step = await done(portal, "ana", "get_next_step", run_id=runs["ana"])
    assert step["name"] == f"{WORD} step"


async def test_a_run_of_a_deleted_workflow_says_so_and_can_be_closed(portal: TestPortal) -> None:
    made = await done(
        portal, "ana", "add_workflow", name=WORD, stages=[stage("One")], visibility="PUBLIC"
    )
    runs = {}
    for who in ("ana", "ben"):
        begun = await done(portal, who, "select_workflow", workflow_id=made["id"], start_run=True)
        runs[who] = begun["run"]["runId"]
    await done(portal, "ana", "edit_workflow", workflow_id=made["id"], version=1, is_active=False)
    said = {"ana": "is in your bin", "ben": "was deleted by its owner"}
    for who, why in said.items():
        for tool in ("get_next_step", "get_run"):
            assert why in await refused(portal, who, tool, run_id=runs[who])
        (run,) = (await done(portal, who, "list_runs"))["runs"]
        assert why in run["whyHidden"]
        assert "finish_run" in run["whyHidden"]
    closed = await done(portal, "ben", "finish_run", run_id=runs["ben"], outcome="abandoned")
    assert closed["outcome"] == "abandoned"
    await done(portal, "ana", "erase_workflow", id=made["id"])
    (run,) = (await done(portal, "ana", "list_runs"))["runs"]
    assert "was deleted by its owner" in run["whyHidden"]


async def test_the_bin_is_a_page_with_restoring_in_one_click(portal: TestPortal) -> None:
    person = Person(portal.app, BASE)
    await person.sign_in()
    for name in (EVIL, "\u202eevil\u202c"):
        path = await person.written(name)
        gone = await person.sent(path, '<button class="danger">Delete it')
        assert "It is in your bin, until " in gone.text
        assert gone.url.path == "/workflows/bin"
        assert "<script>alert" not in gone.text
        back = await person.sent("/workflows/bin", "Restore it")
        assert "It is back, and yours alone" in back.text
        assert back.url.path == ONE
        await person.sent(path, '<button class="danger">Delete it')
        erased = await person.sent("/workflows/bin", '<button class="danger">Erase it')
        assert "It is erased: " in erased.text
        assert "Nothing is in it." in erased.text
        assert (await person.get(path)).status_code == 404
    await person.aclose()


async def test_nobody_has_a_bin_who_has_not_signed_in(portal: TestPortal) -> None:
    visitor = Browser(portal.app, BASE)
    assert (await visitor.get("/workflows/bin")).status_code in (303, 401, 403)
    await visitor.aclose()
