"""Following directories goes on, whatever the system's watching does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from gateway.contract import directories


class Failing:
    """A watch that the system has given up; the library's own cannot be made to fail."""

    def watch(self, *_: object) -> None:
        raise WatchfilesRustInternalError("error in underlying watcher: No space left on device")

    def close(self) -> None:
        pass


async def test_a_watch_that_fails_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directories, "RETRY_SECONDS", 0)
    monkeypatch.setattr(directories, "_open", lambda _: Failing())
    synced = asyncio.Semaphore(0)

    async def sync() -> bool:
        synced.release()
        return True

    following = asyncio.create_task(directories.follow([tmp_path], sync))
    async with asyncio.timeout(60):
        for _ in range(3):
            await synced.acquire()
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following


async def test_a_change_is_told_with_the_directory_that_it_is_in(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    told: asyncio.Queue[frozenset[Path]] = asyncio.Queue()

    async def work(changed: frozenset[Path]) -> bool:
        told.put_nowait(changed)
        return True

    both = [tmp_path / "a", tmp_path / "b"]
    following = asyncio.create_task(directories.follow_each(both, work))
    async with asyncio.timeout(60):
        assert await told.get() == set(both)
        (tmp_path / "b/new.md").write_text("x")
        assert await told.get() == {tmp_path / "b"}
        (tmp_path / "a/new.md").write_text("x")
        while await told.get() != {tmp_path / "a"}:
            pass
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following


async def test_what_changes_while_the_work_is_done_is_told_after_it(tmp_path: Path) -> None:
    told: asyncio.Queue[int] = asyncio.Queue()

    async def work(changed: frozenset[Path]) -> bool:
        if told.qsize() == 0:
            await asyncio.to_thread((tmp_path / "during.md").write_text, "x")
        told.put_nowait(len(changed))
        return True

    following = asyncio.create_task(directories.follow_each([tmp_path], work))
    async with asyncio.timeout(60):
        while told.qsize() < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
