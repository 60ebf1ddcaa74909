"""The notes of a commit on GitHub, as they are listed in the object store."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import datetime

from pydantic import BaseModel, Field, ValidationError

from gateway.contract import ObjectInfo, Objects
from plugins.knowledge.sync.changed_items import changed_items

MAX_CHANGED_SHARE = 0.1
"""The share of a listing that may have changed before it is written whole again."""


class ListedFile(BaseModel):
    """One note of a commit.

    Attributes:
        sha: the id of its Git blob; equal ids mean equal bytes.
        size: in bytes.
        date: when the note was last committed, as far as that could be told.
    """

    sha: str
    size: int
    date: datetime


class Listing(BaseModel):
    """The notes of one commit.

    Attributes:
        commit: the commit's id; an empty text before the first sync.
        synced: when its notes had all been fetched, or None.
        files: by their path in the repository.
        left_out: what cannot be served, and why.
        selection: what names the settings by which the files were chosen; empty in a listing of
            an earlier version.
    """

    commit: str = ""
    synced: datetime | None = None
    files: dict[str, ListedFile] = Field(default_factory=dict)
    left_out: dict[str, str] = Field(default_factory=dict)
    selection: str = ""


class ListingChanges(Listing):
    """What a listing has that the whole one, which was written before, has not.

    Attributes:
        whole: the digest of that one's text.
        files: those that are new or not what they were.
        gone: the paths that are no more.
    """

    whole: str
    gone: list[str] = Field(default_factory=list)

    def applied(self, whole: Listing) -> Listing:
        """The listing, made of the whole one that it follows."""
        files = {**whole.files, **self.files}
        for path in self.gone:
            files.pop(path, None)
        own = {name: getattr(self, name) for name in ("commit", "synced", "left_out", "selection")}
        return whole.model_copy(update={**own, "files": files})


class KeptListing:
    """One listing in the object store, and what this process has read or written of it last.

    A listing of 100,000 notes is 13 MB, and a push changes a line of it. So it is two objects: one
    that is whole, and one with all that has changed since, which names the digest of the first.
    Changes that follow nothing that is there are passed over, and the whole listing stands alone.

    Args:
        objects: the plugin's share of the object store.
        key: what the whole one is called there.
        upon: another kept listing; this one may be stored as changes of its whole one.
    """

    def __init__(self, objects: Objects, key: str, upon: KeptListing | None = None) -> None:
        self._objects = objects
        self.key = key
        self.changes_key = f"{key.removesuffix('.json')}.changes.json"
        self._own = _Whole(objects, key)
        self._wholes = (self._own,) if upon is None else (upon._own, self._own)
        self._known: tuple[bytes, Listing] | None = None

    async def load(self) -> Listing | None:
        """The listing that was kept, or None where there is none that can be read."""
        data = await self._objects.get(self.changes_key) or b""
        if self._known is not None and self._known[0] == data:
            return self._known[1]
        self._known = None
        changes = _changes(data)
        if changes is not None and (whole := await self._named(changes.whole)):
            self._known = data, changes.applied(whole.listing)
            return self._known[1]
        return self._own.listing if await self._own.read() else None

    async def save(self, listing: Listing) -> None:
        """Keep a listing.

        Of several processes that save at once, the last one's word stays, or that of the last one
        that wrote a whole listing; whoever saves next is heard by all.
        """
        whole = await self._still_there() or self._own
        changes = _difference(whole, listing)
        changed = len(changes.files) + len(changes.gone)
        if not whole.digest or changed > MAX_CHANGED_SHARE * len(listing.files):
            await self._own.write(listing)
            changes = _difference(self._own, listing)
        data = changes.model_dump_json().encode()
        await self._objects.put(self.changes_key, data)
        self._known = data, listing

    async def _still_there(self) -> _Whole | None:
        """A whole listing that is known, and that no other process has written anew meanwhile."""
        for whole in self._wholes:
            if whole.digest and not await whole.is_as_known():
                whole.forget()
            if whole.digest:
                return whole
        return None

    async def _named(self, digest: str) -> _Whole | None:
        """The whole listing of a digest, read where it is not the one that is known."""
        for whole in self._wholes:
            if whole.digest == digest:
                return whole
        for whole in self._wholes:
            if await whole.read() and whole.digest == digest:
                return whole
        return None


class _Whole:
    """A whole listing, as it was read or written last.

    Attributes:
        digest: of its text; empty where there is none.
    """

    def __init__(self, objects: Objects, key: str) -> None:
        self.digest = ""
        self.listing = Listing()
        self._objects = objects
        self._key = key
        self._seen: ObjectInfo | None = None

    async def read(self) -> bool:
        """Read it; false where none can be read."""
        before = await self._info()
        data = await self._objects.get(self._key) or b""
        listing = await asyncio.to_thread(_parsed, data)
        self.digest = "" if listing is None else await asyncio.to_thread(_digest, data)
        self.listing = listing or Listing()
        self._seen = before if before == await self._info() else None
        return listing is not None

    async def is_as_known(self) -> bool:
        """Whether what is stored is what was read or written, as far as size and time tell."""
        return self._seen is not None and self._seen == await self._info()

    def forget(self) -> None:
        """Know nothing of it any more."""
        self.digest, self.listing, self._seen = "", Listing(), None

    async def _info(self) -> ObjectInfo | None:
        async for info in self._objects.list(self._key):
            if info.key == self._key:
                return info
        return None

    async def write(self, listing: Listing) -> None:
        """Write it; known is then what is stored, which may be another process's by now."""
        data = await asyncio.to_thread(lambda: listing.model_dump_json().encode())
        await self._objects.put(self._key, data)
        written = await asyncio.to_thread(_digest, data)
        if not await self.read() or self.digest != written:
            self._seen = None  # the next save writes it again
        self.digest, self.listing = written, listing


def _difference(whole: _Whole, listing: Listing) -> ListingChanges:
    files, gone = changed_items(whole.listing.files, listing.files)
    return ListingChanges(
        whole=whole.digest,
        commit=listing.commit,
        synced=listing.synced,
        left_out=listing.left_out,
        selection=listing.selection,
        files=files,
        gone=gone,
    )


def _changes(data: bytes) -> ListingChanges | None:
    try:
        return ListingChanges.model_validate_json(data)
    except ValidationError:  # none, as earlier versions wrote a whole listing alone
        return None


def _parsed(data: bytes) -> Listing | None:
    try:
        return Listing.model_validate_json(data)
    except ValidationError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
