"""Full-text search over entities: FTS5 in SQLite, tsvector in PostgreSQL.

SQLite has one index per layer, so that word frequencies and search time depend on that layer
alone, and an old layer is dropped with one statement. It stores no text itself: the text stays in
``codegraph_entities``. PostgreSQL has one table, in which each row's layer is one of its words.
Both stem words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import is_postgres
from plugins.codegraph.store.codes import end_id, first_id
from plugins.codegraph.store.name_split import split

MAX_TERMS = 24
"""The most terms of one query; a whole paragraph finds no more than its first words."""
ENOUGH = 400
"""How many matches of a query's rarer words suffice, so that entities with common words alone are
not ranked.

Over 88,000 entities of installed packages, the questions of ``code_questions.json`` found as much
with 400 as with 1,000 or with all (nDCG@10 0.085, 0.083, 0.079), in less time.
"""
_WEIGHTS = (10.0, 6.0, 2.0, 1.0)
"""The weight of a word in the name, the name's words, the signature and the doc."""
_FILLERS = frozenset(
    """
    a about all an and any are as at be been but by can code could did do does for from function
    had has have how i if in into is it its me method my no not of on or our should so some than
    that the their them then there these they this those to was we were what when where which who
    whom why will with would you your
    """.split()  # noqa: SIM905
)
"""English words, and general words about code, that do not help to find anything."""
_TERM = re.compile(r"\w+")
_COLUMNS = "name, words, signature, doc"


class FullText(Protocol):
    """The full-text index of one database. Rows are identified by entity row ids."""

    async def begin(self, connection: AsyncConnection, layer: int) -> None:
        """Create a layer's index."""
        ...

    async def add(self, connection: AsyncConnection, layer: int, first: int) -> None:
        """Index the entities of a layer whose ids are at least ``first``."""
        ...

    async def remove(self, connection: AsyncConnection, layer: int, ids: Sequence[int]) -> None:
        """Remove entities from the index; call it before their rows are deleted."""
        ...

    async def drop(self, connection: AsyncConnection, layer: int) -> None:
        """Delete a layer's index, if it exists."""
        ...

    async def count(self, connection: AsyncConnection, layer: int) -> int:
        """How much of a layer is indexed, for the audit: PostgreSQL counts entities, SQLite indexes
        (1 or 0)."""
        ...

    async def search(
        self, connection: AsyncConnection, layer: int, query: str, kinds: Sequence[int], limit: int
    ) -> list[tuple[int, float]]:
        """The row ids of entities that match a query's words, best first, with scores."""
        ...


def full_text(connection: AsyncConnection) -> FullText:
    """The full-text index of a connection's database."""
    return _Postgres() if is_postgres(connection) else _Sqlite()


def terms_of(query: str) -> list[list[str]]:
    """The terms of a query, each with its parts if it is a compound name."""
    terms: list[list[str]] = []
    for term in _TERM.findall(query):
        whole = term.lower().strip("_")
        parts = split(term)
        if whole:
            terms.append([whole, *parts] if parts != [whole] else [whole])
    # Words that occur everywhere do not discriminate, and are slow to search.
    telling = [term for term in terms if term[0] not in _FILLERS]
    return (telling or terms)[:MAX_TERMS]


class _Sqlite:
    async def begin(self, connection: AsyncConnection, layer: int) -> None:
        await connection.exec_driver_sql(
            f"CREATE VIRTUAL TABLE {_table(layer)} USING fts5({_COLUMNS}, "
            "content='codegraph_entities', content_rowid='id', "
            "tokenize='porter unicode61 remove_diacritics 2')"
        )

    async def add(self, connection: AsyncConnection, layer: int, first: int) -> None:
        await connection.exec_driver_sql(
            f"INSERT INTO {_table(layer)}(rowid, {_COLUMNS}) SELECT id, {_COLUMNS} "  # noqa: S608
            "FROM codegraph_entities WHERE id >= ? AND id < ?",
            (first, end_id(layer)),
        )

    async def remove(self, connection: AsyncConnection, layer: int, ids: Sequence[int]) -> None:
        table = _table(layer)
        await connection.exec_driver_sql(
            f"INSERT INTO {table}({table}, rowid, {_COLUMNS}) "  # noqa: S608
            f"SELECT 'delete', id, {_COLUMNS} FROM codegraph_entities "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (f"[{','.join(map(str, ids))}]",),
        )

    async def drop(self, connection: AsyncConnection, layer: int) -> None:
        await connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_table(layer)}")

    async def count(self, connection: AsyncConnection, layer: int) -> int:
        values: tuple[Any, ...] = (_table(layer),)
        found = await connection.exec_driver_sql(
            "SELECT count(*) FROM sqlite_master WHERE name = ?", values
        )
        return int(found.scalar_one())

    async def search(
        self, connection: AsyncConnection, layer: int, query: str, kinds: Sequence[int], limit: int
    ) -> list[tuple[int, float]]:
        words = _words(query)
        if not words:
            return []
        # Weights and kinds are our own numbers, so formatting them into SQL is safe.
        table = _table(layer)
        joined, only = "", ""
        if kinds:
            joined = f"JOIN codegraph_entities e ON e.id = {table}.rowid"
            only = f"AND e.kind IN ({','.join(map(str, kinds))})"
        rank = f"bm25({table}, {', '.join(map(str, _WEIGHTS))})"
        select = (
            f"SELECT {table}.rowid, -{rank} AS score FROM {table} {joined} "  # noqa: S608
            f"WHERE {table} MATCH ? {only} "
        )
        # The unary plus keeps SQLite from querying FTS5 once per row id.
        among = f"AND +{table}.rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?) "  # noqa: S608
        best = "ORDER BY score DESC LIMIT ?"
        rarer = await _rarer(connection, table, words)
        found: Any = []
        if len(rarer) < len(words):
            values: tuple[Any, ...] = (_any_of(words), _any_of(rarer), limit)
            found = (await connection.exec_driver_sql(select + among + best, values)).all()
        if len(found) < limit:
            values = (_any_of(words), limit)
            found = (await connection.exec_driver_sql(select + best, values)).all()
        return [(int(row[0]), float(row[1])) for row in found]


