"""How a branch is fetched: several notes at a time, each once, and what goes wrong is told."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.repositories import Retry
from gateway.services.objects import ObjectService, StorageError
from gateway.services.vectors.store import VectorsUnavailable
from plugins.knowledge.sync import follower
from tests.plugins.knowledge.sync.branch import Branch, note
from tests.servers.github_contents import GithubContents


@pytest.fixture(scope="module")
def github_server() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
async def branch(library: Any, github_server: GithubContents, tmp_path: Path) -> Any:
    github_server.answers()
    github_server.requests.clear()
    github_server.most_at_once = github_server.company = 0
    made = Branch(library, github_server, tmp_path)
    async with made.started():
        yield made
    github_server.answers()


def many(count: int, body: str = "Body.") -> dict[str, bytes | None]:
    return {f"notes/{number}.md": note(f"{body} {number}") for number in range(count)}


def read(branch: Branch) -> list[str]:
    return [path for path in branch.github.asked.elements() if "/contents/" in path]


async def test_eight_notes_are_fetched_at_a_time_and_each_once(branch: Branch) -> None:
    branch.history.commit(many(20))
    branch.github.company = follower.MAX_CONCURRENT_FETCHES
    assert "error" not in await branch.follower.follow()
    assert len(branch.library.keys) == 20
    assert len(read(branch)) == len(set(read(branch))) == 20
    assert branch.github.most_at_once == follower.MAX_CONCURRENT_FETCHES


async def test_steps_begin_in_the_order_of_the_notes(branch: Branch) -> None:
    branch.history.commit(many(20))
    begun: list[str] = []

    async def step(name: str, function: Any, *args: Any) -> Any:
        begun.append(name)
        return await function(*args)

    await branch.follower.follow(step)
    assert begun == ["list", *(f"fetch {path}" for path in sorted(many(20))), "serve"]


async def test_what_was_fetched_before_github_went_away_is_not_fetched_again(
    branch: Branch,
) -> None:
    branch.history.commit(many(20))

    def tell(done: int, wanted: int) -> None:
        if done == 4:
            branch.github.failing = 503

    branch.follower.tell = tell
    assert "error" in await branch.follower.follow()
    branch.follower.tell = lambda done, wanted: None
    kept = {key for key in await branch.fetched() if key.endswith(".md")}
    assert 4 <= len(kept) < 20
    branch.github.answers()
    branch.github.requests.clear()
    assert "error" not in await branch.follower.follow()
    assert len(read(branch)) == 20 - len(kept)
    assert len(branch.library.keys) == 20


async def test_while_github_has_it_wait_the_source_says_so_and_goes_on_then(
    branch: Branch,
) -> None:
    over = asyncio.Event()

    async def wait(seconds: float) -> None:
        await over.wait()

    branch.history.commit(many(2))
    branch.retry = Retry(retries=3, timeout_s=10.0, sleep=wait)
    branch.github.limit(429, {"retry-after": "600"})
    async with branch.started():
        following = asyncio.create_task(branch.follower.follow())
        said = await branch.follower.delay.begun()
        assert said.startswith("GitHub takes no more requests for now. Try again after ")
        assert branch.follower.error == said
        branch.github.answers()
        over.set()
        assert "error" not in await following
        assert branch.follower.error == ""
        assert len(branch.library.keys) == 2


async def test_a_short_pause_is_not_told(branch: Branch) -> None:
    async def wait(seconds: float) -> None:
        assert branch.follower.error == ""
        branch.github.answers()

    branch.history.commit(many(2))
    branch.retry = Retry(retries=3, timeout_s=10.0, sleep=wait)
    branch.github.failing = 503
    async with branch.started():
        assert "error" not in await branch.follower.follow()


async def test_once_one_note_has_failed_no_others_are_asked_for(branch: Branch) -> None:
    branch.history.commit(many(40))
    listed = branch.follower._list

    async def then_away() -> Any:
        found = await listed()
        branch.github.failing = 503
        branch.github.requests.clear()
        return found

    branch.follower._list = then_away  # type: ignore[method-assign]
    assert "error" in await branch.follower.follow()
    assert len(branch.github.requests) <= 2 * follower.MAX_CONCURRENT_FETCHES


@pytest.mark.parametrize("single", [50, 0])
async def test_a_note_whose_size_is_not_listed_is_measured_as_it_is_fetched(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, single: int
) -> None:
    monkeypatch.setattr(follower, "MAX_SINGLE_FETCHES", single)
    branch.history.commit({"tags/a.md": note(), "tags/b.md": note()})
    await branch.follower.follow()
    branch.history.commit({"tags/huge.md": note("x" * 6_000_000), "tags/c.md": note()})
    branch.history.entries = 1  # from here on GitHub lists no sizes, only what has changed
    assert "error" not in await branch.follower.follow()
    assert branch.library.keys == ["tag/a", "tag/b", "tag/c"]
    [problem] = branch.library.problems
    assert problem.startswith("tags/huge.md:1: the file has 6,000,")
    branch.github.requests.clear()
    assert "error" not in await branch.follower.follow()
    assert read(branch) == []
    assert branch.github.asked["/repos/garden/kb/tarball/main"] == 0


async def test_a_note_that_nobody_dates_gets_the_date_of_the_commit(branch: Branch) -> None:
    committed = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    branch.history.commit({"tags/a.md": note(date=None)}, date=committed)
    await branch.follower.follow()
    assert (await branch.library.document("tag/a")).metadata.date == committed


@pytest.mark.parametrize(
    "failure",
    [
        StorageError(errno.ENOSPC, "no room left on the device"),
        VectorsUnavailable("The Qdrant cluster does not answer"),
    ],
)
@pytest.mark.parametrize("where", ["keep", "draft", "adopt", "index"])
async def test_whatever_fails_the_source_is_behind_and_the_next_sync_completes_it(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, failure: Exception, where: str
) -> None:
    branch.history.commit({"tags/a.md": note("Old."), "tags/b.md": note()})
    await branch.follower.follow()
    branch.history.commit({"tags/a.md": note("New."), "tags/b.md": None, "tags/c.md": note()})

    async def fails(*_: Any) -> None:
        raise failure

    with monkeypatch.context() as patched:
        if where == "index":
            patched.setattr(branch.library.index, "replace", fails)
        else:
            patched.setattr(branch.follower.source, where, fails)
        done = await branch.follower.follow()
        assert str(failure) in done["error"]
        assert branch.follower.error == done["error"]
        assert (await branch.library.document("tag/a")).content in {"Old.", "New."}
    branch.github.requests.clear()
    assert "error" not in await branch.follower.follow()
    assert branch.follower.error == ""
    assert branch.library.keys == ["tag/a", "tag/c"]
    assert (await branch.library.document("tag/a")).content == "New."
    if where in {"adopt", "index"}:
        assert read(branch) == []
    await branch.library.agrees()
    assert await branch.fetched() == []


async def test_a_disk_that_is_full_half_way_loses_nothing(branch: Branch, tmp_path: Path) -> None:
    class Full(ObjectService):
        left = 10**9

        async def put(self, key: str, data: bytes) -> None:
            self.left -= 1
            if self.left < 0:
                raise StorageError(errno.ENOSPC, "no room left on the device")
            await super().put(key, data)

    objects = Full(str(tmp_path / "objects"))
    branch.history.commit(many(10))
    async with branch.started(objects):
        await branch.follower.follow()
        branch.history.commit(many(12, "New."))
        for left in (2, 7, 14, 20, 30):
            objects.left = left
            assert "no room left" in (await branch.follower.follow())["error"]
            for key in branch.library.keys:
                assert (await branch.library.document(key)).content
        objects.left = 10**9
        assert "error" not in await branch.follower.follow()
        assert len(branch.library.keys) == 12
        documents = [await branch.library.document(key) for key in branch.library.keys]
        assert all(one.content.startswith("New.") for one in documents)
        await branch.library.agrees()
