"""The directory for a repository's derived data, all of which can be recreated."""

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
    """The directory of one repository: facts, and snapshots while workers read them."""

    directory: Path

    @property
    def cache(self) -> Path:
        """The file of the facts cache."""
        return self.directory / "facts.db"

    @property
    def marker(self) -> Path:
        """The file that records which layer is being built, and from which state of the files."""
        return self.directory / "building"

    def edges(self, layer: int) -> Path:
        """The file of the edge buffer of a layer that is being built."""
        return self.directory / f"edges-{layer}.db"

    @contextmanager
    def snapshot(self, snapshot: Snapshot) -> Generator[Path]:
        """A snapshot as a temporary file, deleted on exit."""
        file = self.directory / f"snapshot-{uuid.uuid4().hex}"
        write(snapshot, file)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete the leftovers of a killed process, but not the facts."""
        for pattern in ("snapshot-*", "edges-*"):
            for file in self.directory.glob(pattern):
                file.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete the directory."""
        shutil.rmtree(self.directory, ignore_errors=True)
