"""Adopts what another process has synced: its manifest, and with it the catalogue and the index.

Processes that share a store each have a catalogue in memory, and may have an index of their own.
The documents are in the store already, so nothing is read from the sources and nothing written to
the store. It can be done again wherever it was left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from gateway.contract import Tier
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.store import Store
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.transfer import OnDocuments

BATCH_SIZE = 32
"""How many documents are read and indexed together."""


@dataclass(frozen=True, slots=True)
class ManifestChanges:
    """What another process's manifest says that this one's does not.

    Attributes:
        changed: the records of documents that are new or not what they were, by their keys.
        removed: the keys of documents that are gone.
    """

    changed: dict[str, FileRecord]
    removed: Sequence[str]

    @property
    def keys(self) -> list[str]:
        """The keys of all of them."""
        return sorted({*self.changed, *self.removed})


def manifest_changes(mine: Manifest, theirs: Manifest) -> ManifestChanges:
    """Compare two manifests; what theirs calls pending is left for them, or the next sync.

    Args:
        mine: what this process knows; what is pending there counts as not known.
        theirs: what another process has written.
    """
    before, after = _served(mine), _served(theirs)
    unsure = {*mine.pending}
    unready = {*theirs.pending}
    changed = {
        key: record
        for key, record in after.items()
        if key not in unready and (key in unsure or _differs(before.get(key), record))
    }
    removed = sorted(({*before} | unsure) - {*after} - unready)
    return ManifestChanges(changed, removed)


async def adopt_manifest(
    found: ManifestChanges,
    theirs: Manifest,
    store: Store,
    index: Index,
    *,
    indexed: bool,
    progress: OnDocuments,
) -> Manifest:
    """Bring the catalogue and the index to another process's manifest.

    Args:
        found: what it says that is new here.
        theirs: the manifest.
        store: the catalogue, and where the documents are.
        index: this process's index.
        indexed: whether it is the other process's index too, which is up to date.
        progress: told how many documents are in this process's own index.

    Returns:
        The manifest as it holds here; a document that is not in the store is not in it.
    """
    store.hide(found.removed)
    if not indexed:
        await index.remove(found.removed)
    lost: set[str] = set()
    keys, done = list(found.changed), 0

    def indexed_more(some: int) -> None:
        nonlocal done
        done += some
        progress(done, len(keys))

    if keys and not indexed:
        progress(0, len(keys))
    for start in range(0, len(keys), BATCH_SIZE):
        some = keys[start : start + BATCH_SIZE]
        entries = [found.changed[key].entry for key in some]
        store.show(entry for entry in entries if entry)
        documents = await store.documents(some, Tier.MEMBERS)
        lost |= {key for key, one in zip(some, documents, strict=True) if one is None}
        if not indexed:
            more = partial(indexed_more, len(some))
            await index.replace([one for one in documents if one], more)
    if not indexed:
        await index.finish()
    store.hide(lost)
    files = {
        path: record
        for path, record in theirs.files.items()
        if record.entry is None or record.entry.key not in lost
    }
    update = {"index": index.fingerprint, "files": files}
    return theirs.model_copy(update=update | {"pending": sorted({*theirs.pending, *lost})})


def _served(manifest: Manifest) -> dict[str, FileRecord]:
    records = manifest.files.values()
    return {record.entry.key: record for record in records if record.entry}


def _differs(before: FileRecord | None, after: FileRecord) -> bool:
    return before is None or (before.digest, before.entry) != (after.digest, after.entry)
