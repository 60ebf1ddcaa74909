"""What a playbook holds, as the store reads it (seed 004, "Database Schema")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

PORTAL = "portal"
"""The owner of what the portal itself brings: starter workflows, and what an operator imports."""

FORMER = "former"
"""The owner of what people left who deleted their accounts, and others use."""

Viewer: TypeAlias = str | None
"""Who looks: a person's id, or None for someone anonymous."""


class Visibility(StrEnum):
    """Who sees an item: everyone, or its owner alone."""

    PUBLIC = "PUBLIC"
    PRIVATE = "PRIVATE"


class Complexity(StrEnum):
    """How large a workflow is."""

    XS = "XS"
    S = "S"
    M = "M"
    L = "L"
    XL = "XL"


class TargetType(StrEnum):
    """What folders, the library and references point at."""

    WORKFLOW = "WORKFLOW"
    MINI_PROMPT = "MINI_PROMPT"
    SKILL = "SKILL"


class AutoPrompt(StrEnum):
    """The prompts that a stage's settings put into a plan."""

    MEMORY_BOARD = "memory-board"
    MULTI_AGENT_CHAT = "multi-agent-chat"

    @classmethod
    def named(cls, entry: str) -> AutoPrompt | None:
        """The one that an entry of an ``item_order`` stands for, or None."""
        return next((each for each in cls if entry == each or entry.startswith(f"{each}-")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What workflows, skill cards and mini-prompts have in common.

    Attributes:
        id: never changes and is never used again; that of an imported item follows from its
            owner and key, so that importing twice gives the same one.
        key: a slug, unique among the owner's items of the kind.
        owner: a person's id, ``PORTAL`` or ``FORMER``.
        author: the owner's name as it is shown, or None.
        version: grows with every change of the item, and of anything in it.
        created, updated: when, in UTC.
    """

    id: str
    key: str
    owner: str
    author: str | None
    name: str
    description: str | None
    visibility: Visibility
    version: int
    created: datetime
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniPrompt(Item):
    """A reusable prompt.

    Attributes:
        automatic: which automatic prompt it is, for the portal's own two.
    """

    type: ClassVar = TargetType.MINI_PROMPT
    content: str
    automatic: AutoPrompt | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a skill card, kept in the object store.

    Attributes:
        size: in bytes.
        digest: the SHA-256 of the bytes, in hexadecimal.
    """

    name: str
    mime_type: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill(Item):
    """A skill card: instructions for one kind of work, with files."""

    type: ClassVar = TargetType.SKILL
    content: str
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class StageItem:
    """A mini-prompt or skill card at its place in a stage.

    Attributes:
        extra: what else its author said of this step, as JSON values.
    """

    item: MiniPrompt | Skill
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """What a stage says of itself, beside the items in it.

    Attributes:
        with_review: whether the Memory Board comes at its end.
        include_multi_agent_chat: whether the Internal Agents Chat comes after each item; None
            where the workflow's own setting counts.
        item_order: the order of items and automatic prompts, or None for the order of the items.
            Stored, it holds ids (``plans/plan.py`` has the rules); written, also keys and names.
        extra: what else its author said of it, as JSON values.
    """

    name: str
    description: str | None = None
    color: str | None = None
    with_review: bool = False
    include_multi_agent_chat: bool | None = None
    item_order: tuple[str, ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def stage_settings(source: Any) -> dict[str, Any]:
    """The fields of :class:`StageSettings`, of a stage or of a row of its table."""
    found = {each.name: getattr(source, each.name) for each in fields(StageSettings)}
    order = found["item_order"]
    return found | {"item_order": None if order is None else tuple(order)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(StageSettings):
    """A part of a workflow; its items are in the order of their positions."""

    id: str
    items: tuple[StageItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow(Item):
    """A workflow with everything in it.

    Attributes:
        origin, origin_version: the workflow that it was copied from, if any.
    """

    type: ClassVar = TargetType.WORKFLOW
    complexity: Complexity | None = None
    include_multi_agent_chat: bool = False
    tags: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: str | None = None
    origin_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Item):
    """A workflow or skill card as lists show it: without its content."""

    type: TargetType
    tags: tuple[str, ...] = ()
    complexity: Complexity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of somebody's; ``parent`` is the id of the one around it, or None."""

    id: str
    key: str
    owner: str
    name: str
    description: str | None
    visibility: Visibility
    parent: str | None
    position: int
    version: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of an item: its version from then on, when, by whom, and which fields."""

    version: int
    at: datetime
    by: str | None
    fields: tuple[str, ...]


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One walk of a person's through a workflow.

    Attributes:
        workflow: its id.
        version: the workflow's version whose plan the run follows.
        step: the index of the last step that was handed out, or None before the first.
        finished, outcome: None while it is open.
    """

    id: str
    person: str
    workflow: str
    version: int
    step: int | None
    started: datetime
    updated: datetime
    finished: datetime | None
    outcome: Outcome | None
    note: str | None
