"""What may be written, whoever writes it: drafts are checked whole, and put into one form.

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
from plugins.workflows.drafts import (
    AttachmentDraft,
    PromptDraft,
    Reference,
    SkillDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.errors import bad_input
from plugins.workflows.model import Complexity, TargetType, Visibility

COLOR = 64
"""Characters of a stage's colour."""
ORDER = 4 * limits.STAGE_ITEMS
"""Entries of an ``item_order``."""
MIME_TYPE = 255
DEPTH = 32
"""Levels of JSON values inside each other."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BREAK = re.compile(r"[\t\n\u2028\u2029]")
_KEY = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{limits.KEY - 1}}}")
_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;[ -~]*)?")


def workflow(draft: WorkflowDraft) -> WorkflowDraft:
    """A workflow in the form in which it is stored."""
    stages = _counted(draft.stages, limits.STAGES, "stages")
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
        content=text(draft.content, "content", limits.CONTENT),
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
        content=text(draft.content, f"{where}content", limits.CONTENT),
        description=_optional(draft.description, f"{where}description"),
        id=None if draft.id is None else line(draft.id, f"{where}id"),
        key=None if draft.key is None else key(draft.key, f"{where}key"),
    )


class Planned(Protocol):
    """A stage, as far as the number of its steps goes."""

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


def plan_size(stages: Sequence[Planned], include_multi_agent_chat: bool) -> None:
    """Refuse a workflow whose plan would have too many steps."""
    steps = 0
    for stage in stages:
        chat = stage.include_multi_agent_chat
        chat = include_multi_agent_chat if chat is None else chat
        steps += len(stage.items) * (2 if chat else 1) + bool(stage.with_review)
    if steps > limits.PLAN_ITEMS:
        raise _refused(
            "stages",
            f"the plan would have {steps} steps; at most {limits.PLAN_ITEMS} are taken. Make two "
            "workflows of it.",
        )


def line(value: str, where: str, most: int = limits.NAME) -> str:
    """A name: one line, not empty, without spaces around it.

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
    """A text of several lines, whose lines end in ``\\n``; HTML is text like any other.

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
    _counted(values, limits.TAGS, "tags")
    found = (line(each, f"tags[{n}]", limits.TAG).casefold() for n, each in enumerate(values))
    return tuple(sorted(set(found)))


def key(value: str, where: str = "key") -> str:
    """A key: a word that stands in addresses and file names."""
    if not _KEY.fullmatch(value):
        raise _refused(
            where,
            f"is 1 to {limits.KEY} letters (a to z), digits, dots, hyphens and underscores, and "
            "begins with a letter or a digit.",
        )
    return value


def json_values(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What else was said of something: JSON, without control characters in its texts."""
    try:
        written = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
        read: dict[str, Any] = json.loads(written)
        size = len(written.encode("utf-8", "surrogatepass"))
        if size > limits.EXTRA:
            raise _refused(where, f"has {size:,} bytes; at most {limits.EXTRA:,} are taken.")
        _plain(read, where)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(where, f"holds what is no JSON ({error}).") from error
    return read


def _plain(value: Any, where: str, depth: int = 0) -> None:
    if depth > DEPTH:
        raise _refused(where, f"nests more than {DEPTH} levels deep.")
    if isinstance(value, str):
        text(value, where, limits.EXTRA)
    elif isinstance(value, dict):
        for name, each in value.items():
            text(name, where, limits.EXTRA)
            _plain(each, f"{where}.{name}", depth + 1)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _plain(each, f"{where}[{number}]", depth + 1)


def _stage(stage: StageDraft, where: str) -> StageDraft:
    items = _counted(stage.items, limits.STAGE_ITEMS, f"{where}.items")
    order = stage.item_order
    if order is not None:
        _counted(order, ORDER, f"{where}.item_order")
        order = tuple(line(each, f"{where}.item_order[{n}]") for n, each in enumerate(order))
    color = stage.color
    return replace(
        stage,
        name=line(stage.name, f"{where}.name"),
        description=_optional(stage.description, f"{where}.description"),
        color=None if color is None else line(color, f"{where}.color", COLOR),
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
    _counted(files, limits.ATTACHMENTS, "attachments")
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
    if len(file.mime_type) > MIME_TYPE or not _MIME_TYPE.fullmatch(file.mime_type):
        raise _refused(f"{where}.mime_type", "is a media type such as text/plain.")
    if len(file.data) > limits.ATTACHMENT:
        size = f"{len(file.data):,} bytes; at most {limits.ATTACHMENT:,} are taken."
        raise _refused(where, f"has {size}")


def _optional(value: str | None, where: str) -> str | None:
    return None if value is None else text(value, where, limits.DESCRIPTION)


def _counted(values: Sequence[Any], most: int, where: str) -> Sequence[Any]:
    if len(values) > most:
        raise _refused(where, f"has {len(values):,}; at most {most:,} are taken.")
    return values


def _refused(where: str, reason: str) -> ToolFailed:
    return bad_input(f"{where}: {reason}", place=where)
