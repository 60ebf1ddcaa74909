"""Drafts: the content to be written, as tools and the importer hand it to the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.workflows.model import AutoPrompt, Complexity, StageSettings, TargetType, Visibility


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes.

    Attributes:
        person: the owner of what they add: a person's id, or ``model.PORTAL``.
        name: what to show as the author, or None.
        may_publish: whether ``tiers.yaml`` lets them make something PUBLIC.
    """

    person: str
    name: str | None = None
    may_publish: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """An existing mini-prompt or skill card that the writer can see."""

    type: TargetType
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDraft:
    """A mini-prompt; with an ``id``, new words for one that the writer owns."""

    name: str
    content: str
    description: str | None = None
    id: str | None = None
    key: str | None = None
    automatic: AutoPrompt | None = None


@dataclass(frozen=True, slots=True)
class StageItemDraft:
    """One item of a stage, in its place."""

    what: PromptDraft | Reference
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDraft(StageSettings):
    """A stage; with an ``id``, one that stays (automatic prompts in orders refer to it).

    Its ``item_order`` may also hold keys and names of the items written with it.
    """

    items: tuple[StageItemDraft, ...] = ()
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDraft:
    """A workflow with its stages; without a ``key`` one is made of the name.

    A copy names the workflow that it is of, and its version; that never changes.
    """

    name: str
    description: str | None = None
    complexity: Complexity | None = None
    include_multi_agent_chat: bool = False
    visibility: Visibility = Visibility.PRIVATE
    tags: tuple[str, ...] = ()
    stages: tuple[StageDraft, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    origin: str | None = None
    origin_version: int | None = None


@dataclass(frozen=True, slots=True)
class AttachmentDraft:
    """A file of a skill card, with its bytes."""

    name: str
    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDraft:
    """A skill card with its files."""

    name: str
    content: str
    description: str | None = None
    visibility: Visibility = Visibility.PRIVATE
    tags: tuple[str, ...] = ()
    attachments: tuple[AttachmentDraft, ...] = ()
    key: str | None = None
