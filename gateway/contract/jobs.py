"""Durable work: what a plugin declares, queues and runs. They reach it through
:mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from auth import Caller


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where a job is.

    Attributes:
        id: the job's id.
        state: ``queued``, ``running``, ``done``, ``failed`` or ``cancelled``.
        result: what it gave, where it is done.
        error: why it failed.
        name: which of the plugin's declarations it is.
        done: how far it is, by what it said last (``JobRun.progress``).
        total: how far it has to go, or 0 where that is not known.
        message: what it does just now.
        failure: the code of the ``ToolFailed`` that it raised; empty where it raised another error.
        asks: what it waits to be answered (:meth:`JobRun.ask`), by key.
        queued: when it was queued.
        changed: when its state last changed.
    """

    id: str
    state: str
    result: Any = None
    error: str | None = None
    name: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    failure: str = ""
    asks: Mapping[str, Any] = field(default_factory=dict)
    queued: datetime | None = field(default=None, compare=False)
    changed: datetime | None = field(default=None, compare=False)


class Jobs(Protocol):
    """Durable background work: a job survives a crash and goes on at the step it had reached."""

    async def enqueue(
        self, name: str, payload: Mapping[str, Any], *, key: str | None = None
    ) -> str:
        """Queue a job that the plugin declared.

        Args:
            name: the name of one of the plugin's own ``Job`` declarations.
            payload: JSON values handed to the job.
            key: where given, a second job with the same key is the first one again.

        Returns:
            The job's id.
        """
        ...

    async def status(self, job_id: str) -> JobStatus | None:
        """Where the job is, or None where no such job is known."""
        ...

    async def list(self, name: str | None = None, *, limit: int = 50) -> Sequence[JobStatus]:
        """The plugin's jobs, the newest first.

        Args:
            name: only those of this declaration.
            limit: how many at most.
        """
        ...

    async def cancel(self, job_id: str) -> bool:
        """End a job that is queued or running, at once where it runs in this process.

        Returns:
            Whether there was such a job to end.
        """
        ...


class JobRun(Protocol):
    """What a running job holds: durable steps and their progress."""

    @property
    def id(self) -> str:
        """The job's id."""
        ...

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        """Run ``await function(*args)`` once; a restart returns the recorded result instead.

        The result must be JSON. A step may run twice if the process dies in the middle of it,
        so it should be idempotent.
        """
        ...

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Say how far the job is, as often as it likes; returns at once.

        Args:
            done: how much is done, in the job's own unit.
            total: how much there is to do, or 0 where that is not known.
            message: what it does just now, for people.
        """
        ...

    async def ask(
        self, requests: Mapping[str, Mapping[str, Any]], *, seconds: float = 3600
    ) -> Mapping[str, Any]:
        """Wait until the client that follows the job as a task has answered (:class:`ToolTask`).

        A job waits through restarts, and keeps its place in its queue meanwhile. Ask one thing
        after the other, or several at once in one call.

        Args:
            requests: what is asked, by keys that the job uses once each: requests as of an
                ``InputRequiredResult``, such as ``{"method": "elicitation/create", "params": …}``.
            seconds: how long an answer may take, from the last start of the portal.

        Returns:
            The client's answers by the same keys, as they came in.

        Raises:
            ToolFailed: nobody has answered in time (``not_answered``).
            ValueError: a key was used before.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolTask:
    """How a client that follows tasks is served by a job (SEP-2663); others are served by ``run``.

    Attributes:
        job: the name of the :class:`Job` that does the work.
        start: ``await start(args, caller)`` queues it and gives its id; or gives None where
            there is nothing to wait for, and ``run`` answers at once; or an
            ``InputRequiredResult`` where something is to be asked first. Raises ``ToolFailed`` as
            ``run`` does.
        answer: ``await answer(result, caller)`` makes of the job's result what ``run`` would have
            returned; None where it is that already.
        cancellable: whether its caller may end the job; False where others wait for the same one.
    """

    job: str
    start: Callable[[Any, Caller], Awaitable[Any]]
    answer: Callable[[Any, Caller], Awaitable[Any]] | None = None
    cancellable: bool = True
