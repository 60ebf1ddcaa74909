"""Parsed files, validated, before their references to other items are resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from plugins.workflows.ids import slug
from plugins.workflows.inputs import PromptDraft, SkillDraft, StageDraft, WorkflowDraft
from plugins.workflows.model import AutoPrompt, TargetType, Visibility

KIND_NAMES = {TargetType.MINI_PROMPT: "prompt", TargetType.SKILL: "skill"}
"""What an item is called in a file."""
FOLDERS = {
    TargetType.MINI_PROMPT: "prompts",
    TargetType.SKILL: "skills",
    TargetType.WORKFLOW: "workflows",
}
"""Where the files of a kind are."""
EXPORT_RECORD = ".porch-export.json"
"""What exports have written to a directory: paths, and the digests of their bytes."""
AUTOMATIC_FOLDER = "automatic"
"""The folder that holds the two automatic prompts in the older form."""

_PATH = re.compile(r"[A-Za-z0-9_-]+(?:[/.][A-Za-z0-9_-]+)*")


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A mini-prompt, from a file of its own or from within a workflow.

    Attributes:
        path: the file.
        author: who is shown to have written it, or None.
        visibility: PRIVATE for one that nobody sees but with a workflow that they see.
    """

    path: str
    author: str | None
    draft: PromptDraft
    visibility: Visibility = Visibility.PUBLIC


@dataclass(frozen=True, slots=True)
class ParsedSkill:
    """A skill card with its files."""

    path: str
    author: str | None
    draft: SkillDraft


@dataclass(frozen=True, slots=True)
class ParsedStep:
    """An item of a stage.

    Attributes:
        type: a mini-prompt or a skill card.
        name: what it is called in the file: a key, a path of the older form, or an id.
        key: the key that is meant; None where ``name`` is an id, or can be no key.
        line: where it is written.
        extra: what else is said of this step.
        by_id: whether ``name`` is an id.
    """

    type: TargetType
    name: str
    key: str | None
    line: int
    extra: Mapping[str, Any] = field(default_factory=dict)
    by_id: bool = False


@dataclass(frozen=True, slots=True)
class ParsedStage:
    """A stage.

    Attributes:
        draft: without items and order.
        order: what its order names, and the line of each, or None.
    """

    draft: StageDraft
    steps: tuple[ParsedStep, ...] = ()
    order: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class ParsedWorkflow:
    """A workflow; ``draft`` is without its stages.

    Attributes:
        prompts: those that are written within it.
    """

    path: str
    author: str | None
    draft: WorkflowDraft
    stages: tuple[ParsedStage, ...] = ()
    prompts: tuple[ParsedPrompt, ...] = ()


def key_of(path: str) -> str | None:
    """The key of a mini-prompt by its path in the older form, ``analysis/trace-bug``.

    Returns:
        The key, or None where it is no such path.
    """
    path = path.removesuffix(".md")
    if not _PATH.fullmatch(path):
        return None
    parts = PurePosixPath(path).parts
    if parts[0] == AUTOMATIC_FOLDER:
        automatic = _automatic(parts[-1])
        return automatic.value if automatic else None
    return slug("-".join(parts))


def _automatic(name: str) -> AutoPrompt | None:
    if "memory-board" in name:
        return AutoPrompt.MEMORY_BOARD
    return AutoPrompt.MULTI_AGENT_CHAT if "chat" in name else None
