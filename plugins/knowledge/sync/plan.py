"""What a sync has to do: the manifest and a scan in, the steps out. Writes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.note import Note
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.sources import NoteSource, Scan


@dataclass(frozen=True, slots=True)
class Put:
    """A document to write, with the markdown it was made from."""

    document: Document
    raw: bytes

    def digest(self) -> str:
        """What names the content; not when and from which commit it was written."""
        served = self.document.model_dump_json(exclude={"synced_at", "commit_sha"})
        return hashlib.blake2b(served.encode() + self.raw, digest_size=16).hexdigest()


@dataclass(slots=True)
class Plan:
    """The steps of a sync.

    Attributes:
        files: the records of all files once the plan is carried out.
        puts: the documents to write, by the paths of their files.
        reindex: paths of files whose stored documents the index should be given again.
        removals: the documents to remove, by their keys.
        raw_removals: the paths of originals to remove.
        problems: everything that members should mend, in the order of the paths.
    """

    files: dict[str, FileRecord] = field(default_factory=dict)
    puts: dict[str, Put] = field(default_factory=dict)
    reindex: list[str] = field(default_factory=list)
    removals: list[str] = field(default_factory=list)
    raw_removals: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def changes_nothing(self) -> bool:
        """Whether the store and the index are already as they should be."""
        return not (self.puts or self.reindex or self.removals or self.raw_removals)


class Planner:
    """Makes one plan. Reads files, so it blocks; call it in a thread.

    A key that several files claim goes to the file that is served under it already, else to
    the first in the order of paths; the others are errors, and served as nothing.

    Args:
        manifest: the state that the last sync left.
        scans: every source with what it holds now.
        rules: what names the configuration by which notes are read.
        index: the fingerprint of the search index.
    """

    def __init__(
        self, manifest: Manifest, scans: Sequence[tuple[NoteSource, Scan]], rules: str, index: str
    ) -> None:
        self._manifest = manifest
        self._files = {
            path: (source, scan, file)
            for source, scan in scans
            for path, file in scan.files.items()
        }
        self._scans = scans
        self._dirty = frozenset(manifest.pending)
        self._dirty_raw = frozenset(manifest.pending_raw)
        self._same_rules = manifest.rules == rules
        self._same_index = manifest.index == index
        self._notes: dict[str, Note] = {}
        self._fresh: dict[str, bool] = {}

    def needed(self) -> list[str]:
        """The files whose bytes the plan may ask for, in the order of their paths."""
        old = self._manifest.files
        fresh = {path for path in self._files if self._is_fresh(path)}
        waiting = {path for path in fresh if not old[path].entry and old[path].claim}
        if not waiting:
            return sorted(self._files.keys() - fresh)
        served = {entry.key for path in fresh if (entry := old[path].entry)}
        freed = {path for path in waiting if old[path].claim not in served}
        return sorted((set(self._files) - fresh) | freed)

    def stale(self) -> list[str]:
        """The files that are not what the manifest says of them, in the order of their paths."""
        return sorted(path for path in self._files if not self._is_fresh(path))

    def plan(self) -> Plan:
        """Compare the files with the manifest."""
        for path in self._files:
            if not self._is_fresh(path):
                self._read(path)
        claims = {path: claim for path in self._files if (claim := self._claim(path))}
        winners = self._winners(claims)
        plan = Plan()
        plan.problems = [problem for _, scan in self._scans for problem in scan.problems]
        for path in sorted(self._files):
            claim = claims.get(path)
            wins = claim is not None and winners[claim] == path
            record = self._record(path, plan, claim if wins else None)
            if record.claim != claim:
                record = record.model_copy(update={"claim": claim})
            plan.files[path] = record
            plan.problems += record.problems
            if claim is not None and not wins:
                plan.problems.append(_collision(path, claim, winners[claim]))
        self._add_removals(plan)
        return plan

    def _is_fresh(self, path: str) -> bool:
        """Whether reading the file again would give what the manifest says."""
        if path not in self._fresh:
            self._fresh[path] = self._compared(path)
        return self._fresh[path]

    def _compared(self, path: str) -> bool:
        source, scan, file = self._files[path]
        old = self._manifest.files.get(path)
        if old is None or not self._same_rules or old.stamp != file.stamp:
            return False
        if path in self._dirty_raw or old.claim in self._dirty:
            return False
        same_commit = self._manifest.commits.get(source.key) == scan.commit
        return same_commit or source.date(file, scan.commit) == old.date

    def _read(self, path: str) -> None:
        source, scan, file = self._files[path]
        if (note := source.read(file, scan.commit)) is not None:
            self._notes[path] = note

    def _claim(self, path: str) -> str | None:
        """The key that a file asks to be served as; a broken file keeps the one it has."""
        old = self._manifest.files.get(path)
        note = self._notes.get(path)
        if note is None:
            return old.claim if old else None
        if note.document is None:
            return old.entry.key if old and old.entry else None
        return note.document.key if note.published else None

    def _winners(self, claims: Mapping[str, str]) -> dict[str, str]:
        winners: dict[str, str] = {}
        for path, key in sorted(claims.items()):
            old = self._manifest.files.get(path)
            served = old is not None and old.entry is not None and old.entry.key == key
            if served or key not in winners:
                winners[key] = path
        return winners

    def _record(self, path: str, plan: Plan, key: str | None) -> FileRecord:
        """A file's new record; ``key`` is what it is served as, or None."""
        _, _, file = self._files[path]
        old = self._manifest.files.get(path)
        if key is not None and path not in self._notes and (old is None or old.entry is None):
            self._read(path)  # its rival is gone
        note = self._notes.get(path)
        record = self._known(path) if note is None else _of_note(note, file.stamp, key)
        if key is None:
            record = _serving_nothing(record)
        elif note is not None and note.document is not None and note.document.key == key:
            self._serve(path, plan, record, Put(note.document, note.raw))
        elif old is not None and old.entry is not None:
            if note is not None:
                record.entry, record.digest = old.entry, old.digest
            if not self._same_index or key in self._dirty:
                record = record.model_copy()  # what is reindexed may change it
                plan.reindex.append(path)
        return record

    def _known(self, path: str) -> FileRecord:
        """What is known of a file that was not read: the record itself, where it holds.

        Without its stamp where it should have been read, so that it is asked for again.
        """
        _, _, file = self._files[path]
        old = self._manifest.files.get(path)
        if old is None:
            return FileRecord(stamp="", date=file.modified)
        if self._is_fresh(path):
            return old
        return old.model_copy(update={"stamp": "", "digest": ""})

    def _serve(self, path: str, plan: Plan, record: FileRecord, put: Put) -> None:
        """Record a document as served; write it where it is not what is stored."""
        old = self._manifest.files.get(path)
        key, record.digest = put.document.key, put.digest()
        unsure = key in self._dirty or path in self._dirty_raw
        if (
            old
            and old.entry
            and old.entry.key == key
            and old.digest == record.digest
            and not unsure
        ):
            record.entry = old.entry
            if not self._same_index:
                plan.reindex.append(path)
        else:
            record.entry = put.document.entry()
            plan.puts[path] = put

    def _add_removals(self, plan: Plan) -> None:
        before = self._manifest.entries()
        after = {path: record.entry for path, record in plan.files.items() if record.entry}
        keys = {entry.key for entry in before.values()} | self._dirty
        plan.removals = sorted(keys - {entry.key for entry in after.values()})
        plan.raw_removals = sorted((set(before) | self._dirty_raw) - set(after))


def _of_note(note: Note, stamp: str, key: str | None) -> FileRecord:
    """The record of a file that was read, serving nothing yet."""
    problems = note.problems
    if key is not None and note.document is None:  # it was served, whatever it asks now
        problems = [
            replace(one, severity="error") if one.severity == "warning" else one for one in problems
        ]
    return FileRecord(stamp=stamp, date=note.origin.date, problems=problems)


def _serving_nothing(record: FileRecord) -> FileRecord:
    """The record itself where it serves nothing, so that nothing seems to have changed."""
    if record.entry is None and not record.digest:
        return record
    return record.model_copy(update={"entry": None, "digest": ""})


def _collision(path: str, key: str, winner: str) -> Problem:
    reason = f"{key} is also what {winner} is served as; give one of the two another name or type"
    return Problem(path, 1, reason)
