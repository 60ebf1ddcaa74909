"""Items found by id or key, and listed; every query contains who may see what."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    false,
    func,
    literal,
    null,
    or_,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.workflows import checks, errors, limits
from plugins.workflows.model import (
    PORTAL,
    Complexity,
    Item,
    Summary,
    TargetType,
    Viewer,
    Visibility,
)
from plugins.workflows.store.kinds import TABLES, TAG_TABLES, TYPE_NAMES, enum_or_none
from plugins.workflows.store.tables import library
from plugins.workflows.store.visibility import not_hidden, visible

Scope = Literal["all", "mine", "library"]
ITEM_COLUMNS = tuple(each.name for each in fields(Item))
"""The columns of :func:`item_fields`."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What the items of a search or list must be.

    Attributes:
        tags: they have all of these.
        complexity: how large workflows are, or None for any; nothing else has a size.
        scope: ``all`` that the viewer sees, ``mine`` for their own, or their ``library``.
    """

    tags: Sequence[str] = ()
    complexity: Complexity | None = None
    scope: Scope = "all"


ALL = Filters()
_TAG_SEPARATOR = "\n"
"""Stands between tags, none of which holds it."""
REFERENCE = re.compile(rf"[A-Za-z0-9._-]{{1,{limits.MAX_KEY_CHARS}}}")


@asynccontextmanager
async def snapshot(database: Database) -> AsyncGenerator[AsyncConnection]:
    """A connection all of whose queries see the database as it is at the first of them."""
    async with database.engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execution_options(isolation_level="REPEATABLE READ")
        yield connection


async def find(
    connection: AsyncConnection, type: TargetType, ref: str, viewer: Viewer, *, whole: bool = False
) -> Row[Any]:
    """The id, owner and version of an item that somebody names.

    Args:
        connection: to read with.
        type: what kind of item it is.
        ref: its id; or its key, if it is the viewer's own or the portal's.
        viewer: who names it.
        whole: whether all its columns are wanted.

    Raises:
        ToolFailed: there is none; or it was named by its id, and is another's private one.
    """
    if not REFERENCE.fullmatch(ref):
        raise errors.not_found(TYPE_NAMES[type])
    values = {"ref": ref} if viewer is None else {"ref": ref, "viewer": viewer}
    query = _find_query(type, viewer is None, whole)
    rows = (await connection.execute(query, values)).all()
    if not rows:
        raise errors.not_found(TYPE_NAMES[type])
    nearest: Row[Any] = min(
        rows, key=lambda row: (not row.seen, row.id != ref, row.owner != viewer)
    )
    if not nearest.seen:
        raise errors.private(TYPE_NAMES[type])
    return nearest


@cache
def _find_query(type: TargetType, anonymous: bool, whole: bool) -> Select[Any]:
    """The query of :func:`find`, made once: building it takes longer than running it."""
    table = TABLES[type]
    viewer: Any = None if anonymous else bindparam("viewer", type_=Text)
    ref = bindparam("ref", type_=Text)
    seen = visible(table, viewer)
    nearby = table.c.owner == PORTAL
    if not anonymous:
        nearby = or_(nearby, table.c.owner == viewer)
    columns = [*table.c] if whole else [table.c.id, table.c.owner, table.c.version]
    by_key = and_(table.c.key == ref, nearby, seen)
    there = not_hidden(table) if anonymous else or_(not_hidden(table), table.c.owner == viewer)
    return select(*columns, seen.label("seen")).where(
        table.c.deleted.is_(None), there, or_(table.c.id == ref, by_key)
    )


async def summaries(
    connection: AsyncConnection,
    type: TargetType,
    ids: Iterable[str],
    viewer: Viewer,
    filters: Filters,
) -> list[Summary]:
    """Items as lists show them, by name; one query.

    Args:
        connection: to read with.
        type: what kind of items they are.
        ids: which ones; what cannot be an id is none.
        viewer: who looks.
        filters: what they must be.
    """
    values: dict[str, Any] = {"ids": [each for each in ids if REFERENCE.fullmatch(each)]}
    if viewer is not None:
        values["viewer"] = viewer
    if filters.tags:
        values["tags"] = wanted = checks.tags(filters.tags)
        values["count"] = len(wanted)
    if filters.complexity is not None and type is TargetType.WORKFLOW:
        values["complexity"] = filters.complexity
    is_sized = filters.complexity is not None
    query = _summaries_query(type, viewer is None, bool(filters.tags), is_sized, filters.scope)
    return _summaries(type, await connection.execute(query, values))


@cache
def _summaries_query(
    type: TargetType, anonymous: bool, tagged: bool, sized: bool, scope: Scope
) -> Select[Any]:
    """The query of :func:`summaries`, made once, as that of :func:`find`."""
    table = TABLES[type]
    where = _conditions(
        type,
        None if anonymous else bindparam("viewer", type_=Text),
        (bindparam("tags", expanding=True), bindparam("count", type_=Integer)) if tagged else None,
        bindparam("complexity", type_=Text) if sized else None,
        scope,
    )
    ids = table.c.id.in_(bindparam("ids", expanding=True))
    return select(*_summary_columns(type)).where(ids, *where).order_by(table.c.name, table.c.id)


async def page(
    connection: AsyncConnection,
    type: TargetType,
    where: Sequence[ColumnElement[bool]],
    after: str | None,
    limit: int,
) -> list[Summary]:
    """The items of a list that follow another one; one query.

    Args:
        connection: to read with.
        type: what kind of items they are.
        where: which ones: never without ``visible``.
        after: the id of the last one that is known, or None at the beginning.
        limit: how many at most.
    """
    table = TABLES[type]
    query = (
        select(*_summary_columns(type))
        .where(*where)
        .order_by(table.c.name, table.c.id)
        .limit(limit)
    )
    if after is not None:
        if not REFERENCE.fullmatch(after):
            return []
        last = select(table.c.name).where(table.c.id == after).scalar_subquery()
        query = query.where(tuple_(table.c.name, table.c.id) > tuple_(last, literal(after)))
    return _summaries(type, await connection.execute(query))


async def ids(
    connection: AsyncConnection, type: TargetType, where: Sequence[ColumnElement[bool]]
) -> list[str]:
    """The ids of items; ``where`` is never without ``visible``."""
    return list(await connection.scalars(select(TABLES[type].c.id).where(*where)))


def matching(type: TargetType, viewer: Viewer, filters: Filters = ALL) -> list[ColumnElement[bool]]:
    """The conditions of a search by a viewer: those of ``visible``, and of the filters."""
    tags = checks.tags(filters.tags)
    counted = (tags, len(tags)) if tags else None
    return _conditions(type, viewer, counted, filters.complexity, filters.scope)


def _conditions(
    type: TargetType,
    viewer: Any,
    tags: tuple[Any, Any] | None,
    complexity: Any,
    scope: Scope,
) -> list[ColumnElement[bool]]:
    """The conditions of :func:`matching`, of values or of parameters that stand for them; with the
    tags goes how many they are."""
    table = TABLES[type]
    found = [visible(table, viewer)]
    if tags is not None:
        found.append(table.c.id.in_(_tagged_ids(type, *tags)))
    if complexity is not None:
        has_size = type is TargetType.WORKFLOW
        found.append(table.c.complexity == complexity if has_size else false())
    if scope != "all":
        found.append(_scope_condition(type, viewer, scope))
    return found


def is_portals(type: TargetType) -> ColumnElement[bool]:
    """The condition that an item is the portal's own."""
    return TABLES[type].c.owner == PORTAL


