"""The notes of a commit on GitHub, as they are listed in the object store."""

from __future__ import annotations

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


async def load(objects: Objects, key: str) -> Listing | None:
    """A listing that was kept, or None where there is none that can be read."""
    try:
        return Listing.model_validate_json(await objects.get(key) or b"")
    except ValidationError:
        return None


async def save(objects: Objects, key: str, listing: Listing) -> None:
    """Keep a listing."""
    await objects.put(key, listing.model_dump_json().encode())