class _Postgres:
    async def begin(self, connection: AsyncConnection, layer: int) -> None:
        """There is one table for all layers."""

    async def add(self, connection: AsyncConnection, layer: int, first: int) -> None:
        await connection.execute(
            text(
                "INSERT INTO codegraph_words (id, layer, org, repo, words) "
                "SELECT id, layer, org, repo, array_to_tsvector(ARRAY[CAST(:scope AS text)]) || "
                "setweight(to_tsvector('english', name || ' ' || words), 'A') || "
                "setweight(to_tsvector('english', signature), 'B') || "
                "setweight(to_tsvector('english', doc), 'D') "
                "FROM codegraph_entities WHERE id >= :first AND id < :last"
            ),
            {"scope": _scope(layer), "first": first, "last": end_id(layer)},
        )

    async def remove(self, connection: AsyncConnection, layer: int, ids: Sequence[int]) -> None:
        await connection.execute(
            text("DELETE FROM codegraph_words WHERE id = ANY(CAST(:ids AS bigint[]))"),
            {"ids": list(ids)},
        )

    async def drop(self, connection: AsyncConnection, layer: int) -> None:
        await connection.execute(
            text("DELETE FROM codegraph_words WHERE id >= :first AND id < :last"),
            {"first": first_id(layer), "last": end_id(layer)},
        )

    async def count(self, connection: AsyncConnection, layer: int) -> int:
        found = await connection.execute(
            text("SELECT count(*) FROM codegraph_words WHERE id >= :first AND id < :last"),
            {"first": first_id(layer), "last": end_id(layer)},
        )
        return int(found.scalar_one())

    async def search(
        self, connection: AsyncConnection, layer: int, query: str, kinds: Sequence[int], limit: int
    ) -> list[tuple[int, float]]:
        terms = [word for term in terms_of(query) for word in term]
        if not terms:
            return []
        only = "AND e.kind = ANY(CAST(:kinds AS smallint[])) " if kinds else ""
        rank = "ts_rank(CAST('{0.1, 0.2, 0.4, 1.0}' AS real[]), w.words, q.query, 1)"
        values = {
            "query": " | ".join(f"'{word}'" for word in dict.fromkeys(terms)),
            "scope": f"'{_scope(layer)}'",
            "limit": limit,
            **({"kinds": list(kinds)} if kinds else {}),
        }
        found = await connection.execute(
            text(
                "WITH q AS (SELECT to_tsquery('english', :query) AS query) "  # noqa: S608
                f"SELECT w.id, {rank} AS score FROM q, codegraph_words w "
                f"{'JOIN codegraph_entities e ON e.id = w.id ' if kinds else ''}"
                f"WHERE w.words @@ (CAST(:scope AS tsquery) && q.query) {only}"
                "ORDER BY score DESC, w.id LIMIT :limit"
            ),
            values,
        )
        return [(int(row[0]), float(row[1])) for row in found]


def _table(layer: int) -> str:
    return f"codegraph_words_{int(layer)}"


def _scope(layer: int) -> str:
    """The word that marks a layer's entities; tokenised text never contains ``#``."""
    return f"#{int(layer)}"


def _words(query: str) -> list[str]:
    """All words of a query's terms, each once."""
    return list(dict.fromkeys(word for term in terms_of(query) for word in term))


def _any_of(words: Sequence[str]) -> str:
    """An FTS5 query for any of these words."""
    return " OR ".join(f'"{word}"' for word in words)


async def _rarer(connection: AsyncConnection, table: str, words: Sequence[str]) -> list[str]:
    """The rarest words that together match at least ``ENOUGH`` entities, or all words.

    Counting a word's entities takes a tenth of the time of ranking them.
    """
    if len(words) == 1:
        return list(words)
    count = f"(SELECT count(*) FROM {table} WHERE {table} MATCH ?)"  # noqa: S608
    each = tuple(f'"{word}"' for word in words)
    counted = await connection.exec_driver_sql(f"SELECT {', '.join([count] * len(words))}", each)
    counts = dict(zip(words, counted.one(), strict=True))
    chosen: list[str] = []
    entities = 0
    for word in sorted(words, key=counts.__getitem__):
        if entities >= ENOUGH:
            break
        chosen.append(word)
        entities += counts[word]
    return chosen
