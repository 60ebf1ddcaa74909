"""The notes of a commit on GitHub, as they are listed in the object store."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import datetime

from pydantic import BaseModel, Field, ValidationError

from gateway.contract import Objects


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
    """

    commit: str = ""
    synced: datetime | None = None
    files: dict[str, ListedFile] = Field(default_factory=dict)
    left_out: dict[str, str] = Field(default_factory=dict)


class KeptListing:
    """One listing in the object store, and what this process has read or written of it last.

    A listing of 100,000 notes is 13 MB, and takes half a second to be made of its text: where the
    text is what it was, so is the listing.

    Args:
        objects: the plugin's share of the object store.
        key: what it is called there.
    """

    def __init__(self, objects: Objects, key: str) -> None:
        self._objects = objects
        self.key = key
        self._known: tuple[bytes, Listing] | None = None

    async def load(self) -> Listing | None:
        """The listing that was kept, or None where there is none that can be read."""
        data = await self._objects.get(self.key)
        if data is None:
            return None
        digest = await asyncio.to_thread(_digest, data)
        if self._known is None or self._known[0] != digest:
            listing = await asyncio.to_thread(_parsed, data)
            if listing is None:
                return None
            self._known = digest, listing
        return self._known[1]

    async def save(self, listing: Listing) -> None:
        """Keep a listing."""
        data = await asyncio.to_thread(lambda: listing.model_dump_json().encode())
        await self._objects.put(self.key, data)
        self._known = await asyncio.to_thread(_digest, data), listing


def _parsed(data: bytes) -> Listing | None:
    try:
        return Listing.model_validate_json(data)
    except ValidationError:
        return None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
