"""What search reads of a workflow or a skill card, as one text for the model and for words.

The first line is the name, the second the tags, the third the description; the rest is what there
is inside. Each part has its share, since the embedded model reads 256 tokens and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plugins.workflows import limits
from plugins.workflows.inputs import (
    PromptDraft,
    SkillDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.model import Skill, StageItem, Workflow

MAX_TEXT_CHARS = 1_800
"""Characters of a text, of which the model reads head and body apart."""

_MAX_TAGS_CHARS = 200
_MAX_DESCRIPTION_CHARS = 500
_MAX_BODY_CHARS = 800
_MAX_SENTENCES_CHARS = 300
"""Characters of the stages' descriptions together."""
_MAX_SENTENCE_CHARS = 120
"""Characters of one of them: its first words say what the stage is."""
_MAX_NAMES_CHARS = 245
"""Characters of the names of all stages, and of those of all items."""


def workflow_text(
    workflow: WorkflowDraft | Workflow, names: Mapping[str, str] | None = None
) -> str:
    """What search reads of a workflow: name, tags, description; stages, names of its prompts.

    Args:
        workflow: a stored workflow, or one that is to be written.
        names: for a draft, the names of the items that it only refers to, by their ids.

    Returns:
        At most :data:`MAX_TEXT_CHARS` characters, without control characters.
    """
    told = names or {}
    stages = [each.name for each in workflow.stages]
    items = [_named(item, told) for each in workflow.stages for item in each.items]
    said = [_cut(each.description, _MAX_SENTENCE_CHARS) for each in workflow.stages]
    sentences = _cut(" ".join(filter(None, said)), _MAX_SENTENCES_CHARS).rstrip(".")
    body = (sentences, _listed(stages), _listed(items))
    return _text(workflow, ". ".join(filter(None, body)))


def skill_text(skill: SkillDraft | Skill) -> str:
    """What search reads of a skill card: name, tags, description, the beginning of its text.

    Returns:
        At most :data:`MAX_TEXT_CHARS` characters, without control characters.
    """
    return _text(skill, skill.content)


def clean(text: str | None) -> str:
    """A text on one line: all that is not printed is a space, and spaces are never two."""
    if not text:
        return ""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def head_and_body(text: str) -> tuple[str, str]:
    """The two parts of such a text that the model reads: what the item is called and says of
    itself, and what there is inside, which may be nothing. Tags are for words alone."""
    name, _, described, body = (text.split("\n", 3) + [""] * 3)[:4]
    return ". ".join(filter(None, (name, described))), body


def _text(said: WorkflowDraft | Workflow | SkillDraft | Skill, body: str) -> str:
    lines = [
        _cut(said.name, limits.MAX_NAME_CHARS),
        _cut(", ".join(said.tags), _MAX_TAGS_CHARS),
        _cut(said.description, _MAX_DESCRIPTION_CHARS),
        _cut(body, _MAX_BODY_CHARS),
    ]
    return "\n".join(lines).rstrip()


def _cut(text: str | None, most: int) -> str:
    """The beginning of a text, where it can be without a broken word."""
    whole = clean(text[: 4 * most] if text else None)
    if len(whole) <= most:
        return whole
    beginning, space, _ = whole[: most + 1].rpartition(" ")
    return beginning if space else whole[:most]


def _listed(names: Sequence[str]) -> str:
    return _cut(", ".join(filter(None, dict.fromkeys(names))), _MAX_NAMES_CHARS)


def _named(item: StageItemDraft | StageItem, told: Mapping[str, str]) -> str:
    if isinstance(item, StageItem):
        return item.item.name
    if isinstance(item.what, PromptDraft):
        return item.what.name
    return told.get(item.what.id, "")
