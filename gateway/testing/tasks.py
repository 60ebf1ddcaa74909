"""What every plugin owes its portal where a tool's work is a job that clients may follow."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema_rs

from gateway.cli.mcp_client import McpClient
from gateway.contract import Tool
from gateway.surfaces.mcp.task_states import EXTENSION
from gateway.testing.portal import TestPortal
from gateway.testing.suite_part import SuitePart

FOLLOWS_TASKS: Mapping[str, Any] = {"extensions": {EXTENSION: {}}, "elicitation": {}}
"""What a client declares that follows tasks."""
_LOOK_SECONDS = 0.05
_PATIENCE_SECONDS = 60


async def followed(
    portal: TestPortal, tool: str, arguments: Mapping[str, Any], tier: str = "members"
) -> dict[str, Any]:
    """Call a tool as a client that follows tasks, and follow its task until it is over.

    Returns:
        The task as ``tasks/get`` has it at the end, or while it waits for an answer.

    Raises:
        RequestRefused: it is refused.
        TimeoutError: it takes a minute.
    """
    client = McpClient(portal.http(tier), capabilities=FOLLOWS_TASKS)
    task = await client.call(tool, arguments)
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while task["resultType"] == "task" or task.get("status") == "working":
            await asyncio.sleep(_LOOK_SECONDS)
            task = await client.request("tasks/get", {"taskId": task["taskId"]})
    return task


class TaskContract(SuitePart):
    """A part of ``PluginContract``."""

    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {}

    async def test_tasks_name_jobs_of_their_plugin(self) -> None:
        """The job of each tool's task is declared."""
        async with self.opened() as portal:
            offer = portal.running.plugins.offers[self.declared.name]
            jobs = {job.name for job in offer.jobs}
            tasks = [tool for tool in offer.tools if tool.task is not None]
            lacking = [each.name for each in tasks if each.task and each.task.job not in jobs]
            assert lacking == [], "Declare the jobs of these tools' tasks in Offer.jobs."

    async def test_tasks_end_with_what_their_tools_return(self) -> None:
        """A task of the calls given is completed, with a result that matches the tool's schema."""
        async with self.opened() as portal:
            for item in portal.running.catalog.items():
                declared = item.declared
                if not isinstance(declared, Tool) or declared.task is None:
                    continue
                for arguments in self.calls.get(item.name, ()):
                    task = await followed(portal, item.name, arguments)
                    result = task.get("result", {})
                    assert task["status"] == "completed", f"{item.name}({arguments}): {task}"
                    assert not result.get("isError"), f"{item.name}({arguments}): {result}"
                    if schema := item.entry.get("outputSchema"):
                        jsonschema_rs.validate(schema, result["structuredContent"])
