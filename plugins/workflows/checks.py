"""Validation of everything that is written, by tools and by imports alike; it also normalizes.

Every function raises ``ToolFailed`` with the place that is wrong, as in
``stages[2].items[0].content``, and writes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from gateway.contract import ToolFailed
from plugins.workflows import limits
from plugins.workflows.errors import bad_input
from plugins.workflows.inputs import (
    AttachmentDraft,
    PromptDraft,
    Reference,
    SkillDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.model import Complexity, TargetType, Visibility

MAX_COLOR_CHARS = 64
"""Characters of a stage's colour."""
MAX_ORDER_ENTRIES = 4 * limits.MAX_STAGE_ITEMS
"""Entries of an ``item_order``."""
MAX_MIME_TYPE_CHARS = 255
MAX_JSON_DEPTH = 32
"""Levels of JSON values inside each other."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BREAK = re.compile(r"[\t\n\u2028\u2029]")
_KEY = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.MAX_KEY_CHARS - 1}}}")
_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;[ -~]*)?")


def workflow(draft: WorkflowDraft) -> WorkflowDraft:
    """A workflow in the form in which it is stored."""
    stages = _at_most(draft.stages, limits.MAX_STAGES, "stages")
    return replace(
        draft,
        name=line(draft.name, "name"),
        description=_optional(draft.description, "description"),
        complexity=None if draft.complexity is None else Complexity(draft.complexity),
        visibility=Visibility(draft.visibility),
        tags=tags(draft.tags),
        stages=tuple(_stage(each, f"stages[{n}]") for n, each in enumerate(stages)),
        extra=json_values(draft.extra, "extra"),
        key=None if draft.key is None else key(draft.key),
    )


def skill(draft: SkillDraft) -> SkillDraft:
    """A skill card in the form in which it is stored."""
    return replace(
        draft,
        name=line(draft.name, "name"),
        content=text(draft.content, "content", limits.MAX_CONTENT_CHARS),
        description=_optional(draft.description, "description"),
        visibility=Visibility(draft.visibility),
        tags=tags(draft.tags),
        attachments=_attachments(draft.attachments),
        key=None if draft.key is None else key(draft.key),
    )


def prompt(draft: PromptDraft, where: str = "") -> PromptDraft:
    """A mini-prompt in the form in which it is stored; ``where`` ends in a dot."""
    return replace(
        draft,
        name=line(draft.name, f"{where}name"),
        content=text(draft.content, f"{where}content", limits.MAX_CONTENT_CHARS),
        description=_optional(draft.description, f"{where}description"),
        id=None if draft.id is None else line(draft.id, f"{where}id"),
        key=None if draft.key is None else key(draft.key, f"{where}key"),
    )


class StageShape(Protocol):
    """The part of a stage that decides how many steps it makes."""

    @property
    def items(self) -> Sequence[Any]:
        """Its items."""
        ...

    @property
    def with_review(self) -> bool:
        """Whether the Memory Board is a step."""
        ...

    @property
    def include_multi_agent_chat(self) -> bool | None:
        """Whether the Internal Agents Chat is one after each item; None as the workflow says."""
        ...


def check_plan_size(stages: Sequence[StageShape], include_multi_agent_chat: bool) -> None:
    """Refuse a workflow whose plan would have too many steps."""
    steps = 0
    for stage in stages:
        chat = stage.include_multi_agent_chat
        chat = include_multi_agent_chat if chat is None else chat
        steps += len(stage.items) * (2 if chat else 1) + bool(stage.with_review)
    if steps > limits.MAX_PLAN_STEPS:
        raise _refused(
            "stages",
            f"the plan would have {steps} steps; at most {limits.MAX_PLAN_STEPS} are taken. "
            "Make two workflows of it.",
        )


def line(value: str, where: str, most: int = limits.MAX_NAME_CHARS) -> str:
    """A single line, not empty, without surrounding spaces.

    Args:
        value: as it was given.
        where: its place, for the refusal.
        most: how many characters it may have.
    """
    value = text(value, where, most).strip()
    if not value:
        raise _refused(where, "is empty. Give it a text.")
    if _BREAK.search(value):
        raise _refused(where, "is one line, without tabs or line breaks.")
    return value


def text(value: str, where: str, most: int) -> str:
    """A text of several lines, with ``\\n`` as line ends; HTML is text like any other.

    Args:
        value: as it was given.
        where: its place, for the refusal.
        most: how many characters it may have.
    """
    if len(value) > most:
        raise _refused(where, f"has {len(value):,} characters; at most {most:,} are taken.")
    value = value.replace("\r\n", "\n")
    if wrong := _CONTROL.search(value):
        raise _refused(
            where,
            f"has the control character U+{ord(wrong[0]):04X} at position {wrong.start()}. Only "
            "tabs and line breaks are taken.",
        )
    return value


def tags(values: Sequence[str]) -> tuple[str, ...]:
    """Tags: in lower case, each once, in the order of the alphabet."""
    _at_most(values, limits.MAX_TAGS, "tags")
    found = (
        line(each, f"tags[{n}]", limits.MAX_TAG_CHARS).casefold() for n, each in enumerate(values)
    )
    return tuple(sorted(set(found)))


def key(value: str, where: str = "key") -> str:
    """A key: the short name used in addresses and file names."""
    if not _KEY.fullmatch(value):
        raise _refused(
            where,
            f"is 1 to {limits.MAX_KEY_CHARS} letters (a to z), digits, dots, hyphens and "
            "underscores, and begins with a letter or a digit.",
        )
    return value


def json_values(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Free ``extra`` values as plain JSON, without control characters in texts."""
    try:
        written = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
        read: dict[str, Any] = json.loads(written)
        size = len(written.encode("utf-8", "surrogatepass"))
        if size > limits.MAX_EXTRA_BYTES:
            raise _refused(
                where, f"has {size:,} bytes; at most {limits.MAX_EXTRA_BYTES:,} are taken."
            )
        _plain(read, where)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(where, f"holds what is no JSON ({error}).") from error
    return read


