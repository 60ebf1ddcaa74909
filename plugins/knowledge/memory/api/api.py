"""The endpoints, and what every answer carries (protocol, "OpenSpec Protocol Specification")."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from gateway.contract import Allowance, Api, Caller, Route
from plugins.knowledge.memory.api.approvals import approval_routes
from plugins.knowledge.memory.api.batches import batch_routes
from plugins.knowledge.memory.api.discovery import DiscoveryResponse, discovered
from plugins.knowledge.memory.api.entries import entry_routes, note_routes
from plugins.knowledge.memory.api.errors import ErrorResponse, failed
from plugins.knowledge.memory.api.examples import EXAMPLES
from plugins.knowledge.memory.api.rates import READS, WRITES
from plugins.knowledge.memory.api.requests import (
    Create,
    Delete,
    Discovery,
    Metadata,
    Query,
    Update,
)
from plugins.knowledge.memory.api.standing import standing_routes
from plugins.knowledge.memory.api.streams import streaming_url, streams
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.model.responses import (
    CreateResponse,
    DeleteResponse,
    MetadataResponse,
    QueryResponse,
)
from plugins.knowledge.memory.rights.recipients import opens_to_nobody
from plugins.knowledge.memory.tools.authors import unknown_author
from plugins.knowledge.memory.tools.recall import told
from plugins.knowledge.memory.write.drafts import requested_access
from plugins.knowledge.memory.write.words_left import words_left

PREFIXES = ("/openspec/v1/knowledge", "/api/v1/knowledge")
VERSION = "1.0.0"
"""Of the protocol."""
_HEADERS = {
    "X-Provider-Version": "The version of the provider, which discovery names too.",
    "X-Rate-Limit-Remaining": "How often you may ask for the operation until it resets.",
    "X-Rate-Limit-Reset": "When you may ask as often as ever, in seconds since 1970.",
}
_ARCHIVED = '{} in the archive fit: ask with layer.types=["archival"].'
_ABOUT = """\
Agents keep what they learn, find it again by meaning and by words, and see its history.

**Who calls** is said with a bearer token: an API token of the portal, or an access token of its
OAuth server. Each entry is seen by those alone whom its access policy names.

**Errors** have one shape, `ErrorResponse`; `error.code` is a number of the protocol.

**Limits** stand at each operation as `x-rate-limit` (times within a window of seconds, for one
caller) and in the headers of its answers. A 429 says in `Retry-After` how long to wait.
"""


def api(memory: Memory) -> Api:
    """The API over a memory."""

    def headers(allowance: Allowance | None) -> Mapping[str, str]:
        own = {"X-Provider-Version": memory.provider.version}
        if allowance is None:
            return own
        return own | {
            "X-Rate-Limit-Remaining": str(allowance.left),
            "X-Rate-Limit-Reset": str(math.ceil(time.time() + allowance.resets)),
        }

    routes = [
        *note_routes(memory),  # first: a note may be called metadata
        *_reads(memory),
        *_writes(memory),
        *batch_routes(memory, PREFIXES[0]),
        *approval_routes(memory),
        *standing_routes(memory),
        *entry_routes(memory),  # last: its path takes what the others leave
    ]
    return Api(
        PREFIXES,
        "Knowledge Provider",
        VERSION,
        routes,
        ErrorResponse,
        failed,
        headers,
        header_texts=_HEADERS,
        openapi="3.0.3",
        description=_ABOUT,
        examples=EXAMPLES,
        streams=streams(memory),
    )


def _discovery(memory: Memory) -> Route:
    async def discover(asked: Discovery, caller: Caller) -> DiscoveryResponse:
        return discovered(memory)

    return Route(
        method="GET",
        path="",
        run=discover,
        name="discover",
        params=Discovery,
        response=DiscoveryResponse,
        summary="What the provider can do.",
        operation="discovery",
        tool="query_memory",
    )


def _reads(memory: Memory) -> list[Route]:
    async def query(asked: Query, caller: Caller) -> QueryResponse:
        answer = await memory.query(asked, caller)
        said = answer.metadata.model_copy(
            update={"note": await _noted(memory, asked, answer, caller)}
        )
        url = streaming_url(PREFIXES[0], asked)
        return answer.model_copy(update={"metadata": said, "streaming_url": url})

    async def metadata(asked: Metadata, caller: Caller) -> MetadataResponse:
        return await memory.reader.metadata(asked.id, caller, include_custom=asked.include_custom)

    return [
        _discovery(memory),
        Route(
            method="POST",
            path="/query",
            run=query,
            name="query_knowledge",
            params=Query,
            response=QueryResponse,
            summary="Search entries, by meaning, by words or both.",
            operation="queries",
            rate=READS,
            tool="query_memory",
        ),
        Route(
            method="GET",
            path="/{id}/metadata",
            run=metadata,
            name="get_metadata",
            tool="memory_history",
            params=Metadata,
            response=MetadataResponse,
            summary="All of an entry but its content, with its versions.",
            operation="metadata",
            rate=READS,
        ),
    ]


async def _noted(memory: Memory, asked: Query, answer: QueryResponse, caller: Caller) -> str | None:
    """What to know of a question and of what was searched, as ``query_memory`` says it."""
    notes, author = [told(memory, asked, answer)], asked.filters.author
    if not answer.metadata.total_results:
        if author is not None:
            notes.insert(0, await unknown_author(memory, author, caller))
        if not asked.layer.types:
            archived = (await memory.query(asked.archived(), caller)).metadata.total_results
            notes.append(_ARCHIVED.format(archived) if archived else "")
    return " ".join(filter(None, notes)) or None


def _writes(memory: Memory) -> list[Route]:
    async def create(asked: Create, caller: Caller) -> CreateResponse:
        return _told(await memory.governed.create(asked, caller), asked)

    async def update(asked: Update, caller: Caller) -> CreateResponse:
        return _told(await memory.governed.update(asked.id, asked, caller), asked)

    return [
        Route(
            method="POST",
            path="/create",
            run=create,
            name="create_entry",
            tool="remember",
            params=Create,
            response=CreateResponse,
            summary="Keep an entry.",
            operation="creates",
            rate=WRITES,
        ),
        Route(
            method="PUT",
            path="/{id}",
            run=update,
            name="update_entry",
            tool="update_memory",
            params=Update,
            response=CreateResponse,
            summary="Write a new version of an entry.",
            operation="updates",
            rate=WRITES,
        ),
        _removal(memory),
    ]


def _told(made: CreateResponse, asked: CreateRequest) -> CreateResponse:
    """The answer, which says where a policy is for others and names none: the protocol allows it.

    The tools refuse it; an entry's own ``access_policy`` has no place for names at all.
    """
    access = requested_access(asked)
    if not (field := opens_to_nobody(access)):
        return made
    note = f"It is {access.policy} and names nobody in {field}, so that its owner alone reads it."
    return made.model_copy(update={"note": " ".join(filter(None, (note, made.note)))})


def _removal(memory: Memory) -> Route:
    async def delete(asked: Delete, caller: Caller) -> DeleteResponse:
        request = asked.request()
        left = await words_left(memory.entries, request, caller)
        gone = await memory.governed.delete(request, caller)
        return gone.model_copy(update={"same_words": left or None})

    return Route(
        method="DELETE",
        path="/{id}",
        run=delete,
        name="delete_entry",
        tool="forget",
        params=Delete,
        response=DeleteResponse,
        summary="Remove an entry.",
        operation="deletes",
        rate=WRITES,
    )