def id_in(type: TargetType, ids: Iterable[str]) -> ColumnElement[bool]:
    """The condition that an item is one of some; what cannot be an id is none."""
    usable = {each for each in ids if REFERENCE.fullmatch(each)}
    return TABLES[type].c.id.in_(sorted(usable))


async def tags_of(
    connection: AsyncConnection, type: TargetType, ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The tags of items, in the order of the alphabet."""
    if not ids or type not in TAG_TABLES:
        return {}
    table, of = TAG_TABLES[type]
    query = select(of.label("of"), table.c.tag).where(of.in_(ids))
    found: dict[str, list[str]] = {}
    for row in await connection.execute(query):
        found.setdefault(row.of, []).append(row.tag)
    return {each: tuple(sorted(tags)) for each, tags in found.items()}


def item_fields(row: Row[Any]) -> dict[str, Any]:
    """The fields of ``model.Item``, of a row."""
    visibility = enum_or_none(Visibility, row.visibility) or Visibility.PRIVATE
    return {name: getattr(row, name) for name in ITEM_COLUMNS} | {"visibility": visibility}


def complexity_of(row: Row[Any]) -> Complexity | None:
    """A workflow's complexity."""
    return enum_or_none(Complexity, row.complexity)


@cache
def _summary_columns(type: TargetType) -> tuple[ColumnElement[Any], ...]:
    """What lists show: columns, and the item's tags as one text."""
    table = TABLES[type]
    columns = [table.c[each] for each in ITEM_COLUMNS]
    size: ColumnElement[Any] = null()
    if type is TargetType.WORKFLOW:
        size = table.c.complexity
    tags: ColumnElement[Any] = null()
    if type in TAG_TABLES:
        tagged, of = TAG_TABLES[type]
        joined = select(func.aggregate_strings(tagged.c.tag, _TAG_SEPARATOR)).where(
            of == table.c.id
        )
        tags = joined.scalar_subquery()
    return (*columns, size.label("complexity"), tags.label("tags"))


def _summaries(type: TargetType, rows: Iterable[Row[Any]]) -> list[Summary]:
    return [
        Summary(
            **item_fields(row),
            type=type,
            tags=tuple(sorted(row.tags.split(_TAG_SEPARATOR))) if row.tags else (),
            complexity=complexity_of(row),
        )
        for row in rows
    ]


def _tagged_ids(type: TargetType, tags: Any, count: Any) -> Any:
    table, of = TAG_TABLES[type]
    return (
        select(of)
        .where(table.c.tag.in_(tags))
        .group_by(of)
        .having(func.count() == count)
        .scalar_subquery()
    )


def _scope_condition(type: TargetType, viewer: Any, scope: Scope) -> ColumnElement[bool]:
    if viewer is None:
        return false()
    table = TABLES[type]
    if scope == "mine":
        own: ColumnElement[bool] = table.c.owner == viewer
        return own
    kept = select(library.c.target).where(library.c.person == viewer, library.c.type == type)
    return table.c.id.in_(kept)
