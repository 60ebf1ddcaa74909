"""What a sync has to do: the manifest and a scan in, the steps out. Writes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from plugins.knowledge.notes.conversion import is_document
from plugins.knowledge.notes.documents import STATED_BY_SYNC, Document, DocumentEntry
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.note import Note
from plugins.knowledge.sync.freshness import Freshness
from plugins.knowledge.sync.keys import Candidate, assigned
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.sources import File, NoteSource, Scan


@dataclass(frozen=True, slots=True)
class Put:
    """A document to write, with the markdown it was made from."""

    document: Document
    raw: bytes

    def digest(self) -> str:
        """What names the content; not when and from which commit it was written."""
        served = self.document.model_dump_json(exclude=set(STATED_BY_SYNC))
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

    Of several files that claim one key, ``keys.py`` says which is served as what.

    Only files are considered that are not what the manifest says, and those whose key one of them
    may get: the record of any other stays the same object.

    Args:
        manifest: the state that the last sync left.
        scans: every source with what it holds now.
        rules: what names the configuration by which notes are read.
        index: the fingerprint of the search index.
        freshness: what was compared before.
        convert: the documents of other forms that are read now, as each takes long; what is known
            of the others stays, until another plan reads them. None means all.
    """

    def __init__(
        self,
        manifest: Manifest,
        scans: Sequence[tuple[NoteSource, Scan]],
        rules: str,
        index: str,
        freshness: Freshness | None = None,
        convert: Collection[str] | None = None,
    ) -> None:
        self._manifest = manifest
        self._files: dict[str, File] = {}
        for _, scan in scans:
            self._files |= scan.files
        self._scans = scans
        self._dirty = frozenset(manifest.pending)
        self._dirty_raw = frozenset(manifest.pending_raw)
        self._same_rules = manifest.rules == rules
        self._same_index = manifest.index == index
        self._notes: dict[str, Note] = {}
        self._stale = self._compared(freshness or Freshness())
        now = self.documents() if convert is None else convert
        self._postponed = frozenset(self.documents()).difference(now)

    def documents(self) -> list[str]:
        """The stale files of other forms than Markdown, in the order of their paths."""
        return sorted(filter(is_document, self._stale))

    def needed(self) -> list[str]:
        """The files whose bytes the plan may ask for, in the order of their paths."""
        old = self._manifest.files
        waiting = {path for path in self._waiting() if path not in self._stale}
        wanted = {old[path].claim for path in waiting}
        served = {
            record.entry.key
            for path, record in old.items()
            if record.claim in wanted and record.entry and self._is_fresh(path)
        }
        unserved = {path for path in waiting if old[path].claim not in served}
        return sorted((self._stale - self._postponed) | unserved)

    def stale(self) -> list[str]:
        """The files that are not what the manifest says of them, in the order of their paths."""
        return sorted(self._stale)

    def plan(self) -> Plan:
        """Compare the files with the manifest."""
        # In order: what is read last is the newest of equal dates.
        for path in sorted(self._stale - self._postponed):
            self._read(path)
        old = self._manifest.files
        gone = [path for path in old if path not in self._files]
        considered = sorted(self._considered(gone))
        claims = {path: claim for path in considered if (claim := self._claim(path))}
        keys = assigned({path: self._candidate(path, claim) for path, claim in claims.items()})
        plan = Plan(files={**old})
        for path in gone:
            del plan.files[path]
        for path in considered:
            record = self._record(path, plan, keys.served.get(path))
            if record.claim != (claim := claims.get(path)):
                record = record.model_copy(update={"claim": claim})
            plan.files[path] = record
        plan.problems = [problem for _, scan in self._scans for problem in scan.problems]
        troubled = {path for path, record in plan.files.items() if record.problems}
        for path in sorted(troubled | keys.problems.keys()):
            plan.problems += plan.files[path].problems
            plan.problems += [keys.problems[path]] if path in keys.problems else []
        self._add_removals(plan, [*considered, *gone])
        return plan

    def _compared(self, freshness: Freshness) -> set[str]:
        """The files that reading again would not leave as the manifest says."""
        if not self._same_rules:
            return set(self._files)
        old = self._manifest.files
        found = {
            path
            for source, scan in self._scans
            for path in freshness.stale(source, scan, self._manifest)
        }
        if self._dirty:
            found |= {path for path, record in old.items() if record.claim in self._dirty}
        return (found | self._dirty_raw) & self._files.keys()

    def _is_fresh(self, path: str) -> bool:
        return path in self._files and path not in self._stale

    def _waiting(self) -> set[str]:
        """The files that are served as nothing, as another one has the key that they claim."""
        records = self._manifest.files.items()
        found = {path for path, record in records if record.entry is None and record.claim}
        return found & self._files.keys()

    def _considered(self, gone: Sequence[str]) -> set[str]:
        """The files whose records may not stay as they are.

        Args:
            gone: the paths of records without a file.
        """
        if not (self._same_rules and self._same_index):
            return set(self._files)
        old = self._manifest.files
        found, new = set[str](), self._stale | self._waiting()
        asked = {key for path in gone for key in _keys(old[path])}
        while new:
            found |= new
            for path in new:
                asked |= _keys(old.get(path)) | set(self._forms(path))
            new = self._linked(asked) - found
        return found

    def _linked(self, keys: Set[str]) -> set[str]:
        """The files that are known to claim, or to be served under, one of some keys."""
        records = self._manifest.files.items()
        found = {path for path, record in records if not keys.isdisjoint(_keys(record))}
        return found & self._files.keys()

    def _forms(self, path: str) -> Iterable[str]:
        claim = self._claim(path)
        return self._candidate(path, claim).forms() if claim else ()

    def _candidate(self, path: str, key: str) -> Candidate:
        old, scans = self._manifest.files.get(path), enumerate(self._scans)
        held = old.entry.key if old and old.entry else ""
        place, name = next((at, one.name) for at, (one, scan) in scans if path in scan.files)
        return Candidate(path, key, place, name, held)

    def _read(self, path: str) -> None:
        for source, scan in self._scans:
            file, old = scan.files.get(path), self._manifest.files.get(path)
            if file is None or scan.is_away or (note := source.read(file, scan.commit)) is None:
                continue
            self._notes[path] = note
            same = old is not None and old.text == _text(note)
            if old is not None and same and source.is_dated_by_file(file, scan.commit):
                note.keep_date(old.date)

    def _claim(self, path: str) -> str | None:
        """The key that a file asks to be served as; a broken file keeps the one it has."""
        old = self._manifest.files.get(path)
        note = self._notes.get(path)
        if note is None:
            return old.claim if old else None
        if note.document is None:
            return old.entry.key if old and old.entry else None
        return note.document.key if note.published else None

    def _record(self, path: str, plan: Plan, key: str | None) -> FileRecord:
        """A file's new record; ``key`` is what it is served as, or None."""
        file = self._files[path]
        old = self._manifest.files.get(path)
        held = old.entry if old and old.entry and old.entry.key == key else None
        if key is not None and path not in self._notes and held is None:
            self._read(path)  # its rival is gone, or there is one now
        note = self._notes.get(path)
        record = self._known(path) if note is None else _of_note(note, file.stamp, key, old)
        if key is None:
            record = _serving_nothing(record)
        elif note is not None and note.document is not None:
            self._serve(path, plan, record, Put(note.document.called(key), note.raw))
        elif old is not None and held is not None:
            if note is not None:
                record.entry, record.digest = held, old.digest
            if not self._same_index or key in self._dirty:
                record = record.model_copy()  # what is reindexed may change it
                plan.reindex.append(path)
        elif record.entry is not None:  # it is to be called anew, and cannot be read just now
            record = _serving_nothing(record).model_copy(update={"stamp": ""})
        return record

    def _known(self, path: str) -> FileRecord:
        """What is known of a file that was not read: the record itself, where it holds.

        Without its stamp where it should have been read, so that it is asked for again.
        """
        file = self._files[path]
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
            and bool(old.entry.commit_sha) == bool(put.document.commit_sha)
            and not unsure
        ):
            record.entry = old.entry
            if not self._same_index:
                plan.reindex.append(path)
        else:
            if old and old.entry and old.entry.key == key:
                put = replace(put, document=self._timed(put.document, old, old.entry, record))
            record.entry = put.document.entry()
            plan.puts[path] = put

    def _timed(
        self, document: Document, old: FileRecord, before: DocumentEntry, record: FileRecord
    ) -> Document:
        """A document with when it last changed: what reads another way now has the same text."""
        if old.text == record.text:
            times = {"synced_at": before.synced_at, "changed_at": before.changed_at}
            return document.model_copy(update=times)
        written = record.date if document.commit_sha else self._files[document.path].modified
        changed = min(written, document.synced_at) if old.text else before.changed_at
        return document.model_copy(update={"changed_at": changed})

    def _add_removals(self, plan: Plan, considered: Sequence[str]) -> None:
        """Have removed what no file asks for any more.

        Args:
            plan: with the records of all files.
            considered: the paths of those that may have changed, or are gone.
        """
        before = _served(self._manifest.files, considered)
        after = _served(plan.files, considered)
        plan.removals = sorted((set(before.values()) | self._dirty) - set(after.values()))
        plan.raw_removals = sorted((before.keys() | self._dirty_raw) - after.keys())


