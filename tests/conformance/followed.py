"""Tools of the "everything" plugin whose work is a job: clients may follow it as a task (SEP-2663).

The suite knows them by their names. Each has its answer for clients that follow no tasks as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gateway.contract import Host, Job, JobRun, Tool, ToolFailed, ToolTask
from gateway.toolkit.client_capabilities import missing_capability
from tests.conformance.unfinished import elicit, need, obj

JOB = "work"
_CONFIRM = elicit("Are you sure?", confirm={"type": "boolean"})
_NAME = elicit("What is your name?", name={"type": "string"})


async def work(run: JobRun, payload: Mapping[str, Any]) -> Any:
    """What all of the jobs do."""
    for second in range(payload.get("seconds", 0)):
        run.progress(second, payload["seconds"], "computing")
        await asyncio.sleep(1)
    if asks := payload.get("asks"):
        return f"Answered: {sorted(await run.ask(asks))}"
    if payload.get("fails") == "as told":
        raise ToolFailed("intended", "The job intentionally failed.")
    if payload.get("fails"):
        raise RuntimeError("The job intentionally broke.")
    return payload["says"]


def jobs() -> list[Job]:
    return [Job(JOB, work, concurrency=100)]


async def _tasks_alone(args: Any, caller: Any) -> Any:
    raise missing_capability(["extensions.io.modelcontextprotocol/tasks"])


def followed_tools(host: Host) -> list[Tool]:
    def tool(name: str, summary: str, run: Any, payload: Any, **arguments: Any) -> Tool:
        async def start(args: Any, caller: Any) -> Any:
            found = payload(args)
            return await host.jobs.enqueue(JOB, found) if isinstance(found, dict) else found

        schema = {"type": "object", "properties": arguments}
        return Tool(name, summary, run, input_schema=schema, task=ToolTask(JOB, start))

    async def greet(args: Any, caller: Any) -> str:
        return f"Hello, {args['name']}!"

    async def slow_compute(args: Any, caller: Any) -> str:
        await asyncio.sleep(args.get("seconds", 0))
        return "Computed."

    async def at_once(args: Any, caller: Any) -> str:
        return "Done."

    def confirmed(args: Any) -> Any:
        return {"asks": {"confirm": _CONFIRM}}

    def named(args: Any) -> Any:
        name = (host.exchange().input_responses or {}).get("user_name")
        if not isinstance(name, Mapping):
            return need({"user_name": _NAME}, "round-1")
        return {"says": f"Hello, {name['content']['name']}!"}

    text, number = {"type": "string"}, {"type": "integer"}
    return [
        Tool("greet", "Greets.", greet, input_schema=obj(name=text)),
        tool(
            "slow_compute",
            "Computes for a while.",
            slow_compute,
            lambda args: {"seconds": args.get("seconds", 0), "says": "Computed."},
            seconds=number,
            label=text,
        ),
        tool("failing_job", "Fails, later.", _tasks_alone, lambda _: {"fails": "as told"}),
        tool("protocol_error_job", "Breaks, later.", at_once, lambda _: {"fails": "badly"}),
        tool("confirm_delete", "Asks before.", at_once, confirmed, filename=text),
        tool(
            "multi_input",
            "Asks two things.",
            at_once,
            lambda _: {"asks": {"name": _NAME, "confirm": _CONFIRM}},
        ),
        tool("test_tool_with_task", "Asks, then works.", _tasks_alone, named),
    ]
