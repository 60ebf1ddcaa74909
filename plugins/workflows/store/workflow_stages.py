"""The stages of a workflow: as they are, as a draft wants them, and writing them."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import and_, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows import errors
from plugins.workflows.ids import derived_id, new_id
from plugins.workflows.inputs import PromptDraft, Reference, StageDraft
from plugins.workflows.model import PORTAL, AutoPrompt, StageSettings, TargetType, stage_settings
from plugins.workflows.store import mini_prompts
from plugins.workflows.store.change import Change
from plugins.workflows.store.kinds import STAGE_TABLES, TABLES, TYPE_NAMES
from plugins.workflows.store.mini_prompts import NamedItem, OwningWorkflow
from plugins.workflows.store.tables import stages
from plugins.workflows.store.visibility import visible


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item at its place in a stage."""

    type: TargetType
    id: str
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStage(StageSettings):
    """A stage as its rows are."""

    id: str
    items: tuple[StoredItem, ...]


async def read_stages(connection: AsyncConnection, workflow: str) -> list[StoredStage]:
    """The stages of a workflow as they are, with everything in them: nothing to be shown."""
    query = select(stages).where(stages.c.workflow == workflow).order_by(stages.c.position)
    rows = (await connection.execute(query)).all()
    items: dict[str, list[tuple[int, StoredItem]]] = {}
    for type, (places, item) in STAGE_TABLES.items():
        columns = (places.c.stage, places.c.position, item.label("item"), places.c.extra)
        joined = places.join(stages, stages.c.id == places.c.stage)
        found = select(*columns).select_from(joined).where(stages.c.workflow == workflow)
        for row in await connection.execute(found):
            placed = (row.position, StoredItem(type, row.item, row.extra))
            items.setdefault(row.stage, []).append(placed)
    return [
        StoredStage(
            **stage_settings(row),
            id=row.id,
            items=tuple(each for _, each in sorted(items.get(row.id, ()), key=lambda x: x[0])),
        )
        for row in rows
    ]


def prompt_ids(arranged: Iterable[StoredStage]) -> frozenset[str]:
    """The ids of the mini-prompts in stages."""
    items = (item for stage in arranged for item in stage.items)
    return frozenset(item.id for item in items if item.type is TargetType.MINI_PROMPT)


async def prepare_stages(
    change: Change,
    workflow: str,
    home: OwningWorkflow,
    drafts: Sequence[StageDraft],
    before: Sequence[StoredStage] = (),
    *,
    keep_unseen: bool = False,
) -> list[StoredStage]:
    """Write the mini-prompts of stages, and give the stages as they are to be.

    Args:
        change: the transaction.
        workflow: the workflow's id.
        home: what its mini-prompts get from it.
        drafts: the stages that are wished.
        before: those that are there.
        keep_unseen: whether stages keep what their writer does not see in them.

    Raises:
        ToolFailed: an item or a stage that is referred to is not there, or not to be seen.
    """
    places = [
        (f"stages[{s}].items[{n}]", item.what)
        for s, stage in enumerate(drafts)
        for n, item in enumerate(stage.items)
    ]
    found = await _resolve_references(
        change, [(w, each) for w, each in places if isinstance(each, Reference)]
    )
    new = [(where, each) for where, each in places if isinstance(each, PromptDraft)]
    written = deque(await mini_prompts.write(change, home, new))
    ids = _stage_ids(workflow, change.writer.person, drafts, before)
    unseen = await _hidden_items(change, before) if keep_unseen else {}
    arranged = []
    for id, stage in zip(ids, drafts, strict=True):
        named: list[NamedItem] = []
        placed: list[StoredItem] = []
        for item in stage.items:
            if isinstance(item.what, Reference):
                type, each = item.what.type, found[item.what]
            else:
                type, each = TargetType.MINI_PROMPT, written.popleft()
            named.append(each)
            placed.append(StoredItem(type, each.id, item.extra))
        for position, hidden in unseen.get(id, ()):
            placed.insert(position, hidden)
        settings = stage_settings(stage)
        if stage.item_order is not None:
            settings["item_order"] = _order_in_ids(stage.item_order, named)
        arranged.append(StoredStage(**settings, id=id, items=tuple(placed)))
    return arranged


async def _hidden_items(
    change: Change, before: Sequence[StoredStage]
) -> dict[str, list[tuple[int, StoredItem]]]:
    """What the stages hold that others have taken back: the writer sees it not, and it stays."""
    seen: set[str] = set()
    for type in STAGE_TABLES:
        table, ids = TABLES[type], {i.id for s in before for i in s.items if i.type is type}
        there = or_(visible(table, change.writer.person), table.c.deleted.is_not(None))
        query = select(table.c.id).where(table.c.id.in_(sorted(ids)), there)
        seen |= set(await change.connection.scalars(query)) if ids else set()
    return {
        stage.id: [(n, item) for n, item in enumerate(stage.items) if item.id not in seen]
        for stage in before
    }