def _served(files: Mapping[str, FileRecord], paths: Sequence[str]) -> dict[str, str]:
    """What is served from files, by their paths."""
    records = ((path, files.get(path)) for path in paths)
    return {path: record.entry.key for path, record in records if record and record.entry}


def _keys(record: FileRecord | None) -> set[str]:
    """What a file is known to claim, and to be served under."""
    if record is None:
        return set()
    served = {record.entry.key} if record.entry else set()
    return served | ({record.claim} if record.claim else set())


def _of_note(note: Note, stamp: str, key: str | None, old: FileRecord | None) -> FileRecord:
    """The record of a file that was read, serving nothing yet."""
    problems = note.problems
    if key is not None and note.document is None:  # it was served, whatever it asks now
        problems = [
            replace(one, severity="error") if one.severity == "warning" else one for one in problems
        ]
    date, text = note.origin.date, _text(note) or (old.text if old else "")
    return FileRecord(stamp=stamp, date=date, problems=problems, turns=note.turns, text=text)


def _text(note: Note) -> str:
    """The digest of what a note was read from; an empty text where it is no document."""
    if note.document is None:
        return ""
    return hashlib.blake2b(note.raw, digest_size=16).hexdigest()


def _serving_nothing(record: FileRecord) -> FileRecord:
    """The record itself where it serves nothing, so that nothing seems to have changed."""
    if record.entry is None and not record.digest:
        return record
    return record.model_copy(update={"entry": None, "digest": ""})
