"""One index at a time, over all processes; what goes wrong is said, and what was served stays."""

from __future__ import annotations

import asyncio
import base64
import errno
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.contract import Database
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.repositories.build import BuildFailed, PlainSteps, remote_of
from plugins.codegraph.repositories.leases import Busy, Gone, Lease
from tests.plugins.codegraph.repositories.parts import World, world

pytestmark = pytest.mark.one_database


@pytest.fixture
def there(database: Database, tmp_path: Path) -> World:
    return world(database, tmp_path / "copies")


async def begun(there: World, count: int = 1) -> None:
    async with asyncio.timeout(60):
        while True:
            if len(there.index.begun) >= count:
                return
            await asyncio.sleep(0.01)


async def test_an_index_leaves_what_it_found_and_answers_the_request(
    there: World, tree: Path
) -> None:
    repository = await there.add("garden", tree)
    there.index.go_on.set()
    assert (await there.making.make(repository, "me", PlainSteps()))["files"] == 2
    state = (await there.repositories.get("garden")).state
    assert (state.summary["entities"], state.requested, str(state)) == (7, None, "")
    assert await there.held_by(repository) == ""


async def test_progress_is_seen_by_others_while_it_goes_on(there: World, tree: Path) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    async with asyncio.timeout(60):
        while True:
            state = (await there.repositories.get("garden")).state
            if state.total:
                break
            await asyncio.sleep(0.05)
    assert (state.done, state.total, state.holder) == (3, 10, "me")
    assert "reading" in str(await there.repositories.state(repository.id))
    there.index.go_on.set()
    await making


async def test_a_second_index_of_the_same_repository_is_refused(
    there: World, tree: Path, open_another: Callable[[], Database]
) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    await begun(there)
    other = world(open_another(), tree.parent / "copies")
    with pytest.raises(Busy, match="Somebody else works on this repository"):
        await other.making.make(repository, "you", PlainSteps())
    assert other.index.begun == []
    there.index.go_on.set()
    await making
    other.index.go_on.set()
    await other.making.make(repository, "you", PlainSteps())


async def test_whoever_was_killed_loses_it_after_a_while_and_finds_it_again_at_once(
    there: World, tree: Path
) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "job-1", PlainSteps()))
    await begun(there)
    making.cancel()  # as a kill would, but for the row, which is put back
    await asyncio.gather(making, return_exceptions=True)
    await there.work._take(repository.id, "job-1", Lease(""))
    there.index.go_on.set()
    with pytest.raises(Busy):
        await there.making.make(repository, "another", PlainSteps())
    await there.making.make(repository, "job-1", PlainSteps())
    await there.work._take(repository.id, "job-1", Lease(""))
    there.clock.passes(seconds=31)
    await there.making.make(repository, "another", PlainSteps())


async def test_a_removal_stops_the_index_that_is_being_made(there: World, tree: Path) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    await begun(there)
    await there.repositories.remove("garden")
    with pytest.raises(Gone):
        await making
    assert await there.held_by(repository) == ""


async def test_one_that_lost_it_to_another_stops_and_leaves_it_alone(
    there: World, tree: Path
) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    await begun(there)
    await there.seize(repository, "somebody else")
    with pytest.raises(Gone):
        await making
    assert await there.held_by(repository) == "somebody else"


async def test_a_full_disk_is_said_and_the_next_index_mends_it(there: World, tree: Path) -> None:
    repository = await there.add("garden", tree)
    there.index.go_on.set()
    there.index.error = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(BuildFailed, match="The disk is full"):
        await there.making.make(repository, "me", PlainSteps())
    state = (await there.repositories.get("garden")).state
    assert "disk is full" in str(state)
    assert state.failures == 1
    there.index.error = None
    await there.making.make(repository, "me", PlainSteps())
    assert str((await there.repositories.get("garden")).state) == ""


async def test_what_is_asked_for_meanwhile_is_asked_for_still(there: World, tree: Path) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    await begun(there)
    there.clock.passes(seconds=1)
    await there.work.request(repository.id)
    there.index.go_on.set()
    await making
    assert (await there.repositories.get("garden")).state.requested is not None


async def test_an_old_index_is_asked_for_again_and_a_new_one_is_not(
    there: World, tree: Path
) -> None:
    repository = await there.add("garden", tree)
    there.index.go_on.set()
    await there.making.make(repository, "me", PlainSteps())
    hour = timedelta(hours=1)
    await there.work.request_stale(repository.id, hour)
    assert (await there.repositories.get("garden")).state.requested is None
    there.clock.passes(hours=2)
    await there.work.request_stale(repository.id, hour)
    assert (await there.repositories.get("garden")).state.requested == there.clock()


@pytest.mark.parametrize(
    ("place", "reason"),
    [("gone", "is not there"), ("garden/water.py", "is a file"), ("locked", "cannot be read")],
)
async def test_a_directory_that_cannot_be_read_is_said(
    there: World, tree: Path, place: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "locked":

        def refuse(self: Path) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(Path, "iterdir", refuse)
    repository = await there.add("garden", tree.parent / place)
    with pytest.raises(BuildFailed, match=reason):
        await there.making.make(repository, "me", PlainSteps())


async def test_steps_that_are_recorded_are_not_taken_again(there: World, tree: Path) -> None:
    class Recorded:
        async def step(self, name: str, function: object, *args: object) -> object:
            return {"files": "", "index": {"files": 5}}[name]

    repository = await there.add("garden", tree)
    assert await there.making.make(repository, "me", Recorded()) == {"files": 5}
    assert there.index.begun == []


def test_the_token_of_a_host_goes_with_its_own_addresses_alone() -> None:
    config = CodegraphConfig.model_validate(
        {"hosts": {"Example.org": {"token": "env:TOKEN"}, "plain.example": {}}}
    )

    def secret(reference: str) -> str:
        return "hunter2"

    header = remote_of("https://example.org/a", config, secret).header
    assert base64.b64decode(header.removeprefix("Basic ")) == b"x-access-token:hunter2"
    for host in ("plain.example", "example.org.evil.example", "x.y", "example.org:8443"):
        assert remote_of(f"https://{host}/a", config, secret).header == ""


async def test_the_work_row_is_made_where_it_is_missing(there: World) -> None:
    async with there.work.held("0123456789abcdef", "me", removed=True) as hold:
        hold.progress(1, 2, "x")


async def test_why_a_fetch_fails_is_told_with_what_the_host_said_of_it(
    there: World, tree: Path
) -> None:
    repository = await there.add("garden", tree.parent / "gone")
    await there.work.withdrawn(repository.id, "garden")
    now = await there.repositories.get("garden")
    with pytest.raises(BuildFailed, match=r"may not read garden any more.*is not there"):
        await there.making.make(now, "me", PlainSteps())
    after = await there.repositories.get("garden")
    assert str(after.state).startswith("The host says")
