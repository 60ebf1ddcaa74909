"""The conditions under which a row may be seen: every query of entries is built on these.

A condition names the values that it compares with, and does not hold them: so a statement is
built once and asked with every question of its :class:`Shape`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from plugins.knowledge.memory.asking import Narrowing
from plugins.knowledge.memory.labels import reader

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


class Shape(NamedTuple):
    """Which filters a query has.

    Attributes:
        groups: how many groups of labels it asks for.
        after: whether it asks for what was created since a moment.
        before: whether it asks for what was created until a moment.
        owner: whether it asks for one person's entries.
    """

    groups: int
    after: bool
    before: bool
    owner: bool

    @classmethod
    def of(cls, by: Narrowing) -> Shape:
        """The shape of a query's filters."""
        given = (by.after is not None, by.before is not None, by.owner is not None)
        return cls(len(by.labels), *given)


def readable() -> ColumnElement[bool]:
    """That an entry is there, and that one of the keys may read it that :func:`held_by` names."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries

    now = sa.bindparam("now", type_=entries.c.expires.type)
    return sa.and_(_there(now), _labelled("readers"))


def held_by(keys: Iterable[str], now: datetime) -> dict[str, Any]:
    """The values that :func:`readable` compares with.

    Args:
        keys: what a caller can read by; without any, no row is seen.
        now: what has expired by then is gone.
    """
    return {"readers": sorted(map(reader, keys)), "now": now}


def there(now: datetime) -> ColumnElement[bool]:
    """That an entry is neither forgotten nor expired."""
    return _there(now)


def narrowed(shape: Shape) -> list[ColumnElement[bool]]:
    """What a query's filters ask of an entry; :func:`named_by` names the values."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries

    at = entries.c.created.type
    conditions = [_labelled(f"group_{number}") for number in range(shape.groups)]
    if shape.after:
        conditions.append(entries.c.created >= sa.bindparam("after", type_=at))
    if shape.before:
        conditions.append(entries.c.created <= sa.bindparam("before", type_=at))
    if shape.owner:
        conditions.append(entries.c.owner == sa.bindparam("owner"))
    return conditions


def named_by(by: Narrowing) -> dict[str, Any]:
    """The values that :func:`narrowed` compares with."""
    moments = {"after": by.after, "before": by.before, "owner": by.owner}
    groups = {f"group_{number}": sorted(group) for number, group in enumerate(by.labels)}
    return groups | {name: value for name, value in moments.items() if value is not None}


def _there(now: Any) -> ColumnElement[bool]:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries

    lasting = sa.or_(entries.c.expires.is_(None), entries.c.expires > now)
    return sa.and_(entries.c.deleted.is_(None), lasting)


def _labelled(any_of: str) -> ColumnElement[bool]:
    """That an entry has one of some labels, given under a name."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries, labels

    named: Any = sa.bindparam(any_of, expanding=True)
    own = sa.and_(labels.c.entry == entries.c.number, labels.c.label.in_(named))
    return sa.exists(sa.select(sa.literal(1)).where(own).correlate(entries))
