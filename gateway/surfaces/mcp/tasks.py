"""The tasks extension (SEP-2663) over the plugins' jobs.

A tool that declares a :class:`gateway.contract.ToolTask` queues its job for a client that follows
tasks, and all others get what its ``run`` gives. The portal keeps nothing of a task: its id holds
the job's, sealed for the caller, so that any replica knows it, after any restart, and another
caller's is as if it did not exist. Whether the caller may still use the tool is asked every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import mcp_types as mcp

from auth import Caller
from auth.sealer import BadSeal, Sealer
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.contract import Jobs, JobStatus, Tool, ToolFailed, ToolTask
from gateway.errors import NotFound, PortalError
from gateway.pipeline.call import Call, Target
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.mcp.envelope import INVALID_PARAMS, WireError, unknown_method
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.task_states import (
    Task,
    detailed,
    follows_tasks,
    not_declared,
    sealed,
    shown,
    state_of,
)
from gateway.toolkit.client_capabilities import lacking, missing_capability

METHODS = frozenset(("tasks/get", "tasks/update", "tasks/cancel"))
_UNKNOWN = "There is no such task: it is over for long, or it is not yours. Call the tool again."

Render = Callable[[Any, Sequence[Redaction]], bytes]
Draw = Callable[[Item, Request, Mapping[str, Any]], Render]
"""``draw(tool, request, arguments)``: writes what a tool answered to them, with its view's drawing
where the client shows Apps."""
MakeCall = Callable[[Request, str, Callable[[], Target], Mapping[str, Any]], Call]


class AnswerableJobs(Jobs, Protocol):
    """The jobs of one plugin, which can be answered (``JobRun.ask``)."""

    async def answer(self, job_id: str, answers: Mapping[str, Any]) -> None:
        """Answer what a job asks, as far as it does."""
        ...


def check(method: str, params: Mapping[str, Any]) -> None:
    """Check the parameters of one of the extension's methods.

    Raises:
        WireError: one is missing, or not of its type.
    """
    if not isinstance(params.get("taskId"), str):
        raise WireError(INVALID_PARAMS, "Invalid parameters: taskId: must be a string")
    if method == "tasks/update" and not isinstance(params.get("inputResponses"), dict):
        raise WireError(INVALID_PARAMS, "Invalid parameters: inputResponses: must be an object")


def task_of(item: Item, request: Request) -> ToolTask | None:
    """How a tool works by a job, where it does and the client follows tasks."""
    declared = item.declared
    if not isinstance(declared, Tool) or declared.task is None or not request.era.modern:
        return None
    return declared.task if follows_tasks(request.channel.capabilities) else None


class Tasks:
    """Makes requests about tasks into calls.

    Args:
        catalog: what there is, and for whom.
        jobs_of: the jobs of a plugin.
        sealer: seals the ids of tasks.
    """

    def __init__(
        self, catalog: Catalog, jobs_of: Callable[[str], AnswerableJobs], sealer: Sealer
    ) -> None:
        self._catalog = catalog
        self.jobs_of = jobs_of
        self._sealer = sealer

    def table(self, make: MakeCall, draw: Draw) -> Mapping[str, Callable[[Request], Call]]:
        """What makes the call of each method.

        Args:
            make: makes a call of a request, a name for the records, what it finds, and arguments.
            draw: writes what a tool answered, as its own call would be answered.
        """

        works = {"tasks/get": _Get, "tasks/update": _Update, "tasks/cancel": _Cancel}
        return {method: partial(self._call, make, draw, work) for method, work in works.items()}

    def _call(self, make: MakeCall, draw: Draw, work: type[_Work], request: Request) -> Call:
        if not request.era.modern:  # 2025-11-25 has methods of these names, which are not served
            raise unknown_method(request.method)
        if not follows_tasks(request.channel.capabilities):
            raise not_declared()

        def find() -> Target:
            task = self.task(request.params["taskId"], request.caller, request.only)
            answered = draw(task.item, request, {})
            made = work(task, request, self.jobs_of(task.item.plugin), answered)
            return Target(task.item, made.run, dict, made.render, kind="task")

        return make(request, "task", find, request.params.get("inputResponses") or {})

    def task(self, id: str, caller: Caller, only: str | None) -> Task:
        """The task of that id, if it is the caller's and they may still use its tool.

        Raises:
            NotFound: it is not.
        """
        try:
            held = self._sealer.open(id, caller.person or "")
            name = self._catalog.keyed(held["tool"])
            item = self._catalog.tool(name or "", caller, only)
        except (BadSeal, PortalError):
            raise NotFound(_UNKNOWN) from None
        if not isinstance(item.declared, Tool) or item.declared.task is None:
            raise NotFound(_UNKNOWN)
        return Task(id, item, item.declared.task, held["job"], held["until"])

    def starting(
        self, item: Item, declared: ToolTask, request: Request, otherwise: Render
    ) -> Starting:
        """The call of a tool that begins a task; ``otherwise`` writes what ``run`` answers."""
        jobs = self.jobs_of(item.plugin)
        return Starting(item, declared, request, jobs, self._sealer, otherwise)


class Starting:
    """A tool's call that queues a job, and is answered with the task."""

    def __init__(
        self,
        item: Item,
        declared: ToolTask,
        request: Request,
        jobs: Jobs,
        sealer: Sealer,
        otherwise: Render,
    ) -> None:
        self._otherwise = otherwise
        self._item = item
        self._declared = declared
        self._request = request
        self._jobs = jobs
        self._sealer = sealer
        self._status: JobStatus | None = None

    async def run(self, args: Any, caller: Caller) -> Any:
        """Queue the job; its state, or what the tool asks first, or answers at once."""
        started = await self._declared.start(args, caller)
        if started is None and isinstance(self._item.declared, Tool):
            return await self._item.declared.run(args, caller)
        if isinstance(started, mcp.InputRequiredResult):
            return started
        # A task is told of once it can be asked for, so that nobody asks too early.
        self._status = await self._jobs.status(started)
        if self._status is None or self._status.name != self._declared.job:
            raise RuntimeError(f"{self._item.key} started no job {self._declared.job}: {started}")
        return {key: each for key, each in state_of(self._status).items() if key in _AT_FIRST}

    def render(self, value: Any, redactions: Sequence[Redaction]) -> bytes:
        """The ``CreateTaskResult``, or the tool's own where no job is to be waited for."""
        if self._status is None:
            return self._otherwise(value, redactions)
        job, caller = self._status.id, self._request.caller
        task = sealed(self._item, self._declared, job, self._sealer, caller)
        return shown(task, self._status, value, self._request.era, "task")


