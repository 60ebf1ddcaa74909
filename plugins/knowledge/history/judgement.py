"""Which versions of a document a caller may see.

A version is judged by what it said, as if it were served today: what was not published then, or
was for a higher tier, is not there for who may not see it, and neither is what speaks of it. The
document as it is now is judged before; so the stricter of the two counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gateway.repositories import FileVersion
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.note import Origin
from plugins.knowledge.sync.sources import NoteSource


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A version that the caller may see: its commit, and the document that it was."""

    version: FileVersion
    document: Document


def seen(
    versions: Sequence[FileVersion],
    now: Document,
    source: NoteSource,
    shows: Callable[[Document], bool],
) -> Iterator[SeenVersion]:
    """The versions that a caller may see, in their order. It blocks.

    Args:
        versions: of the document's file.
        now: the document, which the caller may read.
        source: reads a version by the rules of today, and takes the secrets out of it.
        shows: whether the caller may read such a document.
    """
    for version in versions:
        if version.content is None or not _is_text(version.path):
            continue
        if not source.is_note(version.path):
            continue
        # The same date for all: one that a note does not name differs in nothing.
        path, date = source.prefix + version.path, now.metadata.date
        note = source.parse(version.content, Origin(path, version.path, date, version.commit))
        if note.published and note.document is not None and shows(note.document):
            yield SeenVersion(version, note.document)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
