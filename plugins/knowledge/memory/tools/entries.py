"""The tools over memory: what an agent needs of the protocol's operations, in a few words."""

from __future__ import annotations

from typing import Any, Literal

from mcp_types import InputRequiredResult
from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import validate
from plugins.knowledge.memory.model.fields import LastMoment, UtcMoment
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse, NearEntry, SameWords
from plugins.knowledge.memory.model.validity import MAX_RELATIONS
from plugins.knowledge.memory.rights.recipients import check_named
from plugins.knowledge.memory.tools.annotations import ADDS, CHANGES
from plugins.knowledge.memory.tools.approvals import PENDING_NOTE, approval_tools
from plugins.knowledge.memory.tools.conversations import conversation_tool
from plugins.knowledge.memory.tools.history import history_tool
from plugins.knowledge.memory.tools.people import people_tool
from plugins.knowledge.memory.tools.recall import recall_tools
from plugins.knowledge.memory.tools.standing import standing_tools
from plugins.knowledge.memory.write.consent import NeedsAnswer, consent_through
from plugins.knowledge.memory.write.words_left import words_left

TIMES = ("event_at", "valid_from", "valid_until")
"""What says when an entry happens and holds."""


class Kept(BaseModel):
    """What became of a write."""

    id: str
    version: int
    status: str
    approval: str | None = Field(None, description="The request that waits for a person.")
    note: str | None = Field(None, description="What has to happen next, and who must act.")
    near: list[NearEntry] = Field(
        default_factory=list,
        description="Entries near in meaning, or that say the same: say how they go together "
        "(settle_memory), the later one first.",
    )


class Forgotten(BaseModel):
    """What became of a removal."""

    id: str
    forgotten: bool
    same_words: list[SameWords] = Field(
        default_factory=list,
        description="What still holds words of it: the turn of a conversation it comes from, or "
        "what was found in it. Where these are to go too, forget each by its id.",
    )
    approval: str | None = Field(None, description="The request that waits for a person.")
    note: str | None = Field(None, description="What has to happen next, and who must act.")


def tools(memory: Memory) -> list[Tool]:
    """The tools over memory, in the order in which a model should consider them."""
    return [
        *recall_tools(memory),
        _remember(memory),
        conversation_tool(memory),
        _update(memory),
        Tool.of(
            _forget(memory),
            result=Forgotten,
            annotations=CHANGES,
            floor=Tier.PUBLIC,
            title="Forget",
        ),
        history_tool(memory),
        *standing_tools(memory),
        people_tool(memory),
        *approval_tools(memory),
    ]


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
        default_factory=list,
        description="The people who may, where it is restricted: their ids, or the names of those "
        "who share a group with you (find_people).",
    )
    allowed_teams: list[str] = Field(
        default_factory=list,
        description="The groups whose members may, where it is shared (find_people).",
    )
    confidence: float | None = Field(None, ge=0, le=1, description="How sure it is, 0 to 1.")
    importance: float | None = Field(None, ge=0, le=1, description="How much it matters, 0 to 1.")
    agent_id: str | None = Field(
        None, description="Your own name, so that you find your own entries again."
    )
    event_at: UtcMoment | None = Field(
        None, description="When it happens, where that is not now: 2026-03-01."
    )
    valid_from: UtcMoment | None = Field(None, description="From when on it holds.")
    valid_until: LastMoment | None = Field(
        None, description="When it ceases to hold; a day counts whole."
    )
    written_at: UtcMoment | None = Field(
        None, description="Of what you import: when it was written down first."
    )
    supersedes: list[str] = Field(
        default_factory=list,
        max_length=MAX_RELATIONS,
        description="The ids of earlier entries that hold no more from now on.",
    )
    corrects: list[str] = Field(
        default_factory=list,
        max_length=MAX_RELATIONS,
        description="The ids of earlier entries that were wrong all along.",
    )

    def request(self) -> CreateRequest:
        """The same, as the protocol writes it.

        Raises:
            MemoryFailed: it would be open to people or groups, and names none.
        """
        said = self.model_dump(include={"title", "tags", "confidence", "importance"})
        readers = self.model_dump(include={"policy", "approved_users", "allowed_teams"})
        check_named(validate(AccessPolicyConfig, readers))
        options = {
            "access_policy": readers,
            "layer": {"type": self.layer, "agent_id": self.agent_id},
        }
        related = [{"kind": "supersedes", "target": each} for each in self.supersedes]
        related += [{"kind": "corrects", "target": each} for each in self.corrects]
        entry = {
            "content": self.content,
            "metadata": said,
            "validity": self.model_dump(include={"event_at", "valid_from", "valid_until"}),
            "created_at": self.written_at,
            "relations": related,
        }
        return validate(CreateRequest, {"entry": entry, "options": options})


