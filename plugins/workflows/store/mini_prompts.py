"""Writing mini-prompts: those of a workflow, and those that stand alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import Row, and_, exists, or_, select, update

from plugins.workflows import errors, limits
from plugins.workflows.ids import new_id, slug
from plugins.workflows.inputs import PromptDraft
from plugins.workflows.model import FORMER, PORTAL, AutoPrompt, TargetType, Visibility
from plugins.workflows.store.change import Change
from plugins.workflows.store.items import own_item
from plugins.workflows.store.keys import new_item_id
from plugins.workflows.store.tables import mini_prompts, stage_mini_prompts, stages, workflows
from plugins.workflows.store.visibility import visible

PutOutcome: TypeAlias = Literal["added", "updated", "unchanged"]
"""What an import did to an item."""
_KIND = TargetType.MINI_PROMPT
_TEXT_COLUMNS = ("name", "content", "description")
_SUFFIX_CHARS = 8
"""Characters that are put behind a key that is taken."""


@dataclass(frozen=True, slots=True)
class OwningWorkflow:
    """The workflow that mini-prompts are written with.

    Attributes:
        key: the workflow's.
        visibility: the workflow's, as it will be.
        held: the ids of the mini-prompts in it so far.
        by_key: whether a mini-prompt without id and key gets a key that follows from its name,
            so that an import finds it again.
    """

    key: str
    visibility: Visibility
    held: frozenset[str] = frozenset()
    by_key: bool = False


class NamedItem(NamedTuple):
    """An item, and what an ``item_order`` may call it."""

    id: str
    key: str
    name: str


class _OwnPrompts:
    """The writer's mini-prompts that drafts may mean."""

    def __init__(self, rows: Sequence[Row[Any]], held: Collection[str]) -> None:
        self._by_id = {row.id: row for row in rows}
        self._by_key = {row.key: row for row in rows}
        self._held = [row for row in rows if row.id in held]
        self._meant: dict[str, PromptDraft] = {}

    def meant(self, draft: PromptDraft, where: str) -> Row[Any] | None:
        """The one that a draft means; without an id and a key, one with the same words."""
        if draft.id is not None:
            row = self._by_id.get(draft.id) or self._by_key.get(draft.id)
        elif draft.key is not None:
            row = self._by_key.get(draft.key)
        else:
            row = next((each for each in self._held if self._is_same(each, draft)), None)
        if row is not None or draft.key is not None:
            self._mean(draft.key if row is None else row.id, draft, where)
        return row

    def _mean(self, which: str | None, draft: PromptDraft, where: str) -> None:
        if _texts(self._meant.setdefault(which or "", draft)) != _texts(draft):
            raise errors.bad_input(
                f"{where}: the mini-prompt {which} is there twice, with different words.",
                place=where,
            )

    def _is_same(self, row: Row[Any], draft: PromptDraft) -> bool:
        same = all(getattr(row, each) == getattr(draft, each) for each in _TEXT_COLUMNS)
        return same and row.id not in self._meant


async def write(
    change: Change, home: OwningWorkflow, drafts: Sequence[tuple[str, PromptDraft]]
) -> list[NamedItem]:
    """Write the mini-prompts of a workflow: new ones, and new words for those that are there.

    Args:
        change: the transaction.
        home: the workflow.
        drafts: each with the place in the workflow's draft where it stands.

    Raises:
        ToolFailed: one is named by its id that is not there, or not the writer's.
    """
    if home.by_key:
        drafts = list(_with_keys(home.key, drafts))
    there = _OwnPrompts(await _own_rows(change, home, [each for _, each in drafts]), home.held)
    named: dict[int, NamedItem] = {}
    new: list[int] = []
    # Those that are named come first: a draft without an id means none of them.
    for number in sorted(range(len(drafts)), key=lambda n: drafts[n][1].id is None):
        where, draft = drafts[number]
        row = there.meant(draft, where)
        if row is not None:
            await _reword(change, row, draft)
            named[number] = NamedItem(row.id, row.key, draft.name)
        elif draft.id is not None:
            named[number] = await _foreign(change, draft, where)
        else:
            new.append(number)
    new.sort()
    added = await _add(change, home, [drafts[number][1] for number in new])
    named |= dict(zip(new, added, strict=True))
    return [named[number] for number in range(len(drafts))]


