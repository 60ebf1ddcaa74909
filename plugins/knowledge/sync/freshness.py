"""Which files are not what the manifest says of them.

A push changes one note of 100,000. What was compared before is remembered with what it was compared
with, so that a file and a record that are both the same objects as then are not compared again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plugins.knowledge.sync.changed_items import changed_items
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.sources import File, NoteSource, Scan


class Freshness:
    """Compares files with their records, by stamp and date."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, File], Mapping[str, FileRecord], set[str]]] = {}

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
            same = old is not None and old.stamp == file.stamp
            if old is None or not (same and source.is_dated(file, old.date, scan.commit, before)):
                found.add(path)
        self._known[source.key] = scan.files, now, found
        return found
