"""The SQL conditions under which a caller sees an entry: every query of entries uses them.

The values are bind parameters, so that a statement is built once for every query of the same
:class:`FilterShape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, FromClause

from plugins.knowledge.memory.model.labels import READER, author, reader
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.query_context import EntryFilter
from plugins.knowledge.memory.model.record import UPKEEP
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.store.tables import entries, labels, relations, versions

_NOW = sa.bindparam("now", type_=entries.c.expires.type)
MARKING = tuple(str(each) for each in Relation if each.marks_the_other)
"""How an entry goes together with an earlier one that is then not sure to hold."""


class FilterShape(NamedTuple):
    """Which filters a query has.

    Attributes:
        groups: how many groups of labels it asks for.
        after: whether it asks for what was created since a moment.
        before: whether it asks for what was created until a moment.
        owner: whether it asks for one person's entries.
        as_of: whether it asks for what held at a moment.
        written: whether it asks for somebody's words.
        happened: whether it asks for what happened between two moments.
    """

    groups: int
    after: bool
    before: bool
    owner: bool
    as_of: bool = False
    written: bool = False
    happened: bool = False

    @classmethod
    def of(cls, by: EntryFilter) -> FilterShape:
        """The shape of a query's filters."""
        times = (by.after is not None, by.before is not None)
        more = (by.owner, by.as_of, by.written, by.happened)
        given = (*times, *(each is not None for each in more))
        return cls(len(by.labels), *given)


def readable(which: FromClause = entries) -> ColumnElement[bool]:
    """That an entry exists, and that one of the keys of :func:`key_values` may read it.

    Args:
        which: the table of the entries, or an alias of it.
    """
    return sa.and_(_live_at(_NOW, which), _labelled("readers", which))


def key_values(keys: Iterable[str], now: datetime) -> dict[str, Any]:
    """The values that :func:`readable` compares with.

    Args:
        keys: what a caller can read by; without any, no row is seen.
        now: what has expired by then is gone.
    """
    return {"readers": sorted(map(reader, keys)), "now": now}


def known_to_owner(now: datetime) -> Callable[[FromClause], ColumnElement[bool]]:
    """That an entry exists, and that it is no secret of other people from who owns ``entries``.

    Whether they are a member, or in a group, nobody asks: what is for these counts as known.

    Args:
        now: what has expired by then is gone.
    """
    people = reader(person_key(""))
    theirs = labels.c.label == sa.literal(people) + entries.c.owner
    anybodys = sa.and_(labels.c.label.startswith(READER), ~labels.c.label.startswith(people))

    def known(which: FromClause) -> ColumnElement[bool]:
        named = (labels.c.entry == which.c.number, sa.or_(theirs, anybodys))
        told = sa.select(sa.literal(1)).where(*named).correlate(which, entries)
        return sa.and_(_live_at(now, which), sa.exists(told))

    return known


def is_live(now: datetime | None = None) -> ColumnElement[bool]:
    """That an entry is neither forgotten nor expired.

    Args:
        now: what has expired by then is gone; else it is one of :func:`key_values`.
    """
    return _live_at(_NOW if now is None else now)


def filter_conditions(shape: FilterShape) -> list[ColumnElement[bool]]:
    """What a query's filters ask of an entry; :func:`filter_values` names the values."""
    at = entries.c.created.type
    conditions = [_labelled(f"group_{number}") for number in range(shape.groups)]
    if shape.after:
        conditions.append(entries.c.created >= sa.bindparam("after", type_=at))
    if shape.before:
        conditions.append(entries.c.created <= sa.bindparam("before", type_=at))
    if shape.owner:
        conditions.append(entries.c.owner == sa.bindparam("owner"))
    if shape.as_of:
        moment = sa.bindparam("as_of", type_=at)
        happened = entries.c.event_at < entries.c.created
        written = sa.case((happened, entries.c.event_at), else_=entries.c.created)
        unknown = sa.and_(entries.c.valid_from.is_(None), entries.c.valid_until <= written)
        starts = sa.func.coalesce(entries.c.valid_from, written, type_=at)
        ends = sa.or_(entries.c.valid_until.is_(None), entries.c.valid_until >= moment)
        conditions.append(sa.and_(sa.or_(starts <= moment, unknown), ends))
    if shape.happened:
        own = sa.func.coalesce(entries.c.event_at, entries.c.created, type_=at)
        ends = sa.bindparam("happened_until", type_=at)
        conditions.append(own.between(sa.bindparam("happened_from", type_=at), ends))
    if shape.written:
        theirs = writer().in_(sa.bindparam("writers", expanding=True))
        conditions.append(sa.or_(_labelled("authors"), theirs))
    return conditions


def writer() -> ColumnElement[str]:
    """Who wrote what an entry says: its last version, but for what upkeep wrote."""
    own = (versions.c.entry == entries.c.id, versions.c.by != UPKEEP)
    last = sa.select(versions.c.by).where(*own).order_by(versions.c.version.desc()).limit(1)
    return sa.func.coalesce(last.correlate(entries).scalar_subquery(), entries.c.owner)


def filter_values(by: EntryFilter) -> dict[str, Any]:
    """The values that :func:`filter_conditions` compares with."""
    moments = {"after": by.after, "before": by.before, "owner": by.owner, "as_of": by.as_of}
    groups = {f"group_{number}": sorted(group) for number, group in enumerate(by.labels)}
    if by.written is not None:
        groups |= {"authors": [author(by.written.name)], "writers": sorted(by.written.people)}
    if by.happened is not None:
        moments |= dict(zip(("happened_from", "happened_until"), by.happened, strict=True))
    return groups | {name: value for name, value in moments.items() if value is not None}


def unmarked(
    seen: Callable[[FromClause], ColumnElement[bool]] = readable,
) -> ColumnElement[bool]:
    """That nothing that counts is said to be, or seems, at odds with an entry.

    Args:
        seen: what a later entry must be to count, given an alias of the table of the entries.
    """
    later = entries.alias("later")
    both = relations.join(later, later.c.id == relations.c.entry)
    which = (relations.c.target == entries.c.id, relations.c.kind.in_(MARKING), seen(later))
    marked = sa.select(sa.literal(1)).select_from(both).where(*which)
    return sa.or_(~entries.c.challenged, ~sa.exists(marked.correlate(entries)))


def _live_at(now: Any, which: FromClause = entries) -> ColumnElement[bool]:
    lasting = sa.or_(which.c.expires.is_(None), which.c.expires > now)
    return sa.and_(which.c.deleted.is_(None), lasting)


def _labelled(any_of: str, which: FromClause = entries) -> ColumnElement[bool]:
    """That an entry has one of some labels, given under a name."""
    named: Any = sa.bindparam(any_of, expanding=True)
    own = sa.and_(labels.c.entry == which.c.number, labels.c.label.in_(named))
    return sa.exists(sa.select(sa.literal(1)).where(own).correlate(which))
