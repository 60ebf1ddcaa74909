"""The other grown vector store: PostgreSQL with the extension pgvector, 0.8 or newer.

Dense vectors are kept in half precision and found by a graph (HNSW) once a collection has
``GRAPH_POINTS``; below that, and where a filter leaves the graph too little, the answer is exact.
Sparse vectors are an inverted index, always exact. Processes that name one database share it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.contract.services import CollectionSpec
from gateway.services.vectors import pgvector_sql as sql
from gateway.services.vectors.pgvector_collection import SEARCHED, PgCollection
from gateway.services.vectors.store import VectorsUnavailable, check_name

if TYPE_CHECKING:
    from asyncpg import Connection, Pool

__all__ = ["PgVectors"]

MAX_CONNECTIONS = 8
TIMEOUT_S = 30.0
MIN_VERSION = (0, 8)

_SETTINGS = {
    "application_name": "porch-vectors",
    "hnsw.ef_search": str(SEARCHED),
    # A filter that leaves too little has the graph searched on.
    "hnsw.iterative_scan": "strict_order",
    "jit": "off",
    "work_mem": "32MB",  # the words of a question, where they are frequent
}
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('porch_vectors', 0))"


class PgVectors:
    """A vector store in a PostgreSQL database; the first call connects.

    Args:
        url: the database, ``postgresql://...``.
    """

    own = False

    def __init__(self, url: str) -> None:
        self._url = "postgresql://" + url.partition("://")[2]
        parts = urlsplit(self._url)
        self._place = f"{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
        self._opening = asyncio.Lock()
        self._pool: Pool | None = None

    async def collection(self, name: str, spec: CollectionSpec) -> PgCollection:
        """Open a collection, made if it is not there; one with another spec is made anew.

        Raises:
            VectorsUnavailable: the database does not answer, or has no pgvector.
        """
        check_name(name)
        async with self.connection() as connection, connection.transaction():
            await connection.execute(_LOCK)
            number, identity = await _opened(connection, name, spec)
        return PgCollection(self.connection, number, identity, spec)

    async def ready(self) -> None:
        """As in the port."""
        async with self.connection() as connection:
            await connection.execute("SELECT 1")

    async def drop(self, name: str) -> None:
        """Remove a collection and all its points; an absent one is not an error."""
        check_name(name)
        async with self.connection() as connection, connection.transaction():
            await connection.execute(_LOCK)
            await _remove(connection, name)

    async def close(self) -> None:
        """Close the connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), 5)
            except TimeoutError:
                pool.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """A connection, on which the schema is there.

        Raises:
            VectorsUnavailable: it cannot be had, or the database refuses what is asked.
        """
        with _reported(self._place):
            if self._pool is None:
                async with self._opening:
                    self._pool = self._pool or await self._connected()
            async with self._pool.acquire(timeout=TIMEOUT_S) as connection:
                yield connection

    async def _connected(self) -> Pool:
        import asyncpg

        first = await asyncpg.connect(self._url, timeout=TIMEOUT_S)
        try:
            async with first.transaction():
                await first.execute(_LOCK)
                schema = await _prepared(first, self._place)
        finally:
            await first.close()

        async def prepare(connection: Connection) -> None:
            await connection.set_type_codec(
                "halfvec", schema=schema, encoder=sql.encoded, decoder=sql.decoded, format="binary"
            )

        return await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            command_timeout=TIMEOUT_S,
            timeout=TIMEOUT_S,
            server_settings=_SETTINGS | {"search_path": f"{schema},public"},
            init=prepare,
        )


async def _prepared(connection: Connection, place: str) -> str:
    """See that the extension and the registry are there; the schema that the extension is in."""
    import asyncpg

    found = """
SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'"""
    row = await connection.fetchrow(found)
    if row is None:
        try:
            async with connection.transaction():
                await connection.execute("CREATE EXTENSION vector")
        except asyncpg.PostgresError as error:
            raise VectorsUnavailable(
                f"PostgreSQL at {place} has no pgvector ({_line(error)}). Whoever runs the server "
                "installs it (the package postgresql-NN-pgvector, or the image pgvector/pgvector) "
                "and runs CREATE EXTENSION vector in the database."
            ) from error
        row = await connection.fetchrow(found)
    version = tuple(int(part) for part in row["extversion"].split(".")[:2])
    if version < MIN_VERSION:
        raise VectorsUnavailable(
            f"PostgreSQL at {place} has pgvector {row['extversion']}, and 0.8 is needed. Whoever "
            "runs the server updates it, and runs ALTER EXTENSION vector UPDATE."
        )
    await connection.execute(sql.REGISTRY)
    return str(row["nspname"])


async def _opened(connection: Connection, name: str, spec: CollectionSpec) -> tuple[int, str]:
    written = json.dumps(asdict(spec), sort_keys=True)
    find = f"SELECT number, identity, spec::text FROM {sql.SCHEMA}.collections WHERE name = $1"
    row = await connection.fetchrow(find, name)
    if row is not None and json.loads(row["spec"]) == json.loads(written):
        return row["number"], row["identity"]
    await _remove(connection, name)
    insert = f"""
INSERT INTO {sql.SCHEMA}.collections (name, identity, spec, sparse_points)
VALUES ($1, $2, $3::text::jsonb, $4) RETURNING number"""
    identity = secrets.token_hex(8)
    number = await connection.fetchval(insert, name, identity, written, [0] * len(spec.sparse))
    await connection.execute(sql.tables(number, spec))
    return number, identity


async def _remove(connection: Connection, name: str) -> None:
    delete = f"DELETE FROM {sql.SCHEMA}.collections WHERE name = $1 RETURNING number"
    number = await connection.fetchval(delete, name)
    if number is not None:
        await connection.execute(sql.dropped(number))


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


@contextmanager
def _reported(place: str) -> Iterator[None]:
    """Turn what the driver raises into the one error that the admin reads, without values."""
    import asyncpg

    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        # What is wrong with a value may quote it.
        reason = type(error).__name__ if isinstance(error, asyncpg.DataError) else _line(error)
        raise VectorsUnavailable(
            f"PostgreSQL at {place} did not do what it was asked: {reason}. Check the address in "
            "services.vectors and that the server is up."
        ) from error
