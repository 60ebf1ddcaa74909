"""Keeps what models and agents say, once for each entity and its code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, delete, select

from gateway.contract import Database
from gateway.toolkit.sql import among, batches, exclusive, insert_into, lock_number
from plugins.codegraph.justification.opinions.opinion import Opinion, Said, known
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import opinions

_ROWS = 500


class Opinions:
    """Keeps opinions.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, view: RepositoryView, qualified: str | None = None) -> list[Opinion]:
        """All opinions on a repository, or on entities of one name."""
        only = () if qualified is None else (opinions.c.qualified == qualified,)
        return await self._found(view, *only)

    async def in_file(self, view: RepositoryView, path: str) -> list[Opinion]:
        """The opinions on entities of a file."""
        return await self._found(view, opinions.c.path == path)

    async def on(self, org: str, repo: str, keys: Collection[int]) -> dict[int, Opinion]:
        """The opinions on some entities, by key, whatever their code was then."""
        async with self._database.read() as connection:
            these = among(opinions.c.key, keys)
            rows = await connection.execute(select(opinions).where(*_mine(org, repo), these))
            return {row.key: _opinion(row) for row in rows}

    async def _found(self, view: RepositoryView, *only: ColumnElement[bool]) -> list[Opinion]:
        query = select(opinions).where(*_mine(view.org, view.id), *only)
        async with self._database.read() as connection:
            return [_opinion(row) for row in await connection.execute(query)]

    async def finder(self, view: RepositoryView) -> known:
        """What finds the opinion of an entity."""
        return known(await self.of(view))

    async def put(self, org: str, repo: str, found: Sequence[Opinion]) -> None:
        """Keep opinions, in place of older ones on the same entities."""
        async with self._database.begin() as connection:
            await self.put_in(connection, org, repo, found)

    async def put_in(self, connection: Any, org: str, repo: str, found: Sequence[Opinion]) -> None:
        """As :meth:`put`, in a transaction."""
        await exclusive(connection, lock_number("codegraph", repo))
        for each in found:
            row = {
                **{"path": each.path, "qualified": each.qualified, "kind": each.kind},
                **{"code": each.code, "provider": each.provider, "model": each.model},
                **{"person": each.person, "at": each.at, "refused": each.refused},
                "data": msgspec.msgpack.encode(each.said),
            }
            new = insert_into(connection, opinions).values(org=org, repo=repo, key=each.key, **row)
            keys = ["org", "repo", "key"]
            await connection.execute(new.on_conflict_do_update(index_elements=keys, set_=row))

    async def drop(self, org: str, repo: str, keys: Collection[int]) -> int:
        """Delete the opinions on some entities; returns their number."""
        count = 0
        for some in batches(sorted(keys), _ROWS):
            async with self._database.begin() as connection:
                these = among(opinions.c.key, some)
                gone = await connection.execute(delete(opinions).where(*_mine(org, repo), these))
                count += gone.rowcount
        return count


def _mine(org: str, repo: str) -> tuple[Any, ...]:
    return opinions.c.org == org, opinions.c.repo == repo


def _opinion(row: Any) -> Opinion:
    said = msgspec.msgpack.decode(row.data, type=Said)
    where = row.key, row.path, row.qualified, row.kind, row.code
    return Opinion(*where, row.provider, row.model, row.person, row.at, said, row.refused)
