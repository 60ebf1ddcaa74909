"""The tools over memory: what an agent needs of the protocol's operations, in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from mcp_types import InputRequiredResult, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.approval_tools import WAITS, approval_tools
from plugins.knowledge.memory.consent import NeedsAnswer, consent_over
from plugins.knowledge.memory.entries import AccessPolicy, Layer
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.requests import (
    CreateRequest,
    DeleteRequest,
    QueryRequest,
    UpdateRequest,
)
from plugins.knowledge.memory.responses import CreateResponse, QueryResponse, QueryResult

M = TypeVar("M", bound=BaseModel)

_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class Remembered(BaseModel):
    """An entry as a tool shows it."""

    id: str
    content: str
    title: str | None = None
    tags: list[str] = Field(default_factory=list)
    version: int
    changed: datetime
    policy: AccessPolicy = Field(description="Who may read it.")
    score: float | None = Field(None, description="How well it answers, 0 to 1.")


class Memories(BaseModel):
    """What memory holds on a question, the best answer first."""

    results: list[Remembered]
    total: int
    layers: list[str] = Field(description="The layers that were asked.")
    note: str | None = Field(None, description="What is missing from the answer, and why.")


class Kept(BaseModel):
    """What became of a write."""

    id: str
    version: int
    status: str
    approval: str | None = Field(None, description="The request that waits for a person.")
    note: str | None = Field(None, description="What has to happen next, and who must act.")


class Forgotten(BaseModel):
    """What became of a removal."""

    id: str
    forgotten: bool
    approval: str | None = Field(None, description="The request that waits for a person.")
    note: str | None = Field(None, description="What has to happen next, and who must act.")


class PastVersion(BaseModel):
    """One version of an entry."""

    version: int
    written: datetime
    by: str
    content: str | None = Field(None, description="What it said; none where only this is kept.")


class History(BaseModel):
    """What an entry was, the newest version first."""

    id: str
    versions: list[PastVersion]


def tools(memory: Memory) -> list[Tool]:
    """The tools over memory, in the order in which a model should consider them."""
    return [
        Tool.of(_query(memory), annotations=_READS, floor=Tier.PUBLIC, title="Ask memory"),
        _remember(memory),
        Tool.of(_update(memory), annotations=_CHANGES, floor=Tier.PUBLIC, title="Change a memory"),
        Tool.of(_forget(memory), annotations=_CHANGES, floor=Tier.PUBLIC, title="Forget"),
        Tool.of(_history(memory), annotations=_READS, floor=Tier.PUBLIC, title="Memory history"),
        *approval_tools(memory),
    ]


def _query(memory: Memory) -> Any:
    async def query_memory(
        query: str,
        layers: Sequence[Layer] = (),
        tags: Sequence[str] = (),
        limit: int = 10,
        agent_id: str | None = None,
        *,
        caller: Caller,
    ) -> Memories:
        """Ask what you and others remember, and the knowledge base with it: by meaning and by
        words. Use it before you answer what may have been said, decided or learned before.

        Args:
            query: What to look for: a question, a topic or a phrase.
            layers: Only these layers; all but the archive where none is given.
            tags: Only entries that carry at least one of these tags.
            limit: How many results at most, 1 to 100.
            agent_id: Your own name, to see of working, session and episodic memory only what you
                wrote under it.
        """
        request = {
            "query": query,
            "filters": {"tags": tags},
            "options": {"limit": limit},
            "layer": {"types": layers, "agent_id": agent_id},
        }
        answer = await memory.query(_valid(QueryRequest, request), caller)
        return Memories(
            results=[_result(each) for each in answer.results],
            total=answer.metadata.total_results,
            layers=answer.metadata.layers_queried,
            note=_note(answer),
        )

    return query_memory


class NewMemory(BaseModel):
    """What `remember` takes."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(min_length=1, description="What to remember.")
    title: str | None = Field(None, description="A short name for it.")
    tags: list[str] = Field(default_factory=list, description="Words to find it by.")
    layer: Layer = Field(
        Layer.SEMANTIC,
        description="How long it matters: working (this conversation), session (today), episodic "
        "(what happened), procedural (rules), semantic (what is known), user (about the person), "
        "organization (for everyone's work).",
    )
    policy: AccessPolicy = Field(
        AccessPolicy.PRIVATE,
        description="Who may read it: private, restricted, shared, organization or public.",
    )
    approved_users: list[str] = Field(
        default_factory=list, description="The ids of people who may, where it is restricted."
    )
    allowed_teams: list[str] = Field(
        default_factory=list, description="The groups whose members may, where it is shared."
    )
    confidence: float | None = Field(None, ge=0, le=1, description="How sure it is, 0 to 1.")
    importance: float | None = Field(None, ge=0, le=1, description="How much it matters, 0 to 1.")
    agent_id: str | None = Field(
        None, description="Your own name, so that you find your own entries again."
    )

    def request(self) -> CreateRequest:
        """The same, as the protocol writes it."""
        said = self.model_dump(include={"title", "tags", "confidence", "importance"})
        readers = self.model_dump(include={"policy", "approved_users", "allowed_teams"})
        options = {
            "access_policy": readers,
            "layer": {"type": self.layer, "agent_id": self.agent_id},
        }
        entry = {"content": self.content, "metadata": said}
        return _valid(CreateRequest, {"entry": entry, "options": options})


