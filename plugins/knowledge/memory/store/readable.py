"""The conditions under which a row may be seen: every query of entries is built on these."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from plugins.knowledge.memory.asking import Narrowing
from plugins.knowledge.memory.labels import reader

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


def readable(keys: Iterable[str], now: datetime) -> ColumnElement[bool]:
    """That an entry is there, and that one of these keys may read it.

    Args:
        keys: what a caller can read by; without any, no row is seen.
        now: what has expired by then is gone.
    """
    import sqlalchemy as sa

    return sa.and_(there(now), _labelled(map(reader, keys)))


def there(now: datetime) -> ColumnElement[bool]:
    """That an entry is neither forgotten nor expired."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries

    lasting = sa.or_(entries.c.expires.is_(None), entries.c.expires > now)
    return sa.and_(entries.c.deleted.is_(None), lasting)


def narrowed(by: Narrowing) -> list[ColumnElement[bool]]:
    """What a query's filters ask of an entry."""
    from plugins.knowledge.memory.store.tables import entries

    conditions = [_labelled(group) for group in by.labels]
    if by.after is not None:
        conditions.append(entries.c.created >= by.after)
    if by.before is not None:
        conditions.append(entries.c.created <= by.before)
    if by.owner is not None:
        conditions.append(entries.c.owner == by.owner)
    return conditions


def _labelled(any_of: Iterable[str]) -> ColumnElement[bool]:
    """That an entry has one of some labels."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries, labels

    own = sa.and_(labels.c.entry == entries.c.number, labels.c.label.in_(sorted(any_of)))
    return sa.exists(sa.select(sa.literal(1)).where(own).correlate(entries))
