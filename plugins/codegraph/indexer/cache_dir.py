"""Where the index of a repository keeps what it can make again."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plugins.codegraph.indexer.snapshot import Snapshot, write


@dataclass(frozen=True, slots=True)
class CacheDir:
    """The directory of one repository: its facts, and snapshots while workers read them."""

    directory: Path

    @property
    def cache(self) -> Path:
        """The facts."""
        return self.directory / "facts.db"

    @property
    def marker(self) -> Path:
        """Which state of the files the layer that is being built is of."""
        return self.directory / "building"

    def edges(self, layer: int) -> Path:
        """The edges of a layer that is being built."""
        return self.directory / f"edges-{layer}.db"

    @contextmanager
    def snapshot(self, snapshot: Snapshot) -> Generator[Path]:
        """A snapshot as a file, for as long as the block lasts."""
        file = self.directory / f"snapshot-{uuid.uuid4().hex}"
        write(snapshot, file)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete what a process that was killed has left, but for the facts."""
        for pattern in ("snapshot-*", "edges-*"):
            for file in self.directory.glob(pattern):
                file.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete all of it."""
        shutil.rmtree(self.directory, ignore_errors=True)
