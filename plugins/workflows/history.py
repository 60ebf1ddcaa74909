"""Older versions of workflows and skill cards: listed, shown, compared and restored.

All of it is for the item's owner alone: what was private in a version stays so, however public the
item is by now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database, Objects
from plugins.workflows import errors
from plugins.workflows.files import yaml_text
from plugins.workflows.inputs import (
    AttachmentDraft,
    PromptDraft,
    Reference,
    StageDraft,
    StageItemDraft,
    Writer,
)
from plugins.workflows.model import Complexity, Revision, Skill, TargetType, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store import attachments, revisions, version_contents
from plugins.workflows.store.kinds import TABLES, TYPE_NAMES, enum_or_none
from plugins.workflows.store.queries import find, snapshot
from plugins.workflows.store.version_contents import Content
from plugins.workflows.store.visibility import visible

_WORKFLOW, _SKILL, _PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored item, and what the older version had that no longer exists."""

    item: Workflow | Skill
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Available:
    """Which items of a version still exist: those its owner may use, and their own prompts."""

    usable: frozenset[str]
    own: frozenset[str]


class History:
    """The versions of a person's items.

    Args:
        database: the plugin's database.
        objects: where the bytes of files are.
        playbook: writes what is restored.
    """

    def __init__(self, database: Database, objects: Objects, playbook: Playbook) -> None:
        self._database, self._objects, self._playbook = database, objects, playbook

    async def versions(
        self, type: TargetType, ref: str, person: str
    ) -> tuple[str, Sequence[Revision]]:
        """An item's id, and its kept versions, the oldest first.

        Raises:
            ToolFailed: there is no such item, or it is another's.
        """
        async with snapshot(self._database) as connection:
            id, _ = await _own(connection, type, ref, person)
            return id, await revisions.since(connection, type, id, 0)

    async def content(self, type: TargetType, ref: str, version: int, person: str) -> Content:
        """What an item said in a version.

        Raises:
            ToolFailed: as :meth:`versions`; or there was no such version, or it is not kept.
        """
        async with snapshot(self._database) as connection:
            id, current = await _own(connection, type, ref, person)
            if version > current:
                raise errors.no_version(TYPE_NAMES[type], version, current)
            found = await version_contents.read(connection, type, id, version)
            if found is None:
                raise errors.version_not_kept(TYPE_NAMES[type], version)
            return found

    async def compare(
        self, type: TargetType, ref: str, versions: tuple[int, int], person: str
    ) -> str:
        """What changed from one version to another, as a unified diff of their YAML.

        Raises:
            ToolFailed: as :meth:`content`.
        """
        old, new = [await self._lines(type, ref, each, person) for each in versions]
        before, after = [f"version {each}" for each in versions]
        return "\n".join(unified_diff(old, new, before, after, lineterm=""))

    async def _lines(self, type: TargetType, ref: str, version: int, person: str) -> list[str]:
        return yaml_text.write(dict(await self.content(type, ref, version, person))).splitlines()

    async def restore(
        self, type: TargetType, ref: str, version: int, to: int, writer: Writer
    ) -> Restored:
        """Write an item as it was in an older version, which makes a new version of it.

        Who sees it stays as it is: nothing is published by being restored.

        Args:
            type: a workflow or a skill card.
            ref: its id or key.
            version: the current version, as the writer has read it.
            to: the older version.
            writer: its owner.

        Raises:
            ToolFailed: as :meth:`content`; or it has changed since it was read.
        """
        content = await self.content(type, ref, to, writer.person)
        if type is _SKILL:
            return await self._restore_skill(ref, version, content, writer)
        return await self._restore_workflow(ref, version, content, writer)

    async def _restore_skill(
        self, ref: str, version: int, content: Content, writer: Writer
    ) -> Restored:
        files, missing = [], []
        for each in content["attachments"]:
            data = await attachments.load(self._objects, each["digest"])
            if data is None:
                missing.append(f"the file {each['name']}")
            else:
                files.append(AttachmentDraft(each["name"], each["mime_type"], data))
        changes = {name: content[name] for name in ("name", "description", "content")}
        changes |= {"tags": tuple(content["tags"]), "attachments": tuple(files)}
        item = await self._playbook.edit_skill(writer, ref, version, changes)
        return Restored(item, tuple(missing))

    async def _restore_workflow(
        self, ref: str, version: int, content: Content, writer: Writer
    ) -> Restored:
        before = await self._playbook.workflow(ref, writer.person)
        async with self._database.read() as connection:
            there = await _available(connection, content, writer.person)
        held = {each.id for each in before.stages}
        missing = [
            f"the {TYPE_NAMES[_SKILL].lower()} {item['name']}"
            for stage in content["stages"]
            for item in stage["items"]
            if item["type"] == _SKILL and item["id"] not in there.usable
        ]
        names = ("name", "description", "include_multi_agent_chat", "extra")
        changes = {name: content[name] for name in names} | {
            "complexity": enum_or_none(Complexity, content["complexity"]),
            "tags": tuple(content["tags"]),
            "stages": tuple(_stage(each, there, held) for each in content["stages"]),
        }
        new = held - {each["id"] for each in content["stages"]}
        item = await self._playbook.edit_workflow(writer, ref, version, changes, new)
        return Restored(item, tuple(dict.fromkeys(missing)))


async def _own(
    connection: AsyncConnection, type: TargetType, ref: str, person: str
) -> tuple[str, int]:
    found = await find(connection, type, ref, person)
    if found.owner != person:
        raise errors.not_yours(TYPE_NAMES[type])
    return found.id, found.version


async def _available(connection: AsyncConnection, content: Content, person: str) -> _Available:
    usable: set[str] = set()
    own: set[str] = set()
    for type in (_PROMPT, _SKILL):
        table = TABLES[type]
        ids = {i["id"] for s in content["stages"] for i in s["items"] if i["type"] == type}
        query = select(table.c.id, table.c.owner)
        rows = await connection.execute(
            query.where(and_(visible(table, person), table.c.id.in_(sorted(ids))))
        )
        for row in rows:
            usable.add(row.id)
            if type is _PROMPT and row.owner == person:
                own.add(row.id)
    return _Available(frozenset(usable), frozenset(own))


def _stage(stage: Mapping[str, Any], there: _Available, held: set[str]) -> StageDraft:
    items = [each for each in stage["items"] if _is_there(each, there)]
    # A prompt that is written anew gets another id; an order calls it by its name.
    anew = {each["id"]: each["name"] for each in items if each["id"] not in there.usable}
    order = stage["item_order"]
    plain = ("name", "description", "color", "with_review", "include_multi_agent_chat", "extra")
    return StageDraft(
        **{name: stage[name] for name in plain},
        items=tuple(StageItemDraft(_what(each, there), each["extra"]) for each in items),
        item_order=None if order is None else tuple(anew.get(each, each) for each in order),
        id=stage["id"] if stage["id"] in held else None,
    )


def _is_there(item: Mapping[str, Any], there: _Available) -> bool:
    return item["type"] == _PROMPT or item["id"] in there.usable


def _what(item: Mapping[str, Any], there: _Available) -> PromptDraft | Reference:
    """The owner's prompt with the old text; anyone else's as it is now."""
    type, id = TargetType(item["type"]), item["id"]
    if type is _SKILL or (id in there.usable and id not in there.own):
        return Reference(type, id)
    words = {name: item[name] for name in ("name", "content", "description")}
    return PromptDraft(**words, id=id if id in there.own else None)
