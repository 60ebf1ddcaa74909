"""The streaming endpoint (protocol, "Streaming Endpoint")."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlencode

from pydantic import Field

from gateway.contract import Caller, Stream
from plugins.knowledge.memory.api.requests import Query
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import QueryRequest, Sent
from plugins.knowledge.memory.streams.events import (
    KnowledgeUpdateEvent,
    NotificationEvent,
    QueryResultEvent,
    ResetEvent,
    UpdateFilters,
)

_PATH = "/stream"
_RATE = "60 in 60s"
_MAX_URL_CHARACTERS = 4000
"""Characters of an address that every proxy on the way takes."""


class StreamRequest(Sent):
    """What the stream is of."""

    type: Literal["query", "updates", "notifications"] = Field(
        description="The answers to a query; what happens to entries; or what concerns you."
    )
    query: Query | None = Field(None, description="Of a query: the question.")
    filters: UpdateFilters | None = Field(None, description="Of updates: which.")


def streams(memory: Memory) -> list[Stream]:
    """The streams over a memory."""
    streaming = memory.streams

    async def opened(asked: StreamRequest, caller: Caller, last: str | None) -> Any:
        if asked.filters is not None and asked.type != "updates":
            raise _misplaced("filters", "is for type=updates alone")
        if asked.type == "query":
            if asked.query is None:
                raise _misplaced("query", "is required where type=query")
            return await streaming.answers(asked.query, caller, last)
        if asked.query is not None:
            raise _misplaced("query", "is for type=query alone")
        if asked.type == "notifications":
            return await streaming.notifications(caller, last)
        return await streaming.updates(asked.filters or UpdateFilters(), caller, last)

    return [
        Stream(
            path=_PATH,
            open=opened,
            name="follow",
            tool="query_memory",
            params=StreamRequest,
            events=[KnowledgeUpdateEvent, QueryResultEvent, NotificationEvent, ResetEvent],
            summary="Follow what happens, or a query's answers.",
            operation="streams",
            rate=_RATE,
        )
    ]


def streaming_url(prefix: str, asked: QueryRequest) -> str | None:
    """Where a query's answers are streamed; None where the address would be too long.

    Args:
        prefix: the API's own.
        asked: the query.
    """
    query = asked.model_dump_json(exclude_unset=True)
    url = f"{prefix}{_PATH}?{urlencode({'type': 'query', 'query': query})}"
    return url if len(url) <= _MAX_URL_CHARACTERS else None


def _misplaced(name: str, reason: str) -> MemoryFailed:
    errors = [{"parameter": name, "reason": reason}]
    message = f"Invalid parameters. {name}: {reason}"
    return MemoryFailed(ErrorCode.INVALID_REQUEST, message, {"errors": errors})
