"""Erasing a person who deleted their account from the playbook (decision 0018).

What is theirs goes; what they published and somebody else uses stays, without their name. A row
that goes is emptied rather than deleted, as others may refer to it: of it stay an id and times.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Text,
    and_,
    delete,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import exclusive, lock_number
from plugins.workflows.model import FORMER, TargetType, Visibility
from plugins.workflows.store import attachments, folders, mini_prompts
from plugins.workflows.store.blanking import blank, ids_of, revisions_of
from plugins.workflows.store.change import Change
from plugins.workflows.store.keys import free_key
from plugins.workflows.store.kinds import STAGE_TABLES, TABLES
from plugins.workflows.store.revisions import FOLDER
from plugins.workflows.store.tables import (
    folder_items,
    library,
    plans,
    revision_files,
    revisions,
    runs,
    stages,
    workflows,
)
from plugins.workflows.store.tables import folders as folder_rows

_WORKFLOW, _SKILL, _PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT
_ORDER = (_WORKFLOW, _SKILL, _PROMPT)
_BLANK_STEP: dict[str, Any] = {
    "name": "",
    "description": None,
    "content": "",
    "attachments": [],
    "extra": {},
}
"""The fields of an erased step of a plan."""
_BATCH_SIZE = 500
"""Values in one statement."""


async def erase(change: Change) -> None:
    """Erase a person from all items and folders, and finish the transaction.

    Args:
        change: one whose writer is that person, without a name, who may publish.
    """
    connection, person = change.connection, change.writer.person
    names = await _names(connection, person)
    placed = _items_in_workflows(_PROMPT).where(workflows.c.owner == person)
    prompts = set(await connection.scalars(placed))
    kept = await _in_use(connection, person)
    await _reclaim(connection, person, kept)
    for type in _ORDER:
        table = TABLES[type]
        theirs = and_(table.c.owner == person, table.c.deleted.is_(None))
        for row in (await connection.execute(select(table).where(theirs))).all():
            if row.id in kept:
                key = await free_key(connection, type, FORMER, None, row.name)
                await change.edit(type, row, {"owner": FORMER, "key": key}, ["author"])
                continue
            if type is _SKILL:
                await attachments.write(change, row.id, ())
            await change.remove(type, row)
    await mini_prompts.sync_with_workflows(change, prompts)
    await change.finish()
    await _anonymize(connection, names, kept)
    await _blank_rows(change)
    await _delete_folders(connection, person)


async def _in_use(connection: AsyncConnection, person: str) -> set[str]:
    """The ids of what others use, of what this person and those before have published.

    Others use what is in their library, folders or workflows, or what they have a run of. What is
    in a workflow that stays is in use too.
    """
    gone = (person, FORMER)
    used: set[str] = set()
    for type in _ORDER:
        table = TABLES[type]
        uses = _references(type, gone)
        public = and_(
            table.c.owner.in_(gone),
            table.c.deleted.is_(None),
            table.c.visibility == Visibility.PUBLIC,
        )
        found = select(table.c.id).where(public, or_(*(table.c.id.in_(each) for each in uses)))
        used |= set(await connection.scalars(found))
        if type in STAGE_TABLES:
            held = (
                _items_in_workflows(type)
                .add_columns(workflows.c.id)
                .where(workflows.c.owner.in_(gone))
            )
            of = dict.fromkeys(await connection.scalars(select(table.c.id).where(public)))
            rows = await connection.execute(held)
            used |= {item for item, workflow in rows if workflow in used and item in of}
    return used


def _references(type: TargetType, gone: Sequence[str]) -> list[Select[Any]]:
    """The references to items by people who are still here."""
    shelved = folder_items.join(folder_rows, folder_rows.c.id == folder_items.c.folder)
    found: list[Select[Any]] = [
        select(library.c.target).where(library.c.type == type, library.c.person.not_in(gone)),
        select(folder_items.c.target)
        .select_from(shelved)
        .where(folder_items.c.type == type, folder_rows.c.deleted.is_(None))
        .where(folder_rows.c.owner.not_in(gone)),
    ]
    if type is _WORKFLOW:
        found.append(select(runs.c.workflow).where(runs.c.person.not_in(gone)))
    if type in STAGE_TABLES:
        found.append(_items_in_workflows(type).where(workflows.c.owner.not_in(gone)))
    return found


def _items_in_workflows(type: TargetType) -> Select[Any]:
    """The items in workflows that are there."""
    places, item = STAGE_TABLES[type]
    joined = places.join(stages, stages.c.id == places.c.stage).join(
        workflows, workflows.c.id == stages.c.workflow
    )
    return select(item).select_from(joined).where(workflows.c.deleted.is_(None))


async def _reclaim(connection: AsyncConnection, person: str, kept: Collection[str]) -> None:
    """Also erase what earlier leavers left behind and nobody uses any more."""
    for type in _ORDER:
        table = TABLES[type]
        left = select(table.c.id).where(table.c.owner == FORMER, table.c.deleted.is_(None))
        unused = sorted(set(await connection.scalars(left)) - set(kept))
        for some in _batches(unused):
            taken = update(table).where(table.c.id.in_(some))
            await connection.execute(taken.values(owner=person, key=table.c.id))


async def _names(connection: AsyncConnection, person: str) -> list[str]:
    """The names that the person has written under."""
    found: set[str | None] = set()
    for type in _ORDER:
        table = TABLES[type]
        mine = table.c.owner == person
        found |= set(await connection.scalars(select(table.c.author).where(mine).distinct()))
        if type is not _WORKFLOW:  # of these nobody but the owner ever writes a version
            of = revisions_of(type, select(table.c.id).where(mine))
            found |= set(await connection.scalars(select(revisions.c.by).where(of).distinct()))
    return sorted(each for each in found if each is not None)


async def _anonymize(
    connection: AsyncConnection, names: Sequence[str], kept: Collection[str]
) -> None:
    """Remove the person's name from the histories of what stays.

    Whoever else has that name loses it there too: a history says no more than a name.
    """
    nameless = update(revisions).values(by=None)
    for some in _batches(names):
        await connection.execute(nameless.where(revisions.c.by.in_(some)))
    silent = update(revisions).values(by=None, content=None)  # what it once said was theirs alone
    for some in _batches(sorted(kept)):
        await connection.execute(silent.where(revisions.c.target.in_(some)))
        old = delete(revision_files).where(revision_files.c.skill.in_(some))
        await connection.execute(old)


async def _blank_rows(change: Change) -> None:
    """Empty every row that is still the person's: those deleted now, and those long before."""
    connection, person = change.connection, change.writer.person

    def theirs(_: TargetType, table: Table) -> ColumnElement[bool]:
        mine: ColumnElement[bool] = table.c.owner == person
        return mine

    erased: set[str] = set()
    for ids in ids_of(theirs).values():
        erased |= set(await connection.scalars(ids))
    await _scrub_plans(connection, person, erased)
    await blank(change, theirs)