def _plain(value: Any, where: str, depth: int = 0) -> None:
    if depth > MAX_JSON_DEPTH:
        raise _refused(where, f"nests more than {MAX_JSON_DEPTH} levels deep.")
    if isinstance(value, str):
        text(value, where, limits.MAX_EXTRA_BYTES)
    elif isinstance(value, dict):
        for name, each in value.items():
            text(name, where, limits.MAX_EXTRA_BYTES)
            _plain(each, f"{where}.{name}", depth + 1)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _plain(each, f"{where}[{number}]", depth + 1)


def _stage(stage: StageDraft, where: str) -> StageDraft:
    items = _at_most(stage.items, limits.MAX_STAGE_ITEMS, f"{where}.items")
    order = stage.item_order
    if order is not None:
        _at_most(order, MAX_ORDER_ENTRIES, f"{where}.item_order")
        order = tuple(line(each, f"{where}.item_order[{n}]") for n, each in enumerate(order))
    color = stage.color
    return replace(
        stage,
        name=line(stage.name, f"{where}.name"),
        description=_optional(stage.description, f"{where}.description"),
        color=None if color is None else line(color, f"{where}.color", MAX_COLOR_CHARS),
        items=tuple(_item(each, f"{where}.items[{n}]") for n, each in enumerate(items)),
        item_order=order,
        extra=json_values(stage.extra, f"{where}.extra"),
        id=None if stage.id is None else line(stage.id, f"{where}.id"),
    )


def _item(item: StageItemDraft, where: str) -> StageItemDraft:
    what = item.what
    if isinstance(what, Reference):
        what = replace(what, id=line(what.id, f"{where}.id"))
        if what.type is TargetType.WORKFLOW:
            raise _refused(where, "a stage holds no workflow.")
    else:
        what = prompt(what, f"{where}.")
    return StageItemDraft(what, json_values(item.extra, f"{where}.extra"))


def _attachments(files: Sequence[AttachmentDraft]) -> tuple[AttachmentDraft, ...]:
    _at_most(files, limits.MAX_ATTACHMENTS, "attachments")
    names: set[str] = set()
    for number, each in enumerate(files):
        where = f"attachments[{number}]"
        name = line(each.name, f"{where}.name")
        if name in (".", "..") or "/" in name or "\\" in name or name != each.name:
            raise _refused(f"{where}.name", "is the name of one file, without a path.")
        if name in names:
            raise _refused(f"{where}.name", f"{name} is there twice.")
        names.add(name)
        _file(each, where)
    return tuple(files)


def _file(file: AttachmentDraft, where: str) -> None:
    if len(file.mime_type) > MAX_MIME_TYPE_CHARS or not _MIME_TYPE.fullmatch(file.mime_type):
        raise _refused(f"{where}.mime_type", "is a media type such as text/plain.")
    if len(file.data) > limits.MAX_ATTACHMENT_BYTES:
        size = f"{len(file.data):,} bytes; at most {limits.MAX_ATTACHMENT_BYTES:,} are taken."
        raise _refused(where, f"has {size}")


def _optional(value: str | None, where: str) -> str | None:
    return None if value is None else text(value, where, limits.MAX_DESCRIPTION_CHARS)


def _at_most(values: Sequence[Any], most: int, where: str) -> Sequence[Any]:
    if len(values) > most:
        raise _refused(where, f"has {len(values):,}; at most {most:,} are taken.")
    return values


def _refused(where: str, reason: str) -> ToolFailed:
    return bad_input(f"{where}: {reason}", place=where)
