"""The facts of one repository's files by content digest: one SQLite file in the data directory.

It is a cache: what is missing is parsed again. Workers read it while the portal writes, so a file
is parsed once however often an index is killed, and linking needs no facts in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path

from plugins.codegraph.indexer.parsed_file import VERSION

_TABLE = (
    "CREATE TABLE IF NOT EXISTS facts (digest TEXT, reader TEXT, version INTEGER, data BLOB, "
    "PRIMARY KEY (digest, reader))"
)
Key = tuple[str, str]
"""The digest of a file's bytes, and its reader (``parsed_file.reader_of``)."""


class FactsCache:
    """The cache of one repository; use it in one thread.

    Args:
        file: the cache file; created with its directory if missing.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = _opened(file)
        except sqlite3.DatabaseError:
            # It is only a cache: replace a damaged one.
            delete(file)
            self._connection = _opened(file)

    def get(self, key: Key) -> bytes | None:
        """The packed facts for a key, or None."""
        query = "SELECT data FROM facts WHERE digest = ? AND reader = ? AND version = ?"
        found = self._connection.execute(query, (*key, VERSION)).fetchone()
        return None if found is None else bytes(found[0])

    def has(self, key: Key) -> bool:
        """Whether a key is cached."""
        query = "SELECT 1 FROM facts WHERE digest = ? AND reader = ? AND version = ?"
        return self._connection.execute(query, (*key, VERSION)).fetchone() is not None

    def put(self, found: Iterable[tuple[Key, bytes]]) -> None:
        """Store packed facts."""
        rows = [(*key, VERSION, data) for key, data in found]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)

    def missing(self, keys: Collection[Key]) -> set[Key]:
        """Those of the keys that are not cached."""
        query = "SELECT digest, reader FROM facts WHERE version = ?"
        return set(keys) - set(self._connection.execute(query, (VERSION,)))

    def forget_but(self, keys: Collection[Key]) -> None:
        """Remove all other keys once they outnumber these by 1,000; until then they stay, since an
        edit may be reverted."""
        there = set(self._connection.execute("SELECT digest, reader FROM facts"))
        others = there - set(keys)
        if len(others) <= len(keys) + 1_000:
            return
        with self._connection:
            delete = "DELETE FROM facts WHERE digest = ? AND reader = ?"
            self._connection.executemany(delete, sorted(others))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def missing_in(file: Path, keys: Collection[Key]) -> set[Key]:
    """Those of the keys that a cache file does not contain."""
    cache = FactsCache(file)
    try:
        return cache.missing(keys)
    finally:
        cache.close()


def delete(file: Path) -> None:
    """Delete a cache file that is not open."""
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _opened(file: Path) -> sqlite3.Connection:
    # Calls come from different threads, but never at the same time.
    connection = sqlite3.connect(file, timeout=30, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(_TABLE)
        # Facts of another version may date from before secrets were removed from texts.
        connection.execute("DELETE FROM facts WHERE version != ?", (VERSION,))
        connection.commit()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
