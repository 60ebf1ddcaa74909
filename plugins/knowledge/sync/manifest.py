"""The manifest: which file every served document comes from, and how far a sync has come.

It is written before a sync changes anything (with the keys it is about to write or remove as
``pending``), now and then, and at the end. Whatever moment a process dies at, the next sync
finds in it what may be half done, and does that again.
"""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime

from pydantic import BaseModel, Field

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.fields import Maybe
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.lean_model import LeanModel

FORMAT = 1
"""The version of a manifest's form; one of another is not read, and all files are read again."""


class FileRecord(LeanModel):
    """What is known of one file.

    Attributes:
        stamp: the file's stamp when it was read; while it is the same, so are its bytes.
        date: the date that the note gets if it names none.
        claim: the ``contentType/id`` that the note asks to be served as, or None.
        digest: of the document and the markdown it was made from, if it is served.
        entry: what is served from this file; an older version, where the file broke since.
        problems: what a member should mend.
        turns: when the note is published, or is so no more, or can be read at last, though the file
            stays as it is.
        text: the digest of the markdown, when it could last be read.
    """

    stamp: str
    date: datetime
    claim: str | None = None
    digest: str = ""
    entry: DocumentEntry | None = None
    problems: list[Problem] = Field(default_factory=list)
    turns: Maybe[datetime] = None
    text: str = ""

    @property
    def is_unpublished(self) -> bool:
        """Whether the file was read, does not ask to be served, and is not broken."""
        return (
            self.stamp != ""
            and self.claim is None
            and all(one.severity != "error" for one in self.problems)
        )


class Manifest(BaseModel):
    """The state of the store as the last sync left it.

    Attributes:
        rules: what names the configuration by which the notes were read.
        index: the fingerprint of the search index that holds the documents.
        commits: the commit of each source, by its key (``NoteSource.key``).
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

    def entries(self) -> dict[str, DocumentEntry]:
        """What is served, by the path of its file."""
        return {path: record.entry for path, record in self.files.items() if record.entry}


def without(manifest: Manifest, lost: Set[str]) -> Manifest:
    """The manifest without the files of lost documents, so that they are read again.

    Args:
        manifest: as it is.
        lost: the keys of the documents.
    """
    if not lost:
        return manifest
    files = {
        path: record
        for path, record in manifest.files.items()
        if (record.entry.key if record.entry else record.claim) not in lost
    }
    if len(files) == len(manifest.files):
        return manifest
    pending = sorted({*manifest.pending, *lost})
    return manifest.model_copy(update={"files": files, "pending": pending})