def _remember(memory: Memory) -> Tool:
    async def run(asked: NewMemory, caller: Caller) -> Kept | InputRequiredResult:
        try:
            made = await memory.govern.create(
                asked.request(), caller, consent_over(memory.exchange())
            )
        except NeedsAnswer as needs:
            return needs.result
        return _kept(made)

    return Tool(
        "remember",
        "Keep something for later: a fact, a decision, a preference, what happened. One thing an "
        "entry, in words that stand for themselves. What is known already keeps its id, and gets "
        "surer where it comes from another source or author. Never keep a secret.",
        run,
        args=NewMemory,
        result=Kept,
        annotations=_ADDS,
        floor=Tier.PUBLIC,
        title="Remember",
    )


def _update(memory: Memory) -> Any:
    async def update_memory(
        id: str,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        version: int | None = None,
        *,
        caller: Caller,
    ) -> Kept:
        """Change an entry; what you leave out stays as it is. Others' changes since your version
        are kept where they touch something else.

        Args:
            id: The entry's id, as `query_memory` gives it.
            content: What it is to say.
            title: Its new name.
            tags: Its new tags, all of them.
            version: The version that you have read.
        """
        record = await memory.keep.found(id, caller)
        request = {"entry": _changed(record, content, title, tags, version)}
        changed = _valid(UpdateRequest, request)
        try:
            made = await memory.govern.update(id, changed, caller, consent_over(memory.exchange()))
        except NeedsAnswer as needs:
            return cast("Kept", needs.result)  # the gateway passes it on
        return _kept(made)

    return update_memory


def _forget(memory: Memory) -> Any:
    async def forget(id: str, hard: bool = False, *, caller: Caller) -> Forgotten:
        """Remove an entry of yours, so that nobody finds it any more.

        Args:
            id: The entry's id, as `query_memory` gives it.
            hard: Whether to remove its earlier versions and every copy as well, for good.
        """
        request = _valid(DeleteRequest, {"id": id, "options": {"hard_delete": hard}})
        try:
            gone = await memory.govern.delete(request, caller, consent_over(memory.exchange()))
        except NeedsAnswer as needs:
            return cast("Forgotten", needs.result)  # the gateway passes it on
        waits = gone.approval_required
        return Forgotten(
            id=gone.entry_id,
            forgotten=gone.deleted,
            approval=waits and waits.request_id,
            note=waits and WAITS,
        )

    return forget


def _history(memory: Memory) -> Any:
    async def memory_history(id: str, *, caller: Caller) -> History:
        """See what an entry said before, who changed it, and when.

        Args:
            id: The entry's id, as `query_memory` gives it.
        """
        versions = await memory.look.history(id, caller)
        return History(
            id=id,
            versions=[
                PastVersion(
                    version=each.number,
                    written=each.at,
                    by=each.by,
                    content=None if each.fields is None else each.fields["content"],
                )
                for each in versions
            ],
        )

    return memory_history


def _kept(made: CreateResponse) -> Kept:
    waits = made.approval_required
    return Kept(
        id=made.entry.id,
        version=made.entry.version,
        status=made.status,
        approval=waits and waits.request_id,
        note=waits and WAITS,
    )


def _changed(
    record: Record,
    content: str | None,
    title: str | None,
    tags: Sequence[str] | None,
    version: int | None,
) -> dict[str, Any]:
    said: dict[str, Any] = record.metadata.model_dump()
    if title is not None:
        said["title"] = title
    if tags is not None:
        said["tags"] = tags
    kept = record.content if content is None else content
    return {"content": kept, "metadata": said, "version": version}


def _result(found: QueryResult) -> Remembered:
    entry = found.entry
    return Remembered(
        id=entry.id,
        content=entry.content,
        title=entry.metadata.title,
        tags=list(entry.metadata.tags),
        version=entry.version,
        changed=entry.updated_at or entry.created_at,
        policy=entry.access_policy,
        score=found.score,
    )


def _note(answer: QueryResponse) -> str | None:
    failed = answer.metadata.layers_failed
    return " ".join(f"{layer}: {why}" for layer, why in failed.items()) or None


def _valid(model: type[M], asked: dict[str, Any]) -> M:
    """The request that a tool's arguments stand for.

    Raises:
        MemoryFailed: what does not fit, and where.
    """
    try:
        return model.model_validate(asked)
    except ValidationError as error:
        told = [
            f"{'.'.join(map(str, each['loc'])) or 'the arguments'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST, f"Invalid arguments. {'; '.join(told[:5])}"
        ) from None
