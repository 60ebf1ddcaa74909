"""Finding items by id or key, and lists of them; who sees them is part of every query."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
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
    Summary,
    TargetType,
    Viewer,
    Visibility,
)
from plugins.workflows.store.kinds import TABLES, TAGS, WORDS, known
from plugins.workflows.store.visibility import given, visible
from plugins.workflows.tables import library

Scope = Literal["all", "mine", "library"]
SAID = (
    "id",
    "key",
    "owner",
    "author",
    "name",
    "description",
    "visibility",
    "version",
    "created",
    "updated",
)
"""The columns of :func:`said`."""
_BETWEEN = "\n"
"""Stands between tags, none of which holds it."""
_REFERENCE = re.compile(rf"[A-Za-z0-9._-]{{1,{limits.KEY}}}")


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
    if not _REFERENCE.fullmatch(ref):
        raise errors.not_found(WORDS[type])
    values = {"ref": ref} if viewer is None else {"ref": ref, "viewer": viewer}
    query = _finding(type, viewer is None, whole)
    rows = (await connection.execute(query, values)).all()
    if not rows:
        raise errors.not_found(WORDS[type])
    nearest: Row[Any] = min(
        rows, key=lambda row: (not row.seen, row.id != ref, row.owner != viewer)
    )
    if not nearest.seen:
        raise errors.private(WORDS[type])
    return nearest


@cache
def _finding(type: TargetType, anonymous: bool, whole: bool) -> Select[Any]:
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
    there = given(table) if anonymous else or_(given(table), table.c.owner == viewer)
    return select(*columns, seen.label("seen")).where(
        table.c.deleted.is_(None), there, or_(table.c.id == ref, by_key)
    )


async def summaries(
    connection: AsyncConnection,
    type: TargetType,
    ids: Iterable[str],
    viewer: Viewer,
    *,
    tags: Sequence[str] = (),
    complexity: Complexity | None = None,
    scope: Scope = "all",
) -> list[Summary]:
    """Items as lists show them, by name; one query.

    Args:
        connection: to read with.
        type: what kind of items they are.
        ids: which ones; what cannot be an id is none.
        viewer, tags, complexity, scope: as for :func:`matching`.
    """
    values: dict[str, Any] = {"ids": [each for each in ids if _REFERENCE.fullmatch(each)]}
    if viewer is not None:
        values["viewer"] = viewer
    if tags:
        values["tags"] = wanted = checks.tags(tags)
        values["count"] = len(wanted)
    if complexity is not None and type is TargetType.WORKFLOW:
        values["complexity"] = complexity
    query = _summarising(type, viewer is None, bool(tags), complexity is not None, scope)
    return _summaries(type, await connection.execute(query, values))


@cache
def _summarising(
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
    return select(*_shown(type)).where(ids, *where).order_by(table.c.name, table.c.id)


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
    query = select(*_shown(type)).where(*where).order_by(table.c.name, table.c.id).limit(limit)
    if after is not None:
        if not _REFERENCE.fullmatch(after):
            return []
        last = select(table.c.name).where(table.c.id == after).scalar_subquery()
        query = query.where(tuple_(table.c.name, table.c.id) > tuple_(last, literal(after)))
    return _summaries(type, await connection.execute(query))


async def ids(
    connection: AsyncConnection, type: TargetType, where: Sequence[ColumnElement[bool]]
) -> list[str]:
    """The ids of items; ``where`` is never without ``visible``."""
    return list(await connection.scalars(select(TABLES[type].c.id).where(*where)))


def matching(
    type: TargetType,
    viewer: Viewer,
    tags: Sequence[str] = (),
    complexity: Complexity | None = None,
    scope: Scope = "all",
) -> list[ColumnElement[bool]]:
    """The conditions of a search.

    Args:
        type: what kind of items are searched.
        viewer: who searches.
        tags: tags that each of them has, all of them.
        complexity: how large they are; cards are not of any size.
        scope: ``all`` that the viewer sees, ``mine`` or those in their ``library``.
    """
    wanted = checks.tags(tags)
    return _conditions(type, viewer, (wanted, len(wanted)) if wanted else None, complexity, scope)


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
        found.append(table.c.id.in_(_tagged(type, *tags)))
    if complexity is not None:
        has_size = type is TargetType.WORKFLOW
        found.append(table.c.complexity == complexity if has_size else false())
    if scope != "all":
        found.append(_scoped(type, viewer, scope))
    return found


def of_portal(type: TargetType) -> ColumnElement[bool]:
    """The condition that an item is the portal's own."""
    return TABLES[type].c.owner == PORTAL


def among(type: TargetType, ids: Iterable[str]) -> ColumnElement[bool]:
    """The condition that an item is one of some; what cannot be an id is none."""
    usable = {each for each in ids if _REFERENCE.fullmatch(each)}
    return TABLES[type].c.id.in_(sorted(usable))


async def tags_of(
    connection: AsyncConnection, type: TargetType, ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The tags of items, in the order of the alphabet."""
    if not ids or type not in TAGS:
        return {}
    table, of = TAGS[type]
    query = select(of.label("of"), table.c.tag).where(of.in_(ids))
    found: dict[str, list[str]] = {}
    for row in await connection.execute(query):
        found.setdefault(row.of, []).append(row.tag)
    return {each: tuple(sorted(tags)) for each, tags in found.items()}


def said(row: Row[Any]) -> dict[str, Any]:
    """The fields of ``model.Item``, of a row."""
    return {
        "id": row.id,
        "key": row.key,
        "owner": row.owner,
        "author": row.author,
        "name": row.name,
        "description": row.description,
        "visibility": known(Visibility, row.visibility) or Visibility.PRIVATE,
        "version": row.version,
        "created": row.created,
        "updated": row.updated,
    }


def size_of(row: Row[Any]) -> Complexity | None:
    """A workflow's complexity."""
    return known(Complexity, row.complexity)


@cache
def _shown(type: TargetType) -> tuple[ColumnElement[Any], ...]:
    """What lists show: columns, and the item's tags as one text."""
    table = TABLES[type]
    columns = [table.c[each] for each in SAID]
    size: ColumnElement[Any] = null()
    if type is TargetType.WORKFLOW:
        size = table.c.complexity
    tags: ColumnElement[Any] = null()
    if type in TAGS:
        tagged, of = TAGS[type]
        joined = select(func.aggregate_strings(tagged.c.tag, _BETWEEN)).where(of == table.c.id)
        tags = joined.scalar_subquery()
    return (*columns, size.label("complexity"), tags.label("tags"))


def _summaries(type: TargetType, rows: Iterable[Row[Any]]) -> list[Summary]:
    return [
        Summary(
            **said(row),
            type=type,
            tags=tuple(sorted(row.tags.split(_BETWEEN))) if row.tags else (),
            complexity=size_of(row),
        )
        for row in rows
    ]


def _tagged(type: TargetType, tags: Any, count: Any) -> Any:
    table, of = TAGS[type]
    return (
        select(of)
        .where(table.c.tag.in_(tags))
        .group_by(of)
        .having(func.count() == count)
        .scalar_subquery()
    )


def _scoped(type: TargetType, viewer: Any, scope: Scope) -> ColumnElement[bool]:
    if viewer is None:
        return false()
    table = TABLES[type]
    if scope == "mine":
        own: ColumnElement[bool] = table.c.owner == viewer
        return own
    kept = select(library.c.target).where(library.c.person == viewer, library.c.type == type)
    return table.c.id.in_(kept)
