"""Links of entries that go: an entry ends another one, which has ended a third.

What goes because another entry stands for it leaves that one its links.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import batches
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.access import meet_only_within
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.tables import entries, relations
from plugins.knowledge.memory.store.visibility import MARKING, is_live, key_values, readable

ENDING = tuple(str(each) for each in Relation if each.ends_the_other)
"""How an entry goes together with an earlier one that then holds no more."""
FOUND = tuple(str(each) for each in Relation if each.is_found)
"""How, where nobody has decided it."""


_ORDERING = (*MARKING, str(Relation.IS_NEWER))


@dataclass(frozen=True, slots=True)
class _Link:
    """How an entry goes together with another one: who decided it, and when."""

    entry: str
    target: str
    kind: str
    by: str
    at: datetime


async def leads_back(
    connection: AsyncConnection, entry: str, target: str, keys: frozenset[str], now: datetime
) -> bool:
    """Whether an entry's target ends that entry, directly or by others in between.

    Only what one of the keys may read counts: a refusal would tell of the rest, and what nobody
    but others can see would hinder who cannot. A circle may so arise of links of several people.
    """
    if not keys:
        return False
    asked = {**key_values(keys, now), "entry": entry, "first": target}
    return bool(await connection.scalar(_leads_back(), asked))


@lru_cache(maxsize=1)
def _leads_back() -> Select[Any]:
    """A UNION, and no UNION ALL: each entry counts once, so that a circle comes to an end."""
    joined = relations.join(entries, entries.c.id == relations.c.entry)
    seen = (relations.c.kind.in_(ENDING), readable())
    chosen = sa.select(relations.c.target).select_from(joined).where(*seen)
    first = chosen.where(relations.c.entry == sa.bindparam("first"))
    below = first.cte("below", recursive=True)
    further = sa.select(relations.c.target).select_from(
        joined.join(below, relations.c.entry == below.c.target)
    )
    below = below.union(further.where(*seen))
    found = below.c.target == sa.bindparam("entry")
    return sa.select(sa.func.count()).select_from(below).where(found)


async def close_chains(connection: AsyncConnection, gone: Sequence[Record], now: datetime) -> None:
    """Let what ended entries that are gone end what these had ended, which would hold again.

    Nobody learns of it who could not see before that it was ended: where somebody may read both
    ends of a chain but not its middle, it stays open, and can be settled anew. The entries are
    marked as at odds already, by the links that there were.

    Args:
        connection: the transaction in which they go; it holds the lock of the events.
        gone: the entries as they were.
        now: the time.
    """
    middles = {each.id: each for each in gone}
    links = await _links_of(connection, middles)
    ends = {id for each in links for id in (each.entry, each.target)} - middles.keys()
    left = await live_in(connection, ends, now)
    closed = {
        (new.entry, new.target): new
        for new, between in _closed(links, middles)
        if new.entry in left
        and new.target in left
        and _is_seen_by_no_more(left[new.entry], left[new.target], between)
    }
    await _write(connection, closed)


async def hand_on(connection: AsyncConnection, gone: Collection[str], heir: str) -> None:
    """Let an entry have the links of others that go, and that said the same to the same readers.

    Args:
        connection: the transaction in which they go; it holds the lock of the events.
        gone: the ids of these.
        heir: the id of the entry.
    """
    links = await _links_of(connection, gone, tuple(map(str, Relation)))
    moved: dict[tuple[str, str], _Link] = {}
    for each in sorted(links, key=lambda each: (each.kind not in FOUND, each.at)):
        entry, target = (heir if id in gone else id for id in (each.entry, each.target))
        if entry != target:  # what was decided takes the place of what was only found
            moved[entry, target] = _Link(entry, target, each.kind, each.by, each.at)
    for some in batches(sorted(moved)):
        pairs = sa.select(relations.c.entry, relations.c.target).where(_are_pairs(some))
        known = {frozenset(pair) for pair in await connection.execute(pairs)}
        found = {pair for pair in some if moved[pair].kind in FOUND and frozenset(pair) in known}
        await _write(connection, {pair: moved[pair] for pair in some if pair not in found})
    if moved:
        await mark(connection, [heir])


async def mark(connection: AsyncConnection, ids: Sequence[str]) -> None:
    """Note at entries whether something is at odds with them, so that others need no look."""
    earlier = sa.and_(relations.c.target == entries.c.id, relations.c.kind.in_(_ORDERING))
    contests = sa.and_(
        relations.c.entry == entries.c.id, relations.c.kind == str(Relation.CONTESTS)
    )
    found = sa.select(sa.literal(1)).select_from(relations)
    marked = sa.or_(
        *(sa.exists(found.where(each).correlate(entries)) for each in (earlier, contests))
    )
    named = sa.update(entries).where(entries.c.id.in_(ids))
    await connection.execute(named.values(challenged=marked))


async def _links_of(
    connection: AsyncConnection, ids: Collection[str], kinds: Sequence[str] = ENDING
) -> set[_Link]:
    chosen = sa.select(*relations.c).where(relations.c.kind.in_(kinds))
    found = set()
    for some in batches(sorted(ids)):
        named = sa.or_(relations.c.entry.in_(some), relations.c.target.in_(some))
        for row in await connection.execute(chosen.where(named)):
            found.add(_Link(row.entry, row.target, row.kind, row.by, row.at))
    return found


async def live_in(
    connection: AsyncConnection, ids: Collection[str], now: datetime
) -> dict[str, Record]:
    """Those of some entries that are not gone, by their ids, whoever reads them."""
    found: dict[str, Record] = {}
    for some in batches(sorted(ids)):
        own = sa.select(entries).where(entries.c.id.in_(some), is_live(now))
        found |= {row.id: record_of(row) for row in await connection.execute(own)}
    return found


def _closed(
    links: Collection[_Link], middles: Mapping[str, Record]
) -> Iterator[tuple[_Link, list[Record]]]:
    """What ends what once the middles of chains are gone, and which these were."""
    below: dict[str, list[_Link]] = {}
    for each in sorted(links, key=lambda each: (each.entry, each.target)):
        below.setdefault(each.entry, []).append(each)
    for upper in sorted(links, key=lambda each: (each.entry, each.target)):
        if upper.entry in middles or upper.target not in middles:
            continue
        paths = [[upper.target]]
        passed = {upper.target}
        while paths:
            path = paths.pop()
            for lower in below.get(path[-1], ()):
                if lower.target not in middles and lower.target != upper.entry:
                    new = _Link(upper.entry, lower.target, lower.kind, upper.by, upper.at)
                    yield new, [middles[id] for id in path]
                elif lower.target in middles and lower.target not in passed:
                    passed.add(lower.target)
                    paths.append([*path, lower.target])


def _is_seen_by_no_more(later: Record, earlier: Record, between: Sequence[Record]) -> bool:
    return all(meet_only_within(later.readers, earlier.readers, each.readers) for each in between)


async def _write(connection: AsyncConnection, closed: Mapping[tuple[str, str], _Link]) -> None:
    """Write links where nobody has decided otherwise; what was only found gives way."""
    for some in batches(sorted(closed)):
        known = sa.select(relations.c.entry, relations.c.target).where(
            _are_pairs(some), relations.c.kind.not_in(FOUND)
        )
        decided = {frozenset(pair) for pair in await connection.execute(known)}
        new = [closed[pair] for pair in some if frozenset(pair) not in decided]
        if new:
            pairs = [(each.entry, each.target) for each in new]
            undecided = sa.delete(relations).where(_are_pairs(pairs), relations.c.kind.in_(FOUND))
            await connection.execute(undecided)
            rows = [{name: getattr(each, name) for name in _Link.__slots__} for each in new]
            await connection.execute(sa.insert(relations), rows)


def _are_pairs(pairs: Sequence[tuple[str, str]]) -> ColumnElement[bool]:
    """That a link is of one of some pairs, whichever of the two is the later."""
    both = [*pairs, *((target, entry) for entry, target in pairs)]
    return sa.tuple_(relations.c.entry, relations.c.target).in_(both)
