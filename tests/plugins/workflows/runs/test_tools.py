"""The tools for runs, through a whole portal."""

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


async def shared(portal: TestPortal, *prompts: str, **more: Any) -> dict[str, Any]:
    """A published workflow of Ben's."""
    given = {"name": "Review", "stages": [stage(*prompts)], "visibility": "PUBLIC", **more}
    return await done(portal, "ben", "add_workflow", **given)


async def begun(portal: TestPortal, workflow: dict[str, Any], who: str = "ana") -> str:
    selected = await done(
        portal, who, "select_workflow", workflow_id=workflow["id"], start_run=True
    )
    run_id: str = selected["run"]["runId"]
    return run_id


async def listed(portal: TestPortal, who: str = "ana", **given: Any) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = (await done(portal, who, "list_runs", **given))["runs"]
    return runs


async def test_a_run_is_listed_with_how_far_it_is_until_it_is_finished(
    portal: TestPortal,
) -> None:
    workflow = await shared(portal, "One", "Two")
    run_id = await begun(portal, workflow)
    (run,) = await listed(portal)
    assert (run["runId"], run["workflowId"], run["workflowName"], run["version"]) == (
        run_id,
        workflow["id"],
        "Review",
        1,
    )
    assert (run["step"], run["totalSteps"], run["nextStep"]) == (None, 2, 0)
    await done(portal, "ana", "get_next_step", run_id=run_id)
    (run,) = await listed(portal)
    assert (run["step"], run["nextStep"], run["finishedAt"], run["outcome"]) == (0, 1, None, None)
    await done(portal, "ana", "get_next_step", run_id=run_id)
    (run,) = await listed(portal)
    assert (run["step"], run["nextStep"]) == (1, None)
    over = await refused(portal, "ana", "get_next_step", run_id=run_id)
    assert "2 steps" in over
    assert "finish_run" in over
    finished = await done(portal, "ana", "finish_run", run_id=run_id, note="All well.")
    assert (finished["outcome"], finished["note"], finished["nextStep"]) == (
        "done",
        "All well.",
        None,
    )
    assert finished["finishedAt"] is not None
    assert await listed(portal) == []
    assert await listed(portal, state="finished") == await listed(portal, state="all") == [finished]
    assert await done(portal, "ana", "finish_run", run_id=run_id) == finished
    said = await refused(portal, "ana", "finish_run", run_id=run_id, outcome="abandoned")
    assert f"finished at {finished['finishedAt'][:16]}" in said


async def test_runs_are_listed_by_workflow_the_last_moved_first(portal: TestPortal) -> None:
    review = await shared(portal, "One", "Two")
    other = await shared(portal, "One", name="Other")
    first, second = await begun(portal, review), await begun(portal, review)
    third = await begun(portal, other)
    await done(portal, "ana", "get_next_step", run_id=first)
    assert [each["runId"] for each in await listed(portal)] == [first, third, second]
    only = await listed(portal, workflow_id=review["id"])
    assert [each["runId"] for each in only] == [first, second]
    page = await done(portal, "ana", "list_runs", limit=0)
    assert ([each["runId"] for each in page["runs"]], page["hasMore"]) == ([first], True)
    assert await listed(portal, "ben") == []
    assert await listed(portal, "ben", workflow_id="review") == []
    unknown = await refused(portal, "ana", "list_runs", workflow_id="nothing")
    assert unknown == "Workflow not found"


async def test_a_run_follows_the_version_that_it_began_with(portal: TestPortal) -> None:
    workflow = await shared(portal, "One", "Two")
    run_id = await begun(portal, workflow)
    edit = {"workflow_id": workflow["id"], "version": 1, "name": "Renamed"}
    await done(portal, "ben", "edit_workflow", **edit)
    (run,) = await listed(portal)
    assert (run["runId"], run["version"], run["totalSteps"]) == (run_id, 1, 2)


@pytest.mark.parametrize("change", [{"visibility": "PRIVATE"}, {"is_active": False}])
async def test_a_run_of_what_is_gone_is_still_ones_own_and_shows_nothing_of_it(
    portal: TestPortal, change: dict[str, Any]
) -> None:
    workflow = await shared(portal, "One", "Two", name="Hush")
    run_id = await begun(portal, workflow)
    await done(portal, "ana", "get_next_step", run_id=run_id)
    edit = {"workflow_id": workflow["id"], "version": 1, **change}
    await done(portal, "ben", "edit_workflow", **edit)
    for given in ({}, {"workflow_id": workflow["id"]}):
        (run,) = await listed(portal, **given)
        assert (run["runId"], run["workflowId"]) == (run_id, workflow["id"])
        assert run["workflowName"] is run["totalSteps"] is run["nextStep"] is run["step"] is None
    await refused(portal, "ana", "get_next_step", run_id=run_id)
    finished = await done(portal, "ana", "finish_run", run_id=run_id, outcome="abandoned")
    assert (finished["outcome"], finished["workflowName"]) == ("abandoned", None)


async def test_nobody_else_sees_or_finishes_a_run(portal: TestPortal) -> None:
    run_id = await begun(portal, await shared(portal, "One"))
    assert await refused(portal, "ben", "finish_run", run_id=run_id) == "Run not found"
    assert await listed(portal, "ben", state="all") == []
    assert len(await listed(portal)) == 1


async def test_runs_make_no_sense_without_a_sign_in_whatever_tiers_yaml_says() -> None:
    async with opened("ana", tiers={"items": {"workflows": "open"}}) as portal:
        for tool, given in [("list_runs", {}), ("finish_run", {"run_id": "x"})]:
            assert tool not in await portal.tools(ANYONE)
            assert "Requires public" in await refused(portal, ANYONE, tool, **given)
        assert await listed(portal) == []
