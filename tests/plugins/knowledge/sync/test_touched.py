"""What is only touched has not changed, and what has changed is known to have."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.sync import sources


def touch(file: Path, days_ago: int = 0) -> datetime:
    """Have a file seem to be written some days ago; when that was."""
    moment = datetime.now(UTC).replace(microsecond=0) - timedelta(days=days_ago)
    os.utime(file, (moment.timestamp(), moment.timestamp()))
    return moment


async def test_a_file_that_is_only_touched_has_not_changed(library: Any) -> None:
    undated, dated = library.note("notes/a.md", date=None), library.note("notes/b.md")
    written = touch(undated, days_ago=9)
    await library.sync()
    before = [await library.document(f"file/{name}") for name in "ab"]
    assert before[0].written == written
    for days in (5, 1):
        touch(undated, days_ago=days)
        touch(dated, days_ago=days)
        await library.start()
        assert (await library.sync()).written == []
    assert [await library.document(f"file/{name}") for name in "ab"] == before
    undated.write_bytes(undated.read_bytes() + b" More.")
    changed = touch(undated, days_ago=1)
    assert (await library.sync()).written == ["file/a"]
    assert (await library.document("file/a")).written == changed


async def test_a_text_that_changes_is_noticed_whatever_date_it_states(library: Any) -> None:
    file = library.note("notes/a.md", "One.")
    touch(file, days_ago=9)
    await library.sync()
    before = await library.document("file/a")
    assert (before.changed_at, before.rewritten) == (None, before.written)
    library.note("notes/a.md", "Two.")
    changed = touch(file, days_ago=5)
    await library.sync()
    document = await library.document("file/a")
    assert (document.changed_at, document.rewritten) == (changed, changed)
    assert document.written == before.written
    assert document.synced_at > before.synced_at
    await library.agrees()


async def test_a_text_that_is_read_another_way_has_not_changed(library: Any) -> None:
    file = library.note("notes/a.md", "One.")
    await library.sync()
    before, text = await library.document("file/a"), file.read_bytes()
    file.write_bytes(b"---\n: {\n---\nOne.")  # broken, and mended
    await library.sync()
    file.write_bytes(text)
    library.config["sources"] = [{"directory": library.notes, "tier": "members"}]
    await library.start()
    assert (await library.sync()).written == ["file/a"]
    after = await library.document("file/a")
    assert after.tier is Tier.MEMBERS
    assert (after.changed_at, after.synced_at) == (None, before.synced_at)


async def test_a_file_that_could_not_be_read_is_read_once_that_is_mended(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    library.note("notes/a.md")
    with monkeypatch.context() as closed:
        closed.setattr(sources, "read_file", refused)
        await library.sync()
        told = [str(one) for one in library.syncing.status.problems]
        assert told == ["notes/a.md:1: cannot be read: Permission denied"]
        assert library.syncing.status.turns < datetime.now(UTC)  # so that it is looked at again
        assert not (await library.sync()).recorded
    assert (await library.sync()).written == ["file/a"]
    assert (library.syncing.status.problems, library.syncing.status.turns) == ([], None)
    await library.agrees()