async def _scrub_plans(connection: AsyncConnection, person: str, erased: Collection[str]) -> None:
    """Take the person, and the words of what goes, out of the plans that others' runs follow.

    The steps stay, so that a run keeps its place; nobody was shown what goes any more.
    """
    text = type_coerce(plans.c.plan, Text).label("text")
    rows = (await connection.execute(select(plans.c.workflow, plans.c.version, text))).all()
    for workflow, version, written in rows:
        try:
            plan = json.loads(written)
            mine = [each for each in plan["items"] if each["owner"] == person]
        except (ValueError, KeyError, TypeError):
            continue  # damaged, and shown to nobody
        for each in mine:
            each |= {"owner": FORMER} | (_BLANK_STEP if each["id"] in erased else {})
        if mine:
            this = and_(plans.c.workflow == workflow, plans.c.version == version)
            await connection.execute(update(plans).where(this).values(plan=plan))


async def _delete_folders(connection: AsyncConnection, person: str) -> None:
    """Delete the person's folders, and their library."""
    await exclusive(connection, lock_number("playbook", folders.lock_key(person)))
    mine = folder_rows.c.owner == person
    ids = select(folder_rows.c.id).where(mine)
    await connection.execute(delete(revisions).where(revisions_of(FOLDER, ids)))
    await connection.execute(update(folder_rows).where(mine).values(parent=None))
    await connection.execute(delete(folder_rows).where(mine))
    await connection.execute(delete(library).where(library.c.person == person))


def _batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _BATCH_SIZE):
        yield values[start : start + _BATCH_SIZE]
