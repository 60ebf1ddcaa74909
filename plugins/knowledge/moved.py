"""Finds where a document went whose folder was renamed or that lies in another one now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from plugins.knowledge.notes.documents import DocumentEntry


def moved(id: str, entries: Iterable[DocumentEntry]) -> DocumentEntry | None:
    """The document whose id ends as a former one does, part by part; None where several do alike.

    Where paths name documents (``ids: path``), those of a folder that is renamed get other ids, all
    of which end as before: ``guides.blog.basic`` is ``lessons.blog.basic`` then.

    Args:
        id: what a document was called by, which is no document's now.
        entries: the documents that there are.
    """
    parts = id.split(".")
    last = f".{parts[-1]}"
    if not any(map(str.isalpha, last)):
        return None
    found: list[DocumentEntry] = []
    longest = 1
    for entry in entries:
        if not (entry.id.endswith(last) or entry.id == parts[-1]):
            continue
        alike = _alike(parts, entry.id.split("."))
        if alike >= longest:
            found = [*found, entry] if alike == longest else [entry]
            longest = alike
    return found[0] if len(found) == 1 else None


def _alike(parts: Sequence[str], others: Sequence[str]) -> int:
    """How many of the last parts of two ids are the same."""
    pairs = zip(reversed(parts), reversed(others), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
