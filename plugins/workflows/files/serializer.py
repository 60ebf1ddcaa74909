"""Items as the files that an export writes: the form of ``current_format.py``, in one fixed way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from plugins.workflows.files import markdown, yaml_text
from plugins.workflows.files.fields import UNRESOLVED
from plugins.workflows.files.parsed import FOLDERS, KIND_NAMES
from plugins.workflows.model import (
    AutoPrompt,
    Item,
    MiniPrompt,
    Skill,
    Stage,
    StageItem,
    Visibility,
    Workflow,
)


def workflow(item: Workflow) -> str:
    """A workflow as its file; the mini-prompts and cards of its owner have files of their own."""
    front = _front(item, author=item.author, complexity=item.complexity)
    front["visibility"] = item.visibility.value
    front |= _without_empty(
        multi_agent_chat=item.include_multi_agent_chat,
        tags=sorted(item.tags),
        extra=dict(item.extra),
    )
    stages = [_stage(each, item.owner) for each in item.stages]
    return yaml_text.write(front | _without_empty(stages=stages))


def prompt(item: MiniPrompt) -> str:
    """A mini-prompt as its file."""
    hidden = item.visibility if item.visibility is Visibility.PRIVATE else None
    front = _front(item, author=item.author, visibility=hidden, automatic=item.automatic)
    return markdown.write(front, item.content)


def skill(item: Skill) -> str:
    """A skill card as its file."""
    front = _front(item, author=item.author)
    front["visibility"] = item.visibility.value
    files = [{"name": each.name, "type": each.mime_type} for each in item.attachments]
    return markdown.write(front | _without_empty(tags=sorted(item.tags), files=files), item.content)


def _front(item: Item, **more: str | None) -> dict[str, Any]:
    written = {key: str(value) for key, value in more.items() if value is not None}
    return {"name": item.name} | _without_empty(description=item.description) | written


def _without_empty(**values: Any) -> dict[str, Any]:
    """Without what is not said: None, false, and empty lists, texts and mappings."""
    return {key: value for key, value in values.items() if value}


def _stage(stage: Stage, owner: str) -> dict[str, Any]:
    chat = stage.include_multi_agent_chat
    extra = {key: value for key, value in stage.extra.items() if key != UNRESOLVED}
    return {
        "name": stage.name,
        **_without_empty(
            description=stage.description, color=stage.color, review=stage.with_review
        ),
        **({} if chat is None else {"multi_agent_chat": chat}),
        **({} if stage.item_order is None else {"order": _order(stage, owner)}),
        **_without_empty(extra=extra, items=_items(stage, owner)),
    }


def _items(stage: Stage, owner: str) -> list[dict[str, Any]]:
    """The items, and those that are not there at the places where they were written."""
    items = [
        {KIND_NAMES[each.item.type]: _reference(each, owner)}
        | _without_empty(extra=dict(each.extra))
        for each in stage.items
    ]
    unresolved: list[Mapping[str, Any]] = stage.extra.get(UNRESOLVED, [])
    for each in sorted(unresolved, key=lambda one: int(one["at"])):
        items.insert(int(each["at"]), {key: each[key] for key in each if key != "at"})
    return items


def _order(stage: Stage, owner: str) -> list[str]:
    names = _order_names(stage, owner)
    return [names.get(each, each) for each in stage.item_order or ()]


def _order_names(stage: Stage, owner: str) -> dict[str, str]:
    """What the order calls the stage's items: by their keys, where those are clear."""
    items = {each.item.id: each for each in stage.items}
    keys = Counter(each.item.key for each in items.values() if each.item.owner == owner)
    names = {}
    for id_, each in items.items():
        key = each.item.key
        if each.item.owner != owner:
            names[id_] = id_
        elif keys[key] > 1 or AutoPrompt.named(key):
            names[id_] = f"{FOLDERS[each.item.type]}/{key}"
        else:
            names[id_] = key
    return names


def _reference(item: StageItem, owner: str) -> str | dict[str, str]:
    return item.item.key if item.item.owner == owner else {"id": item.item.id}
