"""A sync that is killed, or finds no room, loses nothing and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.sync import transfer

HERE = Path(__file__).parent


def first_version(library: Any) -> None:
    library.note("tags/edited.md", body="Old.")
    library.note("tags/deleted.md", body="Old.")
    library.note("notes/moved.md", type="pattern", body="Old.")
    library.note("notes/same.md", body="Old.")
    for path in library.notes.rglob("*.md"):
        os.utime(path, ns=(10**18, 10**18))


def second_version(library: Any) -> None:
    library.note("tags/edited.md", body="New.", tier="members")
    library.delete("tags/deleted.md")
    library.note("notes/moved.md", type="practice", body="New.")
    library.note("links/added.md", body="New.", url="https://example.org")


def die_at(library: Any, write: int) -> bool:
    """Sync in another process that is killed at its n-th write; whether it was."""
    done = subprocess.run(
        [sys.executable, HERE.parent / "crash.py", library.notes.parent, str(write)],
        env=os.environ | {"PYTHONPATH": str(HERE.parents[3])},
        check=False,
        capture_output=True,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


@pytest.mark.heavy
async def test_killed_at_any_write_the_next_start_finishes_the_sync(
    library: Any, record_property: Callable[[str, object], None]
) -> None:
    first_version(library)
    await library.sync()
    second_version(library)
    write = 0
    while await asyncio.to_thread(die_at, library, write):
        write += 2  # what an earlier process has done, the next one has to do again
    assert write > 8
    record_property("kills", write // 2)
    await library.start()
    assert not (await library.sync()).changed
    assert library.keys == ["file/same", "link/added", "practice/moved", "tag/edited"]
    assert (await library.document("tag/edited")).content == "New."
    assert library.store.entry("tag/edited", Tier.OPEN) is None
    await library.agrees()


@pytest.mark.parametrize("write", range(1, 14, 3))
async def test_killed_and_then_put_back_the_notes_are_served_as_they_were(
    library: Any, write: int
) -> None:
    first_version(library)
    await library.sync()
    kept = {path: (path.read_bytes(), path.stat()) for path in library.notes.rglob("*.md")}
    second_version(library)
    assert await asyncio.to_thread(die_at, library, write)
    for path in library.notes.rglob("*.md"):
        if path not in kept:
            path.unlink()
    for path, (data, stat) in kept.items():
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    await library.start()
    await library.sync()
    assert library.keys == ["file/same", "pattern/moved", "tag/deleted", "tag/edited"]
    assert {(await library.document(key)).content for key in library.keys} == {"Old."}
    await library.agrees()


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """Let the kernel refuse every write beyond ``size`` bytes of a file."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


async def test_with_no_room_left_the_old_documents_are_served_on(library: Any) -> None:
    library.note("tags/dao.md", body="Old.")
    library.note("tags/hat.md")
    await library.sync()
    before = await library.stored()
    large = " ".join(str(random.Random(1).random()) for _ in range(5000))
    library.note("tags/dao.md", body=large)
    with no_file_over(20_000):
        for _ in range(2):
            with pytest.raises(OSError, match="no room"):
                await library.sync()
        assert "no room" in library.syncing.status.error
        assert library.keys == ["tag/dao", "tag/hat"]
        assert (await library.document("tag/dao")).content == "Old."
        assert await library.stored() == before
    await library.sync()
    assert library.syncing.status.error == ""
    assert (await library.document("tag/dao")).content == large
    await library.agrees()


async def test_too_little_room_stops_a_sync_before_it_writes_but_hides_at_once(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.note("tags/dao.md", body="Old.")
    library.note("tags/hat.md")
    await library.sync()
    before = await library.stored()
    library.note("tags/dao.md", body="New.")
    library.note("tags/hat.md", publish="false")
    with monkeypatch.context() as patched:
        patched.setattr(transfer, "MIN_FREE_BYTES", 2**62)
        with pytest.raises(OSError, match="no room left"):
            await library.sync()
        assert await library.stored() == before
        assert library.keys == ["tag/dao"]
        assert (await library.document("tag/dao")).content == "Old."
    await library.sync()
    assert (await library.document("tag/dao")).content == "New."
    await library.agrees()
