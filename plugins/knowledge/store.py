"""The canonical store: every served document, read only up to a tier.

A document's tier is that of its note, raised where ``tiers.yaml`` names the document.

Bodies live in the object store, one object a document (specification, section 4.1); the
catalogue of everything else about them is held in memory, so that lists and lookups fetch
nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Collection, Iterable, Sequence
from itertools import islice

from pydantic import ValidationError

from gateway.contract import Host, Objects, RowKind, Rows, Tier
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.notes.ids import content_key

_ROW_KIND = "document"
REMEMBERED_CHANGES = 256
"""So many of the last changes of the catalogue are known by their keys."""


class Store:
    """Reads and writes documents; every read names the tier up to which it may see.

    Args:
        objects: the plugin's share of the object store.
        rows: what ``tiers.yaml`` says of documents.

    Attributes:
        lost: the keys of documents that could not be read; the next sync writes them anew.
    """

    def __init__(self, objects: Objects, rows: Rows) -> None:
        self.lost: set[str] = set()
        self._objects = objects
        self._rows = rows
        self._entries: dict[str, DocumentEntry] = {}
        self._sorted = True
        self._visible: dict[Tier, tuple[DocumentEntry, ...]] = {}
        self._ruled = rows.version
        self._version = 0
        self._recent: deque[Collection[str]] = deque(maxlen=REMEMBERED_CHANGES)

    @classmethod
    def of(cls, host: Host) -> Store:
        """The store of a plugin's host."""
        return cls(host.objects, host.rows)

    def row_kind(self) -> RowKind:
        """What ``tiers.yaml`` calls a document."""
        return RowKind(_ROW_KIND, "a document, as contentType/id", lambda: list(self._entries))

    @property
    def version(self) -> int:
        """Grows with every change of the catalogue; for what is derived from it and kept."""
        return self._version

    def changed_since(self, version: int) -> Collection[str] | None:
        """The keys of what has changed since a version; None where that is too long ago."""
        behind = self._version - version
        if behind > len(self._recent):
            return None
        return {key for keys in islice(reversed(self._recent), behind) for key in keys}

    def entries(self, up_to: Tier) -> Sequence[DocumentEntry]:
        """All that a caller of this tier may see, in the order of their keys."""
        if self._ruled != self._rows.version:
            self._ruled = self._rows.version
            self._visible.clear()
        if up_to not in self._visible:
            if not self._sorted:
                self._entries = {key: self._entries[key] for key in sorted(self._entries)}
                self._sorted = True
            by_key = self._entries.values()
            if self._rows.ruled:
                shown = tuple(entry for entry in by_key if self.shows(entry, up_to))
            else:
                allowed = tuple(tier for tier in Tier if up_to.allows(tier))
                shown = tuple(entry for entry in by_key if entry.tier in allowed)
            self._visible[up_to] = shown
        return self._visible[up_to]

    def withholds(self, up_to: Tier) -> bool:
        """Whether ``tiers.yaml`` keeps a document from a tier that its note gives it to."""
        if not self._rows.ruled:
            return False
        given = sum(up_to.allows(entry.tier) for entry in self._entries.values())
        return given > len(self.entries(up_to))

    def entry(self, key: str, up_to: Tier) -> DocumentEntry | None:
        """One entry by its ``contentType/id``, or None where there is none to see."""
        entry = self._entries.get(key)
        return entry if entry is not None and self.shows(entry, up_to) else None

    def shows(self, entry: DocumentEntry, up_to: Tier) -> bool:
        """Whether a tier may read a document, or would if it were here."""
        return up_to.allows(self._rows.tier(f"{_ROW_KIND}:{entry.key}", entry.tier))

    async def document(self, key: str, up_to: Tier) -> Document | None:
        """One document by its ``contentType/id``, or None where there is none to see.

        One that is damaged or gone, though it is in the catalogue, counts as ``lost``.
        """
        if self.entry(key, up_to) is None:
            return None
        data = await self._objects.get(content_key(key))
        try:
            document = Document.model_validate_json(data or b"")
        except ValidationError:
            self.lost.add(key)
            return None
        return document if self.shows(document, up_to) else None

    async def documents(self, keys: Sequence[str], up_to: Tier) -> list[Document | None]:
        """Several documents, fetched at the same time; one place in the list for each key."""
        return list(await asyncio.gather(*(self.document(key, up_to) for key in keys)))

    async def put(self, documents: Sequence[Document]) -> None:
        """Write documents, then show them in the catalogue."""
        await write_together(
            self._objects.put(content_key(document.key), document.model_dump_json().encode())
            for document in documents
        )
        self.show(document.entry() for document in documents)

    async def remove(self, keys: Sequence[str]) -> None:
        """Hide documents, then remove them."""
        self.hide(keys)
        await self._objects.delete(*map(content_key, keys))

    def show(self, entries: Iterable[DocumentEntry]) -> None:
        """Put entries of documents that are stored into the catalogue."""
        shown = {entry.key: entry for entry in entries}
        if shown:
            self._sorted = self._sorted and shown.keys() <= self._entries.keys()
            self._entries |= shown
            self._changed(shown)

    def hide(self, keys: Iterable[str]) -> None:
        """Take documents out of the catalogue: nothing reads them any more."""
        gone = [key for key in keys if self._entries.pop(key, None) is not None]
        if gone:
            self._changed(gone)

    def _changed(self, keys: Iterable[str]) -> None:
        self._visible.clear()
        self._recent.append(tuple(keys))
        self._version += 1


async def write_together(writes: Iterable[Awaitable[None]]) -> None:
    """Write at the same time; on a failure, raise only once nothing is being written any more."""
    for result in await asyncio.gather(*writes, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
