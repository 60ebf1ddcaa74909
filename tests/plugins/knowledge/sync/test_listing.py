"""A listing is kept whole and in changes, and read as it was kept."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract import Objects
from gateway.services.objects import open_objects
from plugins.knowledge.sync.listing import KeptListing, ListedFile, Listing
from tests.examples import examples

pytestmark = pytest.mark.anyio
KEY = "sources/one.json"
AT = datetime(2026, 3, 1, tzinfo=UTC)
NEW = ListedFile(sha="new", size=2, date=AT)


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
    assert await KeptListing(objects, KEY).load() is None


async def test_one_changed_note_of_many_is_written_alone(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    kept, before = KeptListing(objects, KEY), listing(*map(str, range(1000)))
    await kept.save(before)
    whole = await objects.get(KEY)
    after = before.model_copy(update={"files": {**before.files, "7": NEW}, "commit": "d"})
    await kept.save(after)
    assert await objects.get(KEY) == whole
    assert len(await objects.get(kept.changes_key) or b"") < 500
    assert await KeptListing(objects, KEY).load() == after


async def test_a_draft_is_the_changes_of_what_is_served(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    served, before = KeptListing(objects, KEY), listing(*map(str, range(1000)))
    await served.save(before)
    after = before.model_copy(update={"files": {**before.files, "7": NEW}, "commit": "d"})
    await KeptListing(objects, "fetched/d.json", served).save(after)
    assert await objects.get("fetched/d.json") is None
    assert await KeptListing(objects, "fetched/d.json", KeptListing(objects, KEY)).load() == after
    assert await KeptListing(objects, KEY).load() == before


async def test_changes_that_follow_another_listing_are_passed_over(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    kept = KeptListing(objects, KEY)
    await kept.save(listing(*map(str, range(100))))
    changes = await objects.get(kept.changes_key)
    assert changes is not None
    await kept.save(listing("new.md"))
    await objects.put(kept.changes_key, changes)  # of a process that was slower
    assert await KeptListing(objects, KEY).load() == listing("new.md")


async def test_a_listing_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    objects = open_objects("embedded", tmp_path)
    await objects.put(KEY, listing("a.md").model_dump_json().encode())
    kept = KeptListing(objects, KEY)
    assert await kept.load() == listing("a.md")
    await kept.save(listing("a.md", "b.md"))
    assert await KeptListing(objects, KEY).load() == listing("a.md", "b.md")


STEPS = st.lists(
    st.tuples(st.booleans(), st.dictionaries(st.integers(0, 40), st.integers(0, 3), max_size=4)),
    max_size=12,
)


@settings(max_examples=examples(60), deadline=None)
@given(steps=STEPS)
def test_whatever_is_saved_is_loaded_by_everyone(steps: list[Any]) -> None:
    """Two processes save in turn, each upon what it has loaded; 0 takes a note away."""

    async def run(objects: Objects) -> None:
        both = KeptListing(objects, KEY), KeptListing(objects, KEY)
        await both[0].save(listing(*map(str, range(30))))
        for which, edits in steps:
            now = await both[which].load()
            assert now is not None
            edited = {
                str(path): ListedFile(sha=f"{path}-{size}", size=size, date=AT)
                for path, size in edits.items()
            }
            files = {path: one for path, one in {**now.files, **edited}.items() if one.size}
            after = now.model_copy(update={"files": files})
            await both[which].save(after)
            for one in (*both, KeptListing(objects, KEY)):
                assert await one.load() == after

    with tempfile.TemporaryDirectory() as root:
        asyncio.run(run(open_objects("embedded", Path(root))))


@settings(max_examples=examples(40), deadline=None)
@given(
    rounds=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4, unique=True), max_size=5),
    many=st.booleans(),
    last=st.integers(0, 3),
)
def test_who_saves_after_savers_at_once_is_heard_by_everyone(
    rounds: list[list[int]], many: bool, last: int
) -> None:
    """Processes save at the same time, none of them upon what the others saved just then."""

    async def run(objects: Objects) -> None:
        processes = [KeptListing(objects, KEY) for _ in range(4)]
        base = listing(*map(str, range(30)))
        await processes[0].save(base)
        saved = [base]
        for number, some in enumerate(rounds):
            made = [_changed(base, f"{number}-{who}", whole=many) for who in some]
            saved += made
            pairs = zip(some, made, strict=True)
            await asyncio.gather(*(processes[who].save(one) for who, one in pairs))
            assert await KeptListing(objects, KEY).load() in saved  # one of them, and no mixture
        after = _changed(base, "last", whole=False)
        await processes[last].save(after)
        for one in (*processes, KeptListing(objects, KEY)):
            assert await one.load() == after

    with tempfile.TemporaryDirectory() as root:
        asyncio.run(run(open_objects("embedded", Path(root))))


def _changed(base: Listing, name: str, *, whole: bool) -> Listing:
    """A listing of which one note, or each, is another."""
    new = ListedFile(sha=name, size=2, date=AT)
    files = dict.fromkeys(base.files, new) if whole else {**base.files, "7": new}
    return base.model_copy(update={"files": files, "commit": name})
