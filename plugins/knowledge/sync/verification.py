"""Compares source, store and index completely; writes nothing.

The manifest says what should be there. An original is right where what it says is what the
manifest's digest names, and what its source holds; a document, where it is what its original says;
a point and a kept vector, where they are made of that document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from gateway.contract import Objects
from gateway.repositories import SourceFailed
from plugins.knowledge.notes.conversion import is_document
from plugins.knowledge.notes.documents import STATED_BY_SYNC, Document
from plugins.knowledge.notes.ids import (
    CONTENT_PREFIX,
    RAW_PREFIX,
    content_key,
    document_key,
    raw_key,
    raw_path,
)
from plugins.knowledge.notes.note import Origin, parse
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.index_contents import IndexContents
from plugins.knowledge.sync.away import scan_all
from plugins.knowledge.sync.differences import Difference, Kind
from plugins.knowledge.sync.follower import Follower
from plugins.knowledge.sync.github import FETCHED, LISTINGS, GithubSource, blob_id
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.manifests import Manifests
from plugins.knowledge.sync.plan import Planner, Put
from plugins.knowledge.sync.sources import File, NoteSource

MAX_CONCURRENT_READS = 32
"""Documents that are read at the same time."""


@dataclass(slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        manifest: what should be there, or None where that cannot be read.
        differences: everything that is different.
        documents: how many documents should be there.
        restored: documents that are not in the store as they should be, made of their originals.
        keys: of the documents that are to be written again, or removed.
        paths: of the notes whose originals are, likewise.
        waste: the keys of objects that belong to nothing.
    """

    manifest: Manifest | None = None
    differences: list[Difference] = field(default_factory=list)
    documents: int = 0
    restored: list[Document] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    waste: list[str] = field(default_factory=list)

    def add(self, kind: Kind, reason: str, key: str = "", path: str = "") -> None:
        """Note a difference."""
        self.differences.append(Difference(kind=kind, key=key, path=path, reason=reason))

    def mark_pending(self, kind: Kind, reason: str, key: str = "", path: str = "") -> None:
        """Note a difference that a sync mends by doing a document, or an original, again."""
        self.add(kind, reason, key, path)
        self.keys |= {key} - {""}
        self.paths |= {path} - {""}


@dataclass(eq=False, repr=False)
class Verifier:
    """Compares, while no sync runs.

    Attributes:
        sources: where the notes come from.
        objects: the plugin's share of the object store.
        index: the search index.
        rules: what names the configuration by which notes are read.
        own: the manifest that this process keeps of its index.
    """

    sources: Sequence[NoteSource]
    objects: Objects
    index: Index
    rules: str
    own: Path

    async def compare(self) -> Comparison:
        """Compare everything.

        Raises:
            OSError: a source cannot be listed, or the store not read.
        """
        found = Comparison()
        fingerprint = self.index.fingerprint
        manifest = await Manifests(self.objects, self.own).current(fingerprint)
        if manifest is None:
            await self._all_is_doubted(found)
        else:
            found.manifest = manifest
            self._look_at(manifest, found)
            await self._look_at_documents(manifest, found)
            await self._look_for_extra(manifest, found)
        await self._look_for_waste(found)
        found.differences.sort(key=lambda one: (one.kind, one.path, one.key, one.reason))
        return found

    async def _all_is_doubted(self, found: Comparison) -> None:
        found.add("manifest", "lost or damaged; every note is read again")
        found.keys |= {document_key(key) for key in await self._keys(CONTENT_PREFIX)}
        found.paths |= {raw_path(key) for key in await self._keys(RAW_PREFIX)}

    def _look_at(self, manifest: Manifest, found: Comparison) -> None:
        if manifest.index != self.index.fingerprint:
            found.add("manifest", "speaks of another index; every document is indexed again")
        if manifest.rules != self.rules:
            found.add("manifest", "was written with other settings; every note is read again")
        if undone := len(manifest.pending):
            found.add("manifest", f"a sync was broken off; {undone} documents are done again")

    async def _look_at_documents(self, manifest: Manifest, found: Comparison) -> None:
        files = await self._scanned(manifest, found)
        stock = await self.index.stock()
        served = [path for path, record in sorted(manifest.files.items()) if record.entry]
        found.documents = len(served)
        for start in range(0, len(served), MAX_CONCURRENT_READS):
            await asyncio.gather(
                *(
                    self._compare(path, manifest.files[path], files.get(path), stock, found)
                    for path in served[start : start + MAX_CONCURRENT_READS]
                )
            )
        for key, what in stock.rest():
            found.mark_pending("index", what, key)

    async def _scanned(
        self, manifest: Manifest, found: Comparison
    ) -> Mapping[str, tuple[NoteSource, File]]:
        """Every note that can be read; what has changed since the sync is a difference."""
        scans, away = await asyncio.to_thread(scan_all, self.sources, manifest)
        for reason in away:
            found.add("source", reason)
        planner = Planner(manifest, scans, self.rules, self.index.fingerprint)
        for path in planner.stale():
            what = "changed since it was synced" if path in manifest.files else "not synced yet"
            found.add("source", what, path=path)
        files = {path: (one, file) for one, scan in scans for path, file in scan.files.items()}
        for path, record in manifest.files.items():
            if path not in files:
                key = record.entry.key if record.entry else ""
                found.add("source", "no longer there, and not synced yet", key, path)
        unread = {path for _, scan in scans if scan.is_away for path in scan.files}
        return {path: held for path, held in files.items() if path not in unread}

    async def _compare(
        self,
        path: str,
        record: FileRecord,
        held: tuple[NoteSource, File] | None,
        stock: IndexContents,
        found: Comparison,
    ) -> None:
        """Compare one document with its original, its source and the index."""
        assert record.entry is not None  # noqa: S101  (only what is served is compared)
        key = record.entry.key
        stored = await self.objects.get(content_key(key))
        raw = await self.objects.get(raw_key(path))
        wanted, what = await asyncio.to_thread(_original, raw, path, record, held)
        if what:
            found.mark_pending("original", what, key, path)
        document = _document(stored)
        wrong = _wrong(stored, document, wanted)
        if wrong:
            found.mark_pending("document", wrong, key, path)
            if wanted is not None:
                found.restored.append(wanted)
        truth = wanted or document
        if truth is not None:
            for reason in await asyncio.to_thread(lambda: list(stock.compare(truth))):
                found.mark_pending("index", reason, key, path)

    async def _look_for_extra(self, manifest: Manifest, found: Comparison) -> None:
        """Documents and originals that belong to no note that is served."""
        entries = manifest.entries()
        keys = {content_key(entry.key) for entry in entries.values()}
        for key in await self._keys(CONTENT_PREFIX):
            if key not in keys:
                found.mark_pending("document", "nothing is served from it", document_key(key))
        originals = {raw_key(path) for path in entries}
        for key in await self._keys(RAW_PREFIX):
            if key not in originals:
                found.mark_pending("original", "its note is not served", path=raw_path(key))

    async def _look_for_waste(self, found: Comparison) -> None:
        """What syncs and sources have left behind, and listings that are gone."""
        followed = [one for one in self.sources if isinstance(one, GithubSource)]
        listings = {one.listing_keys[0]: one for one in followed if one.listing.commit}
        changes = {one.listing_keys[1] for one in listings.values()}
        for key in await self._leftover(followed):
            found.add("fetched", "left over from a sync that was broken off", path=key)
            found.waste.append(key)
        for key in await self._keys(LISTINGS):
            if key not in changes and listings.pop(key, None) is None:
                found.add("listing", "no source that is configured has it", path=key)
                found.waste.append(key)
        for source in listings.values():
            found.add("listing", "missing", path=source.key)

    async def _leftover(self, followed: Sequence[GithubSource]) -> list[str]:
        """What was fetched for the sources that are followed and is needed no more, and whatever
        was for another."""
        keys = [key for source in followed for key in await source.leftover()]
        prefixes = tuple(source.fetched_prefix for source in followed)
        return keys + [key for key in await self._keys(FETCHED) if not key.startswith(prefixes)]

    async def _keys(self, prefix: str) -> list[str]:
        return sorted([info.key async for info in self.objects.list(prefix)])


