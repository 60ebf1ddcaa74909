"""A repository whose holder was killed is free at once, and one whose holder lives is not."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.contract import Database
from plugins.codegraph.repositories import leases
from plugins.codegraph.repositories.leases import Busy, Lease, Leases
from plugins.codegraph.repositories.liveness_lock import LivenessLock, inherited
from plugins.codegraph.repositories.repository import LOOKING, Repository, State
from tests.plugins.codegraph.repositories.lease_holder import HOLDER
from tests.plugins.codegraph.repositories.parts import World, world


@pytest.fixture
def there(database: Database, tmp_path: Path) -> World:
    return world(database, tmp_path / "copies")


@asynccontextmanager
async def holding(
    address: str, data: Path, holders: Path, repository: Repository
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Another process, which holds the repository while the block lasts."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.plugins.codegraph.repositories.lease_holder"),
        *(address, str(data), str(holders), repository.id),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[4],
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"held\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_whoever_was_killed_on_this_machine_loses_it_at_once(
    there: World, tree: Path, address: str, tmp_path: Path
) -> None:
    repository = await there.add("garden", tree)
    async with holding(address, tmp_path, tmp_path / "holders", repository) as process:
        assert await there.held_by(repository) == HOLDER
        process.send_signal(signal.SIGSTOP)  # it lives, though it says nothing
        assert not await there.work.free_dead(repository.id)
        with pytest.raises(Busy):
            async with there.work.held(repository.id, "me"):
                pass
        process.kill()
        await process.wait()
        async with there.work.held(repository.id, "me"):
            assert await there.held_by(repository) == "me"
    assert list((tmp_path / "holders").iterdir()) == []


async def test_whoever_was_killed_elsewhere_loses_it_after_a_while(
    there: World, tree: Path, address: str, tmp_path: Path
) -> None:
    repository = await there.add("garden", tree)
    async with holding(address, tmp_path, tmp_path / "elsewhere", repository):
        pass
    with pytest.raises(Busy):
        async with there.work.held(repository.id, "me"):
            pass
    there.clock.passes(seconds=31)
    async with there.work.held(repository.id, "me"):
        pass


async def test_one_that_is_dead_and_has_begun_again_is_left_alone(
    there: World, tree: Path, database: Database, tmp_path: Path
) -> None:
    repository = await there.add("garden", tree)
    living = LivenessLock(tmp_path / "holders")
    with living.shown(repository.id, "job-1"):
        await there.work._take(repository.id, "job-1", Lease(""))
        (left,) = (tmp_path / "holders").iterdir()
        data = left.read_bytes()
    left.write_bytes(data)  # as a kill leaves it
    again = Leases(database, there.clock, tmp_path / "holders")
    async with again.held(repository.id, "job-1"):
        assert not await there.work.free_dead(repository.id)
    assert await there.held_by(repository) == ""


def test_a_program_that_outlives_its_holder_holds_on(tmp_path: Path) -> None:
    living = LivenessLock(tmp_path)
    with living.shown("a", "me"):
        (left,) = tmp_path.iterdir()
        program = subprocess.Popen(["sleep", "60"], pass_fds=inherited())
        kept = left.with_name("kept")
        kept.hardlink_to(left)
    kept.rename(left)  # as a kill leaves it
    assert not living.is_dead("a", "me")
    program.kill()
    program.wait()
    assert living.is_dead("a", "me")
    assert inherited() == ()


def test_where_no_lock_can_be_made_nobody_is_said_to_be_dead(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    living = LivenessLock(tmp_path / "file")
    with living.shown("a", "me"):
        assert not living.is_dead("a", "me")
    assert not living.is_dead("a", "me")


async def test_one_who_looks_for_changes_indexes_only_once_there_are_some(
    there: World, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWAL_INTERVAL_S", 0.01)
    repository = await there.add("garden", tree)

    async def state() -> State:
        found = await there.repositories.by_id(repository.id)
        assert found is not None
        return found.state

    async with there.work.held(repository.id, "watcher", message=LOOKING) as lease:
        looking = await state()
        assert looking.holder
        assert not looking.indexing
        assert "indexing" not in str(looking)
        lease.progress(3, 10, "reading files")
        async with asyncio.timeout(60):
            while not (await state()).indexing:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert str(await state()) == "reading files, 3 of 10"
