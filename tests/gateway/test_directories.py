"""Following directories goes on, whatever the system's watching does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from gateway import directories


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
    async with asyncio.timeout(10):
        for _ in range(3):
            await synced.acquire()
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
