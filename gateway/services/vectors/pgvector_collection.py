"""A collection in PostgreSQL: what is written, and what is found (``pgvector.py``)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.contract.services import (
    CollectionSpec,
    Condition,
    Hit,
    Point,
    Sparse,
    Stored,
    VectorQuery,
)
from gateway.services.vectors import pgvector_sql as sql
from gateway.services.vectors.store import stored_payload

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["SEARCHED", "PgCollection"]

Connect: TypeAlias = "Callable[[], AbstractAsyncContextManager[Connection]]"

BATCH_POINTS = 128
"""Points in one transaction."""
WALKED_POINTS = 1000
"""Points that a walk reads with one query."""
GRAPH_POINTS = 5_000
"""A collection with so many points gets a graph when it is next flushed; of fewer each is
compared."""
GRAPH_TIMEOUT_S = 3600.0
SEARCHED = 200
"""How many candidates a graph search keeps (``hnsw.ef_search``)."""


class PgCollection:
    """A collection in two tables.

    Args:
        connect: gives connections.
        number: the collection's, which its tables are called by.
        identity: made with the collection, kept in the registry.
        spec: what it holds.
    """

    def __init__(self, connect: Connect, number: int, identity: str, spec: CollectionSpec) -> None:
        self.identity = identity
        self._connect = connect
        self._number = number
        self._spec = spec
        self._columns = sql.columns(spec)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one with an id already stored is replaced whole.

        Raises:
            ValueError: a vector does not fit the spec, or a payload uses the reserved field.
            VectorsUnavailable: the database does not answer, or refuses.
        """
        newest = list({point.id: point for point in points}.values())
        for start in range(0, len(newest), BATCH_POINTS):
            batch = newest[start : start + BATCH_POINTS]
            rows, postings = self._rows(batch), self._postings(batch)
            async with self._writing() as connection:
                ids = [point.id for point in batch]
                await self._removed(connection, "p.id = ANY($1::text[])", [ids])
                await self._inserted(connection, rows, postings)

    async def delete(self, where: Sequence[Condition]) -> None:
        """Remove the points for which all conditions hold; no condition removes nothing."""
        if where:
            arguments = sql.Arguments()
            condition = sql.condition(where, self._spec, arguments)
            async with self._writing() as connection:
                await self._removed(connection, condition, arguments.values)

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """Answer several questions on one connection, best hit first, one list for each.

        Raises:
            ValueError: a vector's name or length does not fit the spec.
        """
        async with self._connect() as connection:
            return [await self._answer(connection, query) for query in queries]

    async def count(self, where: Sequence[Condition] = ()) -> int:
        """How many points satisfy the conditions."""
        arguments = sql.Arguments()
        condition = sql.condition(where, self._spec, arguments)
        query = f"SELECT count(*) FROM {self._points} p WHERE {condition}"
        async with self._connect() as connection:
            return int(await connection.fetchval(query, *arguments.values))

    async def walk(self, payload: Sequence[str] = ()) -> AsyncIterator[Stored]:
        """Every point, with these payload fields, in the order of their ids."""
        query = f"""
SELECT p.id, {sql.PAYLOAD} FROM {self._points} p WHERE p.id > $1 ORDER BY p.id LIMIT $2"""
        last, found = "", [None] * WALKED_POINTS
        while len(found) == WALKED_POINTS:
            async with self._connect() as connection:
                found = await connection.fetch(query, last, WALKED_POINTS, list(payload))
            for row in found:
                yield Stored(row["id"], json.loads(row["payload"] or "{}"))
                last = row["id"]

    async def flush(self) -> None:
        """Give a collection that has become large its graphs; what was written is durable.

        A graph is built while searches and writes go on. Of several processes one builds it. After
        it the server learns how terms are spread, and that an index tells all of them: until then,
        which may be a minute, it reads a page for each point that has a word of a question.
        """
        async with self._connect() as connection:
            built = [await self._graphed(connection, each) for each in self._columns.values()]
            if any(built):
                tables = f"{self._points}, {sql.terms(self._number)}"
                await connection.execute(f"VACUUM (ANALYZE) {tables}", timeout=GRAPH_TIMEOUT_S)

    @property
    def _points(self) -> str:
        return sql.points(self._number)

    @asynccontextmanager
    async def _writing(self) -> AsyncGenerator[Connection]:
        """A transaction; a collection's writers wait for each other."""
        lock = f"SELECT 1 FROM {sql.SCHEMA}.collections WHERE number = $1 FOR UPDATE"
        async with self._connect() as connection, connection.transaction():
            await connection.execute(lock, self._number)
            yield connection

    def _rows(self, batch: Sequence[Point]) -> list[tuple[Any, ...]]:
        rows = []
        for point in batch:
            stored_payload(point)
            for name, vector in point.dense.items():
                self._check(name, vector)
            dense = [point.dense.get(name) for name in self._columns]
            payload = json.dumps(dict(point.payload), ensure_ascii=False)
            facets = sql.facets(self._spec, point.payload)
            sparse = [self._place(name) for name in point.sparse]
            rows.append((point.id, payload, facets, sparse, *dense))
        return rows

    def _postings(self, batch: Sequence[Point]) -> list[tuple[int, int, str, float]]:
        return [
            (self._place(name), int(term), point.id, float(weight))
            for point in batch
            for name, vector in point.sparse.items()
            for term, weight in dict(zip(vector.indices, vector.values, strict=True)).items()
        ]

    async def _inserted(
        self, connection: Connection, rows: Sequence[tuple[Any, ...]], postings: Sequence[Any]
    ) -> None:
        names = ["id", "payload", "facets", "sparse", *self._columns.values()]
        values = ", ".join(
            f"${place}" + ("::text::jsonb" if name == "payload" else "")
            for place, name in enumerate(names, 1)
        )
        insert = f"INSERT INTO {self._points} ({', '.join(names)}) VALUES ({values})"
        await connection.executemany(insert, rows)
        await connection.copy_records_to_table(
            f"terms_{self._number}",
            schema_name=sql.SCHEMA,
            columns=["vector", "term", "point", "weight"],
            records=postings,
        )
        await self._counted(connection, [row[3] for row in rows], 1)

    async def _removed(
        self, connection: Connection, condition: str, arguments: Sequence[Any]
    ) -> None:
        delete = f"DELETE FROM {self._points} p WHERE {condition} RETURNING p.sparse"
        gone = await connection.fetch(delete, *arguments)
        await self._counted(connection, [row["sparse"] for row in gone], -1)

    async def _counted(
        self, connection: Connection, sparse: Sequence[Sequence[int]], sign: int
    ) -> None:
        """Count the points that have each sparse vector, for the frequencies of terms."""
        for place in range(len(self._spec.sparse)):
            if found := sum(place in each for each in sparse):
                update = f"""
UPDATE {sql.SCHEMA}.collections SET sparse_points[{place + 1}] = sparse_points[{place + 1}] + $2
WHERE number = $1"""
                await connection.execute(update, self._number, sign * found)

    async def _answer(self, connection: Connection, query: VectorQuery) -> list[Hit]:
        self._check(query.using, query.vector)
        fields = list(query.payload)
        if isinstance(query.vector, Sparse):
            asked = list(query.vector.indices)
            arguments = sql.Arguments(asked, query.limit, fields, list(query.vector.values))
            where = sql.condition(query.where, self._spec, arguments)
            statement = sql.matching(self._number, self._place(query.using), where)
            return _hits(await connection.fetch(statement, *arguments.values))
        arguments = sql.Arguments(query.vector, query.limit, fields)
        where = sql.condition(query.where, self._spec, arguments)
        column = self._columns[query.using]
        statement = sql.nearest(self._number, column, where, exact=query.limit > SEARCHED)
        found = _hits(await connection.fetch(statement, *arguments.values))
        if len(found) < query.limit:  # the graph may have given up, or there are no more
            statement = sql.nearest(self._number, column, where, exact=True)
            found = _hits(await connection.fetch(statement, *arguments.values))
        return found

    async def _graphed(self, connection: Connection, column: str) -> bool:
        """Build a column's graph where it has none that is whole, and is worth one; whether it was
        built."""
        name = sql.graph(self._number, column)
        known = (
            f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{sql.SCHEMA}.{name}')"
        )
        lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"
        many = f"SELECT count(*) >= $1 FROM (SELECT 1 FROM {self._points} LIMIT $1) AS few"
        if await connection.fetchval(known) or not await connection.fetchval(many, GRAPH_POINTS):
            return False
        if not await connection.fetchval(lock, name):
            return False  # another process builds it
        try:
            if await connection.fetchval(known) is False:  # somebody was killed building it
                await connection.execute(f"DROP INDEX {sql.SCHEMA}.{name}")
            create = f"""
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {self._points}
USING hnsw ({column} halfvec_cosine_ops)"""
            await connection.execute("SET maintenance_work_mem = '512MB'")
            await connection.execute(create, timeout=GRAPH_TIMEOUT_S)
            return True
        finally:
            await connection.execute("RESET maintenance_work_mem")
            await connection.execute("SELECT pg_advisory_unlock(hashtextextended($1, 0))", name)

    def _place(self, name: str) -> int:
        if name not in self._spec.sparse:
            raise ValueError(f"the vector {name!r} does not fit the collection's spec")
        return self._spec.sparse.index(name)

    def _check(self, name: str, vector: Any) -> None:
        if isinstance(vector, Sparse):
            self._place(name)
        elif self._spec.dense.get(name) != len(vector):
            raise ValueError(f"the vector {name!r} does not fit the collection's spec")


def _hits(rows: Sequence[Any]) -> list[Hit]:
    return [Hit(row["id"], float(row["score"]), json.loads(row["payload"] or "{}")) for row in rows]