async def branch_differences(followers: Sequence[Follower]) -> list[Difference]:
    """Where what is served is not what its branch says now."""
    found = []
    for follower in followers:
        served = follower.source.listing.commit
        try:
            head = await follower.head()
        except SourceFailed as failure:
            reason = f"cannot be compared: {failure.message.rstrip('.')}"
        else:
            if head == served:
                continue
            at = f"is at {head[:12]}" if head else "is gone"
            reason = f"the branch {at}; {served[:12] or 'nothing'} is served"
        found.append(Difference(kind="source", path=follower.source.key, reason=reason))
    return found


def _original(
    raw: bytes | None, path: str, record: FileRecord, held: tuple[NoteSource, File] | None
) -> tuple[Document | None, str]:
    """The document that the original says, and what is wrong with the original; blocks."""
    if raw is None:
        return None, "missing"
    if held is None:
        return None, ""  # its source is gone, which is said elsewhere
    source, file = held
    commit = record.entry.commit_sha if record.entry else ""
    note = parse(raw, Origin(path, file.relative, record.date, commit), source.rules)
    document = note.document
    if document is not None and record.entry is not None:
        document = document.called(f"{document.content_type}/{record.entry.id}")
    if document is None or (record.digest and Put(document, raw).digest() != record.digest):
        return None, "altered"
    broken = any(one.severity == "error" for one in record.problems)
    if record.stamp == file.stamp and not broken and not _is_of(raw, source, file, record):
        return None, "not what its source holds"
    return document, ""


def _is_of(raw: bytes, source: NoteSource, file: File, record: FileRecord) -> bool:
    """Whether bytes are what the source holds, without secrets, as far as it holds them.

    A blob that secrets were taken out of is not at hand any more, and a document of another form is
    converted once: the digest of what is left, or was made of it, has been compared.
    """
    if is_document(file.relative):
        return True
    if isinstance(source, GithubSource):
        taken = any(one.severity == "secret" for one in record.problems)
        return taken or blob_id(raw) == file.stamp
    try:
        held = source.content(file)
    except OSError:  # it is gone since it was listed
        return True
    return held is not None and source.clean(held, file.path)[0] == raw


def _document(stored: bytes | None) -> Document | None:
    try:
        return Document.model_validate_json(stored or b"")
    except ValidationError:
        return None


def _wrong(stored: bytes | None, document: Document | None, wanted: Document | None) -> str:
    """What is wrong with a stored document, or an empty text."""
    if document is None:
        return "missing" if stored is None else "damaged"
    if wanted is None:
        return ""
    said, asked = (
        one.model_dump(mode="json", exclude=set(STATED_BY_SYNC)) for one in (document, wanted)
    )
    return "" if said == asked else "altered"
