"""Tasks as the wire shows them (SEP-2663): ids, states and results, of the jobs behind them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from auth import Caller
from auth.sealer import Sealer
from gateway.catalog.items import Item
from gateway.contract import JobStatus, ToolFailed, ToolTask
from gateway.surfaces.mcp.envelope import INTERNAL_ERROR, MISSING_CAPABILITY, WireError
from gateway.surfaces.mcp.results import Era, tool_failure

EXTENSION = "io.modelcontextprotocol/tasks"
"""The extension's identifier in the capabilities of both sides."""
TASK_SECONDS = 24 * 3600
"""Seconds for which a task can be followed, from the call that made it."""
POLL_MS = 2_000
"""Milliseconds that a client is to leave between two looks at a task."""

_STATUS = {"queued": "working", "running": "working", "done": "completed", "failed": "failed"}
_WENT_WRONG = "Something went wrong here. Tell the admin the id of the job: {job}."


class Task(NamedTuple):
    """A task of one caller: a job, the tool whose work it is, and until when it can be followed.

    Attributes:
        id: what the client calls it: sealed for its caller, so that no other one's is taken.
        item: the tool.
        declared: how the tool works by a job.
        job: the job's id.
        until: seconds since the epoch.
    """

    id: str
    item: Item
    declared: ToolTask
    job: str
    until: int


def follows_tasks(capabilities: Any) -> bool:
    """Whether a client follows tasks, by what it declared with this one request."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    return isinstance(extensions, Mapping) and EXTENSION in extensions


def not_declared() -> WireError:
    """The error for a client that asks of tasks without having declared the extension."""
    needed: Mapping[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    return WireError(MISSING_CAPABILITY, "Missing required client capability", needed)


def sealed(item: Item, declared: ToolTask, job: str, sealer: Sealer, caller: Caller) -> Task:
    """A new task for a job that was queued just now, or is shared with others."""
    until = int(sealer.now()) + TASK_SECONDS
    held = {"tool": f"{item.plugin}/{item.identity}", "job": job, "until": until}
    id = sealer.seal(held, TASK_SECONDS, caller.person or "")
    return Task(id, item, declared, job, until)


def state_of(status: JobStatus) -> dict[str, Any]:
    """What of a job's state is told, before its secrets are taken out."""
    state = _STATUS.get(status.state, "cancelled")
    told: dict[str, Any] = {"status": state}
    if status.asks:
        told |= {"status": "input_required", "inputRequests": dict(status.asks)}
    elif state == "working" and (said := _said(status)):
        told["statusMessage"] = said
    if status.failure:
        told |= {"status": "completed", "failure": [status.failure, status.error or ""]}
    return told


def _said(status: JobStatus) -> str:
    if status.state == "queued":
        return "It waits for its turn."
    done = f"{status.done} of {status.total}" if status.total else ""
    return ": ".join(part for part in (done, status.message) if part)


def shown(task: Task, status: JobStatus, state: Mapping[str, Any], era: Era, kind: str) -> bytes:
    """A ``Task`` as a result.

    Args:
        task: the task.
        status: its job's, for the times.
        state: what :func:`state_of` told, without its secrets.
        era: the shape of results.
        kind: the ``resultType``.
    """
    queued = status.queued or datetime.fromtimestamp(time.time(), UTC)
    created = int(queued.timestamp() * 1000)
    fields = {
        "taskId": task.id,
        **state,
        "createdAt": _iso(queued),
        "lastUpdatedAt": _iso(status.changed or queued),
        "ttlMs": max(1, task.until * 1000 - created),
        "pollIntervalMs": POLL_MS,
    }
    return era.written(fields, kind)


def detailed(
    task: Task,
    status: JobStatus,
    value: Mapping[str, Any],
    era: Era,
    request_id: str,
    result: bytes,
) -> bytes:
    """A ``DetailedTask``: with what is asked, the result, or the error.

    Args:
        task: the task.
        status: its job's, for the times.
        value: what :func:`state_of` told, and ``answer`` where there is one; without secrets.
        era: the shape of results.
        request_id: as tool errors carry it.
        result: what the tool answered, as its call would have been answered; empty for none.
    """
    state = {key: each for key, each in value.items() if key not in ("answer", "failure")}
    if state["status"] == "failed":
        message = _WENT_WRONG.format(job=task.job)
        state |= {"statusMessage": message, "error": {"code": INTERNAL_ERROR, "message": message}}
    written = shown(task, status, state, era, "complete")
    if state["status"] != "completed":
        return written
    if "failure" in value:
        code, message = value["failure"]
        result = tool_failure(ToolFailed(code, message), request_id, era)
    return written[:-1] + b',"result":' + result + b"}"


def as_notification(written: bytes, meta: Mapping[str, Any]) -> bytes:
    """``notifications/tasks`` of a ``DetailedTask`` that is written already."""
    params = {**from_json(written), "_meta": dict(meta)}
    del params["resultType"]
    return to_json({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params})


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