_AT_FIRST = ("status", "statusMessage")
"""What of a state a ``CreateTaskResult`` tells: all else is on ``tasks/get``."""


class _Work:
    """One request about a task."""

    def __init__(
        self, task: Task, request: Request, jobs: AnswerableJobs, answered: Render
    ) -> None:
        self.task = task
        self.request = request
        self.jobs = jobs
        self.answered = answered

    async def status(self) -> JobStatus:
        """The job's state, which goes with its row."""
        if (status := await self.jobs.status(self.task.job)) is None:
            raise ToolFailed("not_found", _UNKNOWN)
        return status

    async def run(self, args: Any, caller: Caller) -> Any:
        """Do what is asked."""
        raise NotImplementedError

    def render(self, value: Any, redactions: Sequence[Redaction]) -> bytes:
        """An empty result, which acknowledges the request."""
        return self.request.era.written({})


class _Get(_Work):
    """``tasks/get``: how the task is, and its result where it is over."""

    at: JobStatus

    async def run(self, args: Any, caller: Caller) -> Any:
        self.at = await self.status()
        told = state_of(self.at)
        able = self.request.channel.capabilities
        asked = told.get("inputRequests", {}).values()
        lacks = {lacking(each["method"], each.get("params") or {}, able) for each in asked}
        if lacks := lacks - {""}:
            raise missing_capability(lacks)
        if told["status"] == "completed" and "failure" not in told:
            try:
                told["answer"] = await self._answer(caller)
            except ToolFailed as failed:
                told["failure"] = [failed.code, failed.message]
        return told

    async def _answer(self, caller: Caller) -> Any:
        make = self.task.declared.answer
        return self.at.result if make is None else await make(self.at.result, caller)

    def render(self, value: Any, redactions: Sequence[Redaction]) -> bytes:
        context = self.request.context
        result = self.answered(value["answer"], redactions) if "answer" in value else b""
        era = self.request.era
        return detailed(self.task, self.at, value, era, context.request_id, result)


class _Update(_Work):
    """``tasks/update``: answers to what the task asks."""

    async def run(self, args: Any, caller: Caller) -> Any:
        if (await self.status()).asks:
            await self.jobs.answer(self.task.job, args)
        return {}


class _Cancel(_Work):
    """``tasks/cancel``: the caller needs the task no more."""

    async def run(self, args: Any, caller: Caller) -> Any:
        await self.status()
        if self.task.declared.cancellable:
            await self.jobs.cancel(self.task.job)
        return {}
