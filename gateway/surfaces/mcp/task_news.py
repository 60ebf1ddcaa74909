"""``notifications/tasks`` on ``subscriptions/listen`` (SEP-2663): how tasks change, unasked.

A stream looks at its tasks every second, in rows that any replica writes. Only where something
has changed is the task asked for, as ``tasks/get`` would: in the name of the stream's caller, who
may have lost it meanwhile, without secrets, and in the audit log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gateway.contract import JobStatus
from gateway.errors import NotFound
from gateway.observability.logs import get_logger
from gateway.surfaces.mcp.envelope import INVALID_PARAMS, WireError
from gateway.surfaces.mcp.methods import Result
from gateway.surfaces.mcp.push_stream import Feed
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.sse import event
from gateway.surfaces.mcp.task_states import as_notification, follows_tasks, not_declared
from gateway.surfaces.mcp.tasks import Tasks

MAX_FOLLOWED_TASKS = 20
"""Tasks that one stream tells of; the others can be asked for."""
LOOK_SECONDS = 1.0
"""Seconds between two looks."""

log = get_logger(__name__)


class TaskNews:
    """Tells streams of the tasks that they follow.

    Args:
        tasks: knows whose a task is.
        answer: answers a request.
    """

    def __init__(self, tasks: Tasks, answer: Callable[[Request], Awaitable[Result]]) -> None:
        self._tasks = tasks
        self._answer = answer

    async def granted(self, request: Request) -> list[str]:
        """The ids of the tasks that a stream asks for and will be told of.

        Raises:
            WireError: the client has not declared the extension, or asks for no ids.
        """
        asked = request.params["notifications"].get("taskIds")
        if asked is None:
            return []
        if not follows_tasks(request.channel.capabilities):
            raise not_declared()
        if not isinstance(asked, list) or not all(isinstance(each, str) for each in asked):
            raise WireError(INVALID_PARAMS, "Invalid parameters: taskIds: must be strings")
        some = list(dict.fromkeys(asked))[:MAX_FOLLOWED_TASKS]
        return [each for each in some if await self._status(each, request) is not None]

    async def follow(
        self, request: Request, ids: list[str], feed: Feed, meta: Mapping[str, Any]
    ) -> None:
        """Tell of these tasks until they are over, beginning with how they are now."""
        told: dict[str, JobStatus] = {}
        while ids and not feed.closed:
            for each in list(ids):
                try:
                    if not await self._told(each, request, feed, meta, told):
                        ids.remove(each)
                except Exception as error:  # the next look may find the database there again
                    log.debug("task_not_told", reason=type(error).__name__)
            await asyncio.sleep(LOOK_SECONDS)

    async def _told(
        self,
        id: str,
        request: Request,
        feed: Feed,
        meta: Mapping[str, Any],
        told: dict[str, JobStatus],
    ) -> bool:
        """Tell of a task where it has changed; whether it can still change."""
        if (status := await self._status(id, request)) is None:
            return False
        if status != told.get(id):
            told[id] = status
            asked = request._replace(method="tasks/get", params={"taskId": id})
            try:
                body = (await self._answer(asked)).body
            except WireError:  # such as that it asks what this client cannot answer
                return False
            if isinstance(body, bytes):
                feed.put(event(as_notification(body, meta)))
        return status.state in ("queued", "running")

    async def _status(self, id: str, request: Request) -> JobStatus | None:
        """How the job of a task is, where the task is the caller's."""
        try:
            task = self._tasks.task(id, request.caller, request.only)
        except NotFound:
            return None
        return await self._tasks.jobs_of(task.item.plugin).status(task.job)
