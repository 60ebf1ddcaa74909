"""A buffer on disk for the edges of a layer that is being built, until all of them are known.

A database writes rows fast only in key order. Edges become known file by file, in the order of
neither of their two tables: inserted as they come, each would change a page of its own, and a
million lines of code would cause gigabytes of writes. So they are buffered here, 26 bytes each,
and sorted once per direction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from plugins.codegraph.store.rows import EdgeRow

_FIELDS = [
    *(("source", "<i8"), ("kind", "i1"), ("target", "<i8")),
    *(("line", "<i4"), ("strategy", "i1"), ("sites", "<i4")),
]
_TABLE = "CREATE TABLE IF NOT EXISTS staged (path TEXT PRIMARY KEY, data BLOB)"


class EdgeBuffer:
    """The edges of one layer, by file; putting a file twice stores it once.

    Args:
        file: the buffer's file.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(file, timeout=30, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_TABLE)

    def paths(self) -> set[str]:
        """The files whose edges are stored."""
        return {row[0] for row in self._connection.execute("SELECT path FROM staged")}

    def put(self, found: Iterable[tuple[str, list[EdgeRow]]]) -> None:
        """Store the edges of some files."""
        import numpy as np

        rows = [(path, np.array(edges, dtype=_FIELDS).tobytes()) for path, edges in found]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO staged VALUES (?, ?)", rows)

    def ordered(self, *, backward: bool, most: int) -> Iterator[list[EdgeRow]]:
        """All edges in batches of at most ``most``, sorted by target if ``backward``, else by
        source."""
        import numpy as np

        rows = self._connection.execute("SELECT data FROM staged")
        whole: Any = np.frombuffer(b"".join(row[0] for row in rows), dtype=_FIELDS)
        near, far = ("target", "source") if backward else ("source", "target")
        order = np.lexsort((whole[far], whole["kind"], whole[near]))
        for start in range(0, len(order), most):
            yield whole[order[start : start + most]].tolist()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
