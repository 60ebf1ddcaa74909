"""A source that cannot be listed keeps what is served of it, and holds up no other."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.sync.sources import SourceMissing
from tests.plugins.knowledge.sync.test_keys import verifier


@pytest.fixture
async def two(library: Any) -> Any:
    """Two sources, ``ours`` and ``theirs``, of which each has a note."""
    for name in ("ours", "theirs"):
        library.note(f"{name}/{name}.md")
    library.config["sources"] = [
        {"directory": library.notes / name, "name": name} for name in ("ours", "theirs")
    ]
    await library.start()
    await library.sync()
    assert library.keys == ["file/ours", "file/theirs"]
    return library


def gone(library: Any) -> Path:
    return Path(shutil.move(library.notes / "theirs", library.notes.parent / "away"))


async def test_what_changes_in_a_source_is_served_while_another_one_is_away(two: Any) -> None:
    place = gone(two)
    two.note("ours/ours.md", body="New.")
    two.note("ours/more.md")
    await two.sync()
    assert two.keys == ["file/more", "file/ours", "file/theirs"]
    assert (await two.document("file/ours")).content == "New."
    assert "The notes cannot be listed" in two.syncing.status.error
    assert str(two.notes / "theirs") in two.syncing.status.error
    shutil.move(place, two.notes / "theirs")
    assert not (await two.sync()).changed
    assert two.syncing.status.error == ""
    await two.agrees()


async def test_what_changed_in_a_source_while_it_was_away_is_served_once_it_is_back(
    two: Any,
) -> None:
    place = gone(two)
    await two.sync()
    (place / "theirs.md").unlink()
    shutil.move(place, two.notes / "theirs")
    two.note("theirs/newer.md")
    await two.sync()
    assert two.keys == ["file/newer", "file/ours"]
    await two.agrees()


async def test_a_source_that_is_empty_all_at_once_holds_up_no_other(two: Any) -> None:
    (two.notes / "theirs/theirs.md").unlink()
    two.delete("ours/ours.md")
    two.note("ours/more.md")
    await two.sync()
    assert two.keys == ["file/more", "file/theirs"]
    assert "theirs is empty" in two.syncing.status.error


async def test_other_rules_hold_for_a_source_that_was_away_once_it_is_back(two: Any) -> None:
    place = gone(two)
    for source in two.config["sources"]:
        source["tier"] = "members"
    await two.start()
    await two.sync()
    assert (await two.document("file/ours")).tier.value == "members"
    assert (await two.document("file/theirs")).tier.value == "open"
    shutil.move(place, two.notes / "theirs")
    await two.sync()
    assert (await two.document("file/theirs")).tier.value == "members"
    await two.agrees()


async def test_a_source_that_was_never_there_leaves_the_others_served(library: Any) -> None:
    library.note("ours/ours.md")
    library.config["sources"] = [
        {"directory": library.notes / name, "name": name} for name in ("ours", "theirs")
    ]
    await library.start()
    await library.sync()
    assert library.keys == ["file/ours"]
    assert library.syncing.status.ready
    assert str(library.notes / "theirs") in library.syncing.status.error


async def test_where_all_sources_are_away_the_sync_fails(two: Any) -> None:
    shutil.rmtree(two.notes)
    with pytest.raises(SourceMissing):
        await two.sync()
    assert two.keys == ["file/ours", "file/theirs"]


async def test_a_comparison_says_of_a_source_that_is_away_that_alone(two: Any) -> None:
    gone(two)
    await two.sync()
    found = await verifier(two).compare()
    told = [one for one in found.differences if one.kind != "index"]  # which holds times here
    assert [one.kind for one in told] == ["source"]
    assert "The notes cannot be listed" in told[0].reason
    assert found.documents == 2