def merge_left_out(
    after: Sequence[StoredStage], before: Sequence[StoredStage], removed: Collection[str]
) -> list[StoredStage]:
    """The stages of an edit, and those that it left out: each behind the one it stood behind.

    Args:
        after: the stages that the edit names, in its order.
        before: those that are there.
        removed: the ids of those that are to go.

    Raises:
        ToolFailed: one of them is not there, or is among the stages of the edit.
    """
    named = {each.id for each in after}
    for id in removed:
        if id in named or id not in {each.id for each in before}:
            why = "is among the stages of this edit" if id in named else "is not there"
            raise errors.bad_input(f"remove_stages: the stage {id} {why}.", place="remove_stages")
    found, behind = list(after), 0
    for stage in before:
        if stage.id in removed:
            continue
        if stage.id not in named:
            found.insert(behind, stage)
        behind = next(n for n, each in enumerate(found) if each.id == stage.id) + 1
    return found


async def replace_stages(change: Change, workflow: str, arranged: Sequence[StoredStage]) -> None:
    """Write the stages of a workflow in place of those that are there.

    Args:
        change: the transaction.
        workflow: its id.
        arranged: the stages, in order.
    """
    if workflow not in change.added:
        await change.connection.execute(delete(stages).where(stages.c.workflow == workflow))
    if not arranged:
        return
    rows = [
        {
            **stage_settings(each),
            "id": each.id,
            "workflow": workflow,
            "position": position,
        }
        for position, each in enumerate(arranged)
    ]
    await change.connection.execute(insert(stages), rows)
    for type, (places, item) in STAGE_TABLES.items():
        held_there = [
            {"stage": stage.id, "position": position, item.name: each.id, "extra": each.extra}
            for stage in arranged
            for position, each in enumerate(stage.items)
            if each.type is type
        ]
        if held_there:
            await change.connection.execute(insert(places), held_there)


async def _resolve_references(
    change: Change, references: Sequence[tuple[str, Reference]]
) -> dict[Reference, NamedItem]:
    """The items that are referred to by id or key, as far as the writer sees them."""
    person = change.writer.person
    found: dict[Reference, NamedItem] = {}
    for type in STAGE_TABLES:
        refs = sorted({each.id for _, each in references if each.type is type})
        if not refs:
            continue
        table = TABLES[type]
        by_key = and_(table.c.key.in_(refs), table.c.owner.in_(sorted({person, PORTAL})))
        query = select(table.c.id, table.c.key, table.c.name, table.c.owner).where(
            visible(table, person), or_(table.c.id.in_(refs), by_key)
        )
        rows = (await change.connection.execute(query)).all()
        # The last one counts: by id, then the writer's own by key, then the portal's.
        rows = sorted(rows, key=lambda row: row.owner == person)
        called = {row.key: row for row in rows if row.owner in (person, PORTAL)}
        called |= {row.id: row for row in rows}
        for ref in refs:
            if ref in called:
                row = called[ref]
                found[Reference(type, ref)] = NamedItem(row.id, row.key, row.name)
    for where, each in references:
        if each not in found:
            raise errors.bad_input(
                f"{where}: {TYPE_NAMES[each.type]} not found: {each.id}. It is not there, or it is "
                "another's and private.",
                place=where,
            )
    return found


def _stage_ids(
    workflow: str, owner: str, drafts: Sequence[StageDraft], before: Sequence[StoredStage]
) -> list[str]:
    """Which stages stay: those that are named by id, and those of the same name."""
    left = {each.id: each.name for each in before}
    ids: list[str | None] = []
    for number, draft in enumerate(drafts):
        if draft.id is not None and left.pop(draft.id, None) is None:
            raise errors.bad_input(
                f"stages[{number}].id: the workflow has no stage {draft.id}, or it is there "
                "twice. For a new stage, leave the id out.",
                place=f"stages[{number}].id",
            )
        ids.append(draft.id)
    for number, draft in enumerate(drafts):
        if ids[number] is None:
            same = next((id for id, name in left.items() if name == draft.name), None)
            if same is not None:
                del left[same]
                ids[number] = same
    return [id or _new_stage(workflow, owner, number, before) for number, id in enumerate(ids)]


def _new_stage(workflow: str, owner: str, number: int, before: Sequence[StoredStage]) -> str:
    """The id of a new stage; the portal's follows from its place, so that imports agree."""
    if owner != PORTAL:
        return new_id()
    taken = {each.id for each in before}
    ids = (derived_id("STAGE", workflow, str(number), str(again)) for again in count())
    return next(id for id in ids if id not in taken)


def _order_in_ids(order: Sequence[str], items: Sequence[NamedItem]) -> tuple[str, ...]:
    """An order in ids: keys and names of the stage's items are replaced, all else stays."""
    ids = {each.id for each in items}
    called: dict[str, deque[str]] = {}
    for each in items:
        for word in {each.key, each.name}:
            called.setdefault(word, deque()).append(each.id)
    found = []
    for entry in order:
        if entry in called and entry not in ids and not AutoPrompt.named(entry):
            meant = called[entry]
            found.append(meant[0])
            if len(meant) > 1:  # of two items with one name, each is meant once
                meant.popleft()
        else:
            found.append(entry)
    return tuple(found)
