"""The manifest: which file every served document comes from, and how far a sync has come.

It is written before a sync changes anything (with the keys it is about to write or remove as
``pending``), now and then, and at the end. Whatever moment a process dies at, the next sync
finds in it what may be half done, and does that again.

Processes that share a store and have each an index of their own write the same manifest: the last
one's stays. So each also keeps its own as a file beside its data, to know what its index holds.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Set
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from gateway.contract import Objects
from plugins.knowledge.notes.documents import Entry
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.ids import CONTENT_PREFIX, MANIFEST_KEY, MARK_KEY

FORMAT = 1


class FileRecord(BaseModel):
    """What is known of one file.

    Attributes:
        stamp: the file's stamp when it was read; while it is the same, so are its bytes.
        date: the date that the note gets if it names none.
        claim: the ``contentType/id`` that the note asks to be served as, or None.
        digest: of the document and the markdown it was made from, if it is served.
        entry: what is served from this file; an older version, where the file broke since.
        problems: what a member should mend.
    """

    stamp: str
    date: datetime
    claim: str | None = None
    digest: str = ""
    entry: Entry | None = None
    problems: list[Problem] = Field(default_factory=list)

    @property
    def is_unpublished(self) -> bool:
        """Whether the file does not ask to be served, and is not broken."""
        return self.claim is None and all(one.severity != "error" for one in self.problems)


class Manifest(BaseModel):
    """The state of the store as the last sync left it.

    Attributes:
        rules: what names the configuration by which the notes were read.
        index: the fingerprint of the search index that holds the documents.
        commits: the commit of each source, by its directory.
        files: the files, by the path of their documents.
        pending: the documents that a sync was about to write or to remove.
        pending_raw: the paths of originals, likewise.
    """

    format: int = FORMAT
    rules: str = ""
    index: str = ""
    commits: dict[str, str] = Field(default_factory=dict)
    files: dict[str, FileRecord] = Field(default_factory=dict)
    pending: list[str] = Field(default_factory=list)
    pending_raw: list[str] = Field(default_factory=list)

    def entries(self) -> dict[str, Entry]:
        """What is served, by the path of its file."""
        return {path: record.entry for path, record in self.files.items() if record.entry}


async def load(objects: Objects, own: Path, index: str) -> Manifest:
    """Read the manifest.

    Where there is none that can be read, every stored document counts as pending, so that the
    next sync writes it anew or removes it. So does a document that the store has lost.

    Args:
        objects: the plugin's share of the object store.
        own: this process's own manifest.
        index: the fingerprint of the index; where the store's manifest was written by a process
            with another one, the own manifest is read, if it was written with this one.
    """
    shared = await current(objects, own, index)
    listed = [info.key async for info in objects.list(CONTENT_PREFIX)]
    stored = {key.removeprefix(CONTENT_PREFIX).removesuffix(".json") for key in listed}
    if shared is None:
        return Manifest(pending=sorted(stored))
    return without(shared, {entry.key for entry in shared.entries().values()} - stored)


async def current(objects: Objects, own: Path, index: str) -> Manifest | None:
    """The manifest of an index: the store's, or this process's own; None where none can be read.

    Args:
        objects: the plugin's share of the object store.
        own: this process's own manifest.
        index: the fingerprint of the index.
    """
    shared = await written(objects)
    if shared is None or shared.index == index:
        return shared
    kept = await asyncio.to_thread(lambda: _read(own.read_bytes() if own.is_file() else None))
    if kept is None or kept.index == index:
        return kept or shared
    pending = sorted({*shared.pending, *kept.pending})  # what it had begun may be in the index
    return shared.model_copy(update={"pending": pending})


async def written(objects: Objects) -> Manifest | None:
    """The manifest that some process has written last, or None where none can be read."""
    return await asyncio.to_thread(_read, await objects.get(MANIFEST_KEY))


async def stamp(objects: Objects) -> str:
    """What tells the manifest in the store from an older one, without reading it.

    Some stores know the time of a write to the second only, hence the mark beside it.
    """
    mark = await objects.get(MARK_KEY) or b""
    found = [info async for info in objects.list(MANIFEST_KEY) if info.key == MANIFEST_KEY]
    return mark.decode(errors="replace") + "".join(
        f":{info.modified.timestamp()}:{info.size}" for info in found
    )


def without(manifest: Manifest, lost: Set[str]) -> Manifest:
    """The manifest without the files of lost documents, so that they are read again.

    Args:
        manifest: as it is.
        lost: the keys of the documents.
    """
    files = {
        path: record
        for path, record in manifest.files.items()
        if (record.entry.key if record.entry else record.claim) not in lost
    }
    if len(files) == len(manifest.files):
        return manifest
    pending = sorted({*manifest.pending, *lost})
    return manifest.model_copy(update={"files": files, "pending": pending})


def _read(data: bytes | None) -> Manifest | None:
    try:
        manifest = Manifest.model_validate_json(data or b"")
    except ValidationError:
        return None
    return manifest if manifest.format == FORMAT else None


async def save(objects: Objects, own: Path, manifest: Manifest) -> None:
    """Write the manifest whole, in the store and beside this process's data."""
    data = await asyncio.to_thread(lambda: manifest.model_dump_json().encode())
    await objects.put(MANIFEST_KEY, data)
    await objects.put(MARK_KEY, secrets.token_hex(8).encode())
    await asyncio.to_thread(_replace, own, data)


async def save_own(own: Path, manifest: Manifest) -> None:
    """Write it beside this process's data alone: what its index holds of the store."""
    await asyncio.to_thread(lambda: _replace(own, manifest.model_dump_json().encode()))


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.write_bytes(data)
    draft.replace(path)
