"""Opens streams: a query's answers, the updates of entries, and a person's notifications."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from gateway.contract import Caller, StreamEvent
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import QueryRequest
from plugins.knowledge.memory.model.responses import QueryResponse
from plugins.knowledge.memory.query.engine import QueryEngine
from plugins.knowledge.memory.rights.access import caller_keys, notice_keys
from plugins.knowledge.memory.rights.roles import Roles, require_role
from plugins.knowledge.memory.streams.event_log import EventLog
from plugins.knowledge.memory.streams.events import (
    OPERATIONS,
    QueryResultEvent,
    ResetEvent,
    UpdateFilters,
)
from plugins.knowledge.memory.streams.hub import Admits, Hub
from plugins.knowledge.memory.streams.messages import EntryState, LoggedEvent, is_visible, matches

Events = AsyncGenerator[StreamEvent, None]
_MAX_DIGITS = 18
_END = ":end"
_RESET_MESSAGE = (
    "What happened since your last event is not kept any more. Query again; it goes on from now."
)


@dataclass(frozen=True, slots=True)
class Streams:
    """The stream operation.

    Attributes:
        events: all events that are kept.
        hub: the newest of them.
        query: the query operation.
        roles: who may do what.
        clock: gives the time, with its zone.
    """

    events: EventLog
    hub: Hub
    query: QueryEngine
    roles: Roles
    clock: Callable[[], datetime]

    async def answers(
        self, request: QueryRequest, caller: Caller, last: str | None
    ) -> Events | None:
        """The answers to a question, the best first, each an event; then the end.

        Args:
            request: the question.
            caller: who asks.
            last: the id of the last event that the client has. After the final one nothing follows;
                after any other the question is asked again.

        Raises:
            MemoryFailed: as the query operation.
        """
        if last is not None and last.endswith(_END):
            return None
        return _answer_events(await self.query(request, caller))

    async def updates(self, filters: UpdateFilters, caller: Caller, last: str | None) -> Events:
        """What happens to the entries that the caller may read, from now on or from an event on.

        Raises:
            MemoryFailed: the caller may not, or ``last`` is no event's id.
        """
        held = caller_keys(caller)

        def admits(told: LoggedEvent, state: EntryState | None) -> bool:
            return (
                told.kind in OPERATIONS
                and is_visible(told, state, held, self.clock())
                and matches(told, state, filters)
            )

        return await self._followed(admits, caller, last)

    async def notifications(self, caller: Caller, last: str | None) -> Events:
        """What the caller is told of beside; raises as :meth:`updates`."""
        held = notice_keys(caller)

        def admits(told: LoggedEvent, state: EntryState | None) -> bool:
            return told.kind not in OPERATIONS and is_visible(told, state, held, self.clock())

        return await self._followed(admits, caller, last)

    async def _followed(self, admits: Admits, caller: Caller, last: str | None) -> Events:
        require_role(caller, self.roles.read, "follow memory")
        newest = await self.events.newest()
        number = newest if last is None else _number(last)
        lost = not await self.events.kept_after() <= number <= newest
        return self._events_after(newest if lost else number, admits, lost=lost)

    async def _events_after(self, after: int, admits: Admits, *, lost: bool) -> Events:
        # The first says from where to go on, also to a client that is told nothing for long.
        if lost:
            yield StreamEvent("ResetEvent", ResetEvent(message=_RESET_MESSAGE), str(after))
        else:
            yield StreamEvent(id=str(after))
        async with aclosing(self.hub.follow(after, admits)) as followed:
            async for number, told in followed:
                yield StreamEvent(id=str(number)) if told is None else told.event


def _number(last: str) -> int:
    if not (last.isascii() and last.isdigit() and len(last) <= _MAX_DIGITS):
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "last_event_id (Last-Event-ID) is no id of this stream; leave it out to begin anew.",
        )
    return int(last)


async def _answer_events(answer: QueryResponse) -> Events:
    whole, last = answer.results, len(answer.results) - 1
    for place, result in enumerate(whole):
        told = QueryResultEvent(query_id=answer.query_id, result=result, is_final=place == last)
        id = answer.query_id + (_END if place == last else f":{place}")
        yield StreamEvent("QueryResultEvent", told, id)
    if not whole:
        told = QueryResultEvent(query_id=answer.query_id, is_final=True)
        yield StreamEvent("QueryResultEvent", told, answer.query_id + _END)