def _remember(memory: Memory) -> Tool:
    async def run(asked: NewMemory, caller: Caller) -> Kept | InputRequiredResult:
        try:
            made = await memory.governed.create(
                asked.request(), caller, consent_through(memory.exchange())
            )
        except NeedsAnswer as needs:
            return needs.result
        return _write_result(made)

    return Tool(
        "remember",
        "Keep something for later: a fact, a decision, a preference, what happened. One thing an "
        "entry, in words that stand for themselves. What you have said for the same readers keeps "
        "its id, and gets surer where it comes from another source or author; what others said, or "
        "you for other readers, stands beside it and is named in near. Where it seems to replace "
        "an earlier one it says so: decide with settle_memory, or ask. Never keep a secret.",
        run,
        args=NewMemory,
        result=Kept,
        annotations=ADDS,
        floor=Tier.PUBLIC,
        title="Remember",
    )


class ChangedMemory(BaseModel):
    """What `update_memory` takes."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="The entry's id, as `query_memory` gives it.")
    content: str | None = Field(None, description="What it is to say, all of it.")
    title: str | None = Field(None, description="Its new name.")
    tags: list[str] | None = Field(None, description="Its new tags, all of them.")
    event_at: UtcMoment | None = Field(None, description="When it happens, where that changes.")
    valid_from: UtcMoment | None = Field(None, description="From when on it holds.")
    valid_until: LastMoment | None = Field(
        None, description="When it ceases to hold; a day counts whole. So a fact ends."
    )
    without: list[Literal["event_at", "valid_from", "valid_until"]] = Field(
        default_factory=list, description="Of these, what it is to have no more."
    )
    version: int | None = Field(None, description="The version that you have read.")
    policy: AccessPolicy | None = Field(
        None, description="Who may read it from now on; only its owner can say so."
    )
    approved_users: list[str] | None = Field(
        None,
        description="All people who may, where it is restricted: their ids, or the names of those "
        "who share a group with you (find_people).",
    )
    allowed_teams: list[str] | None = Field(
        None, description="All groups whose members may, where it is shared (find_people)."
    )

    def request(self, record: Record) -> UpdateRequest:
        """The same, as the protocol writes it.

        Args:
            record: the entry as it is.

        Raises:
            MemoryFailed: it would be opened to people or groups, and names none.
        """
        said = self.model_dump(include={"title", "tags"}, exclude_none=True)
        metadata = {**record.metadata.model_dump(), **said}
        content = record.content if self.content is None else self.content
        entry = {"content": content, "metadata": metadata, "version": self.version}
        times = self.model_dump(include=set(TIMES), exclude_none=True)
        if times or self.without:
            kept = {name: getattr(record.validity, name) for name in TIMES}
            entry["validity"] = {**kept, **times, **dict.fromkeys(self.without)}
        named = {"policy", "approved_users", "allowed_teams"}
        if readers := self.model_dump(include=named, exclude_none=True):
            wanted = {**record.access.model_dump(), **readers}
            check_named(validate(AccessPolicyConfig, wanted))
            options = {"access_policy": wanted}
            return validate(UpdateRequest, {"entry": entry, "options": options})
        return validate(UpdateRequest, {"entry": entry})


def _update(memory: Memory) -> Tool:
    async def run(asked: ChangedMemory, caller: Caller) -> Kept | InputRequiredResult:
        record = await memory.entries.found(asked.id, caller)
        changed, consent = asked.request(record), consent_through(memory.exchange())
        try:
            made = await memory.governed.update(asked.id, changed, caller, consent)
        except NeedsAnswer as needs:
            return needs.result
        return _write_result(made)

    return Tool(
        "update_memory",
        "Change an entry, when it holds, or who reads it; what you leave out stays as it is. "
        "Others' changes since your version are kept where they touch something else.",
        run,
        args=ChangedMemory,
        result=Kept,
        annotations=CHANGES,
        floor=Tier.PUBLIC,
        title="Change a memory",
    )


def _forget(memory: Memory) -> Any:
    async def forget(
        id: str, hard: bool = False, *, caller: Caller
    ) -> Forgotten | InputRequiredResult:
        """Remove an entry of yours, so that nobody finds it any more. What it ended holds again.

        It cannot be brought back, only said again.

        Args:
            id: The entry's id, as `query_memory` gives it.
            hard: Whether to remove its earlier versions and every copy as well, for good; also of
                what you forgot in the last 30 days.
        """
        request = validate(DeleteRequest, {"id": id, "options": {"hard_delete": hard}})
        left = await words_left(memory.entries, request, caller)
        try:
            gone = await memory.governed.delete(request, caller, consent_through(memory.exchange()))
        except NeedsAnswer as needs:
            return needs.result
        waits = gone.approval_required
        return Forgotten(
            id=gone.entry_id,
            forgotten=gone.deleted,
            same_words=left,
            approval=waits and waits.request_id,
            note=PENDING_NOTE if waits else gone.note,
        )

    return forget


def _write_result(made: CreateResponse) -> Kept:
    waits = made.approval_required
    return Kept(
        id=made.entry.id,
        version=made.entry.version,
        status=made.status,
        approval=waits and waits.request_id,
        note=PENDING_NOTE if waits else made.note,
        near=made.near,
    )
