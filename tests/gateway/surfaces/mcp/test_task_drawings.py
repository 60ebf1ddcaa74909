"""A task's result is drawn as its tool's answer is, for a client that shows MCP Apps."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from mcp_types import ToolAnnotations

from gateway.contract import Host, Job, JobRun, Offer, Plugin, Tool, ToolTask, View, hookimpl
from gateway.surfaces.views.apps import APPS, DRAWING_META_KEY
from gateway.testing import open_test_portal
from gateway.testing.tasks import FOLLOWS_TASKS, followed
from tests.gateway.surfaces.mcp.test_tasks import client


def counting(folder: Path) -> Any:
    """A plugin that counts stars by a job, and has a view of how many there are."""
    (folder / "stars.html").write_text("<h2>Stars</h2><p>{{ result.stars }} stars</p>")

    async def count(run: JobRun, payload: Mapping[str, Any]) -> Any:
        return {"stars": 7, "name": "<b>"}

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        async def start(args: Any, caller: Any) -> str:
            return await host.jobs.enqueue("count", {})

        async def at_once(args: Any, caller: Any) -> Any:
            return {"stars": 7}

        tool = Tool(
            "count_stars",
            "Counts stars.",
            at_once,
            input_schema={"type": "object"},
            annotations=ToolAnnotations(read_only_hint=True),
            task=ToolTask("count", start),
        )
        view = View("stars", "Stars", "count_stars", folder / "stars.html")
        yield Offer(tools=[tool], jobs=[Job("count", count)], views=[view])

    module: Any = ModuleType("module_sky")
    module.porch_plugin = hookimpl(lambda: Plugin("sky", "The sky.", opened))
    return module


async def test_a_client_with_apps_has_the_drawing_and_others_the_same_result_without_it(
    tmp_path: Path,
) -> None:
    async with open_test_portal(counting(tmp_path)) as portal:
        plain = await followed(portal, "count_stars", {})
        assert "_meta" not in plain["result"] or DRAWING_META_KEY not in plain["result"]["_meta"]
        extensions = {**FOLLOWS_TASKS["extensions"], **APPS["extensions"]}
        asking = client(portal, extensions=extensions)
        task = await asking.call("count_stars", {})
        while task["resultType"] == "task" or task["status"] == "working":
            task = await asking.request("tasks/get", {"taskId": task["taskId"]})
        drawn = task["result"]["_meta"][DRAWING_META_KEY]
        assert "7 stars" in drawn["html"]
        assert task["result"]["structuredContent"] == plain["result"]["structuredContent"]