async def put(change: Change, draft: PromptDraft) -> PutOutcome:
    """Write a mini-prompt that stands alone, by its key."""
    person = change.writer.person
    if draft.automatic is not None and person != PORTAL:
        raise errors.bad_input("automatic: only the portal has automatic prompts.")
    key = draft.key or slug(draft.name)
    row = await own_item(change, _KIND, key)
    is_public = Visibility.PUBLIC if person == PORTAL else Visibility.PRIVATE
    if row is None:
        values = {"visibility": is_public, "stand_alone": True, "automatic": draft.automatic}
        await _insert(change, [draft], [key], values)
        await _take_over(change, draft.automatic, new_item_id(_KIND, person, key))
        return "added"
    wanted = {each: getattr(draft, each) for each in (*_TEXT_COLUMNS, "automatic")}
    wanted |= {"stand_alone": True, "author": change.writer.name}
    if person == PORTAL:
        wanted["visibility"] = is_public
    values = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    if not values:
        return "unchanged"
    await change.edit(_KIND, row, values, sorted(values))
    change.automatic = change.automatic or row.automatic is not None
    await _take_over(change, draft.automatic, row.id)
    return "updated"


async def sync_with_workflows(change: Change, ids: Collection[str]) -> None:
    """Bring mini-prompts into line with the workflows that use them.

    One that does not stand alone is deleted as soon as no workflow uses it, whoever its owner is.
    The writer's own are PUBLIC while a PUBLIC workflow of theirs uses them. The portal's own that
    stand alone are left as they are, and so is what people left who deleted their accounts.

    Args:
        change: the transaction, in which the workflows are written already.
        ids: the mini-prompts that are, or were, in a workflow that was written.
    """
    ids = set(ids) - change.added  # those fit the workflow that they were written with
    if not ids:
        return
    used = (
        exists()
        .where(stage_mini_prompts.c.mini_prompt == mini_prompts.c.id)
        .where(stages.c.id == stage_mini_prompts.c.stage, workflows.c.id == stages.c.workflow)
        .where(workflows.c.deleted.is_(None))
    )
    published = used.where(
        workflows.c.visibility == Visibility.PUBLIC, workflows.c.owner == mini_prompts.c.owner
    )
    columns: list[Any] = [*mini_prompts.c, used.label("used"), published.label("published")]
    query = select(*columns).where(
        mini_prompts.c.id.in_(sorted(ids)),
        mini_prompts.c.owner != FORMER,
        mini_prompts.c.deleted.is_(None),
    )
    for row in (await change.connection.execute(query)).all():
        wanted = Visibility.PUBLIC if row.published else Visibility.PRIVATE
        is_own = row.owner == change.writer.person
        if not row.used and not row.stand_alone:
            await (change.remove if is_own else change.discard)(_KIND, row)
        elif is_own and row.visibility != wanted and not (row.stand_alone and row.owner == PORTAL):
            await change.edit(_KIND, row, {"visibility": wanted}, ["visibility"])


def _with_keys(
    home: str, drafts: Sequence[tuple[str, PromptDraft]]
) -> Iterator[tuple[str, PromptDraft]]:
    """The drafts, each with a key that is the same at the next import of the same file."""
    taken = {each.key for _, each in drafts}
    for where, draft in drafts:
        if draft.id is None and draft.key is None:
            base = f"{home}-{slug(draft.name)}"[: limits.MAX_KEY_CHARS - _SUFFIX_CHARS - 1]
            numbered = (base if number == 1 else f"{base}-{number}" for number in count(1))
            draft = replace(draft, key=next(each for each in numbered if each not in taken))
            taken.add(draft.key)
        yield where, draft


