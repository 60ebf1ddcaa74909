"""A listing is made of its text where that has changed, and else is what it was."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.services.objects import open_objects
from plugins.knowledge.sync.listing import KeptListing, ListedFile, Listing

pytestmark = pytest.mark.anyio
KEY = "sources/one.json"
AT = datetime(2026, 3, 1, tzinfo=UTC)


def listing(*paths: str) -> Listing:
    return Listing(
        commit="c", files={each: ListedFile(sha=each, size=1, date=AT) for each in paths}
    )


async def test_what_was_written_or_read_last_is_not_made_of_its_text_again(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    kept, written = KeptListing(objects, KEY), listing("a.md")
    assert await kept.load() is None
    await kept.save(written)
    assert await kept.load() is written
    other = KeptListing(objects, KEY)
    read = await other.load()
    assert read == written
    assert await other.load() is read


async def test_what_another_process_has_written_is_taken_up(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    mine, theirs = KeptListing(objects, KEY), KeptListing(objects, KEY)
    await mine.save(listing("a.md"))
    await theirs.save(listing("b.md"))  # as long, and perhaps in the same second
    assert await mine.load() == listing("b.md")


async def test_a_damaged_one_is_none(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    kept = KeptListing(objects, KEY)
    await kept.save(listing("a.md"))
    await objects.put(KEY, b"{")
    assert await kept.load() is None
