"""Which files are not what the manifest says of them.

A push changes one note of 100,000. What was compared before is remembered with what it was compared
with, so that a file and a record that are both the same objects as then are not compared again.
What says when it is published, or is so no more, is read again at that time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from plugins.knowledge.sync.changed_items import changed_items
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.sources import File, NoteSource, Scan


class Freshness:
    """Compares files with their records, by stamp and date."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, File], Mapping[str, FileRecord], set[str]]] = {}
        self._turning: dict[str, dict[str, datetime]] = {}

    def stale(self, source: NoteSource, scan: Scan, manifest: Manifest) -> Collection[str]:
        """The paths of files that are new, or not what they were when they were read.

        Args:
            source: the source.
            scan: what it holds.
            manifest: the records.
        """
        files, records, known = self._known.get(source.key, ({}, {}, set()))
        now, before = manifest.files, manifest.commits.get(source.key)
        changed, _ = changed_items(files, scan.files)
        recorded, lost = changed_items(records, now)
        new = {*changed, *recorded, *lost} & scan.files.keys()
        found = (known & scan.files.keys()) - new
        for path in new:
            file, old = scan.files[path], now.get(path)
            if old is None or not _is_current(source, file, old, (scan.commit, before)):
                found.add(path)
        self._known[source.key] = scan.files, now, found
        return found | self._turned(source, scan, now, new)

    def _turned(
        self, source: NoteSource, scan: Scan, records: Mapping[str, FileRecord], new: set[str]
    ) -> set[str]:
        """The files whose time has come; ``new`` are those that may have got another."""
        before = self._turning.get(source.key, {})
        turning = {path: at for path, at in before.items() if path in scan.files}
        for path in new:
            turning.pop(path, None)
            if (old := records.get(path)) is not None and old.turns is not None:
                turning[path] = old.turns
        self._turning[source.key] = turning
        now = datetime.now(UTC)
        return {path for path, at in turning.items() if at <= now}


def _is_current(
    source: NoteSource, file: File, old: FileRecord, commits: tuple[str, str | None]
) -> bool:
    """Whether a file gives what it gave when it was read; ``commits``: of now, and of then."""
    if old.stamp != file.stamp or not source.is_dated(file, old.date, *commits):
        return False
    is_cited = old.entry is None or bool(old.entry.commit_sha)
    return is_cited or source.stays_uncited(file, *commits)