async def _own_rows(
    change: Change, home: OwningWorkflow, drafts: Sequence[PromptDraft]
) -> Sequence[Row[Any]]:
    ids = home.held | {each.id for each in drafts if each.id is not None}
    keys = {each.key for each in drafts if each.key is not None}
    if not ids and not keys:
        return ()
    meant = or_(mini_prompts.c.id.in_(sorted(ids)), mini_prompts.c.key.in_(sorted(keys)))
    own = and_(mini_prompts.c.owner == change.writer.person, mini_prompts.c.deleted.is_(None))
    query = select(mini_prompts).where(own, meant).order_by(mini_prompts.c.id)
    return (await change.connection.execute(query)).all()


async def _foreign(change: Change, draft: PromptDraft, where: str) -> NamedItem:
    """Another's mini-prompt, with the very words that it has: it is used as it is.

    Raises:
        ToolFailed: there is none, or it was to get other words.
    """
    there = and_(mini_prompts.c.id == draft.id, visible(mini_prompts, change.writer.person))
    row = (await change.connection.execute(select(mini_prompts).where(there))).first()
    if row is None:
        raise errors.bad_input(
            f"{where}: there is no mini-prompt {draft.id} of yours. For a new one, leave the id "
            "out.",
            place=where,
        )
    if any(getattr(row, each) != getattr(draft, each) for each in _TEXT_COLUMNS):
        raise errors.not_yours("Mini-prompt")
    return NamedItem(row.id, row.key, row.name)


async def _reword(change: Change, row: Row[Any], draft: PromptDraft) -> None:
    if row.id in change.touched:
        return  # the same draft was there before
    values = {each: getattr(draft, each) for each in _TEXT_COLUMNS}
    values = {name: value for name, value in values.items() if getattr(row, name) != value}
    if values:
        await change.edit(_KIND, row, values, sorted(values))


async def _add(
    change: Change, home: OwningWorkflow, drafts: Sequence[PromptDraft]
) -> list[NamedItem]:
    keys = [_new_key(draft) for draft in drafts]
    once = dict(zip(keys, drafts, strict=True))
    values = {"visibility": home.visibility, "stand_alone": False, "automatic": None}
    ids = await _insert(change, list(once.values()), list(once), values)
    by_key = dict(zip(once, ids, strict=True))
    return [NamedItem(by_key[key], key, once[key].name) for key in keys]


def _new_key(draft: PromptDraft) -> str:
    """A key for a new mini-prompt; only drafts with the same key of their own share it.

    One that is made says nothing of the workflow, which may be private where the prompt is not,
    and is like no other, so that an export of it takes the place of nothing.
    """
    start = slug(draft.name)[: limits.MAX_KEY_CHARS - _SUFFIX_CHARS - 1]
    return draft.key or f"{start}-{new_id()[:_SUFFIX_CHARS]}"


async def _insert(
    change: Change, drafts: Sequence[PromptDraft], keys: Sequence[str], values: Mapping[str, Any]
) -> list[str]:
    ids = [new_item_id(_KIND, change.writer.person, key) for key in keys]
    rows = [
        {"id": id, "key": key, **{each: getattr(draft, each) for each in _TEXT_COLUMNS}, **values}
        for id, key, draft in zip(ids, keys, drafts, strict=True)
    ]
    if rows:
        await change.add(_KIND, rows)
    return ids


async def _take_over(change: Change, kind: AutoPrompt | None, id: str) -> None:
    """Let one mini-prompt alone be the automatic one of its kind."""
    if kind is None:
        return
    change.automatic = True
    others = and_(mini_prompts.c.automatic == kind, mini_prompts.c.id != id)
    await change.connection.execute(update(mini_prompts).where(others).values(automatic=None))


def _texts(draft: PromptDraft) -> tuple[str | None, ...]:
    return tuple(getattr(draft, each) for each in _TEXT_COLUMNS)
