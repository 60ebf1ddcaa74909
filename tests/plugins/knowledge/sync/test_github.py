"""A branch on GitHub is followed: whatever happens to it, and wherever a sync stops."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.services.objects import StorageError
from plugins.knowledge.sync import follower, remote_head
from plugins.knowledge.sync.admin_routes import SyncState, handle_state
from plugins.knowledge.sync.progress import Progress
from tests.examples import examples
from tests.plugins.knowledge.sync.branch import Branch, note
from tests.plugins.knowledge.sync.test_sync_properties import Failing
from tests.servers.github_contents import GithubContents


def state(branch: Branch) -> SyncState:
    """How the sync of a branch is, as admins are told."""
    loop = SimpleNamespace(documents=0, progress=Progress())
    handle: Any = SimpleNamespace(
        sync=branch.library.syncing, followers=[branch.follower], sync_loop=loop
    )
    return handle_state(handle)


@pytest.fixture(scope="session")
def github_server() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
async def branch(library: Any, github_server: GithubContents, tmp_path: Path) -> Any:
    github_server.answers()
    github_server.requests.clear()
    made = Branch(library, github_server, tmp_path)
    async with made.started():
        yield made
    github_server.answers()


async def test_what_is_published_is_served_and_only_that_is_kept(branch: Branch) -> None:
    commit = branch.history.commit(
        {"tags/dao.md": note("One."), "tags/draft.md": note(draft="true"), "README.md": b"x"}
    )
    assert await branch.follower.follow() == {"source": "garden/kb@main", "commit": commit}
    assert branch.library.keys == ["tag/dao"]
    document = await branch.library.document("tag/dao")
    assert (document.content, document.commit_sha) == ("One.", commit)
    assert await branch.fetched() == []
    assert sorted(await branch.library.stored()) == ["content/tag/dao.json", "raw/tags/dao.md"]


async def test_added_modified_removed_and_renamed_files_are_followed(branch: Branch) -> None:
    branch.history.commit(
        {"tags/edited.md": note("Old."), "tags/gone.md": note(), "tags/a.md": note("Moved.")}
    )
    await branch.follower.follow()
    branch.github.requests.clear()
    branch.history.commit(
        {
            "tags/edited.md": note("New."),
            "tags/gone.md": None,
            "tags/a.md": None,
            "links/a.md": note("Moved."),
            "tags/added.md": note(),
        }
    )
    await branch.follower.follow()
    assert branch.library.keys == ["link/a", "tag/added", "tag/edited"]
    assert (await branch.library.document("tag/edited")).content == "New."
    read = [path for path in branch.github.asked if "/contents/" in path]
    assert len(read) == 3  # what is new, and nothing else
    await branch.library.agrees()


async def test_a_note_that_breaks_keeps_its_document_and_unpublishing_removes_it(
    branch: Branch,
) -> None:
    branch.history.commit({"tags/a.md": note("Old."), "tags/b.md": note()})
    await branch.follower.follow()
    branch.history.commit({"tags/a.md": b"---\na: [\n---\n", "tags/b.md": note(publish="false")})
    await branch.follower.follow()
    assert branch.library.keys == ["tag/a"]
    assert (await branch.library.document("tag/a")).content == "Old."
    assert len(branch.library.problems) == 1
    await branch.library.agrees()


async def test_many_notes_come_as_one_tarball(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "MAX_SINGLE_FETCHES", 2)
    branch.history.commit({f"notes/{number}.md": note() for number in range(3)})
    await branch.follower.follow()
    assert len(branch.library.keys) == 3
    assert not [path for path in branch.github.asked if "/contents/" in path]
    assert await branch.fetched() == []


async def test_a_force_push_that_took_the_old_commit_away_is_followed(branch: Branch) -> None:
    first = branch.history.commit({"tags/a.md": note("One.")})
    branch.history.commit({"tags/b.md": note()})
    await branch.follower.follow()
    branch.history.git("reset", "-q", "--hard", first)
    branch.history.commit({"tags/c.md": note()})
    branch.history.forget()
    await branch.follower.follow()
    assert branch.library.keys == ["tag/a", "tag/c"]
    await branch.library.agrees()


@pytest.mark.parametrize("known", [True, False])
async def test_a_tree_that_is_not_listed_whole_is_read_all_the_same(
    branch: Branch, known: bool
) -> None:
    branch.history.commit({"tags/a.md": note(), "tags/b.md": note()})
    if known:
        await branch.follower.follow()
    branch.history.commit({"tags/b.md": None, "tags/c.md": note()})
    branch.history.entries = 1
    await branch.follower.follow()
    assert branch.library.keys == ["tag/a", "tag/c"]
    await branch.library.agrees()


async def test_a_link_in_a_branch_is_a_warning_as_what_it_leads_to_is_served_where_it_lies(
    branch: Branch,
) -> None:
    (branch.history.directory / "tags").mkdir()
    (branch.history.directory / "tags" / "link.md").symlink_to("a.md")
    branch.history.commit({"tags/a.md": note()})
    await branch.follower.follow()
    assert branch.library.keys == ["tag/a"]
    [problem] = branch.library.syncing.status.problems
    assert (problem.path, problem.severity) == ("tags/link.md", "warning")


async def test_a_large_branch_is_compared_and_its_tree_is_not_asked_for(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_head, "LARGE", 2)
    (branch.history.directory / "tags").mkdir()
    (branch.history.directory / "tags" / "link.md").symlink_to("a.md")
    first = branch.history.commit({"tags/a.md": note("Old."), "tags/b.md": note()})
    await branch.follower.follow()
    left_out = branch.follower.source.listing.left_out
    assert list(left_out) == ["tags/link.md"]
    branch.github.requests.clear()
    branch.history.git("mv", "tags/b.md", "tags/c.md")
    head = branch.history.commit({"tags/a.md": note("New."), "tags/d.md": note()})
    await branch.follower.follow()
    assert branch.github.asked[f"/repos/garden/kb/git/trees/{head}"] == 0
    assert branch.library.keys == ["tag/a", "tag/c", "tag/d"]
    assert (await branch.library.document("tag/a")).content == "New."
    assert branch.follower.source.listing.left_out == left_out
    await branch.library.agrees()
    branch.history.git("reset", "-q", "--hard", first)
    head = branch.history.commit({"tags/e.md": note()})
    branch.history.forget()
    await branch.follower.follow()  # nothing leads from the served commit to this one
    assert branch.github.asked[f"/repos/garden/kb/git/trees/{head}"] == 1
    assert branch.library.keys == ["tag/a", "tag/b", "tag/e"]
    await branch.library.agrees()


async def test_a_large_branch_loses_what_the_settings_leave_out_since(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_head, "LARGE", 2)
    branch.history.commit({f"tags/{name}.md": note() for name in "abc"})
    await branch.follower.follow()
    branch.follower.source.exclude = ("b.md",)
    head = branch.history.commit({"tags/d.md": note()})
    await branch.follower.follow()
    assert branch.github.asked[f"/repos/garden/kb/git/trees/{head}"] == 0
    assert branch.library.keys == ["tag/a", "tag/c", "tag/d"]


async def test_a_branch_that_is_deleted_leaves_everything_served(branch: Branch) -> None:
    branch.history.commit({"tags/a.md": note()})
    await branch.follower.follow()
    branch.history.git("branch", "-m", "main", "other")
    done = await branch.follower.follow()
    assert "the branch is gone" in done["error"]
    assert branch.follower.error == done["error"]
    assert branch.library.keys == ["tag/a"]
    branch.history.git("branch", "-m", "other", "main")
    await branch.follower.follow()
    assert branch.follower.error == ""


async def test_while_github_is_away_the_source_is_behind_and_then_catches_up(
    branch: Branch,
) -> None:
    branch.history.commit({"tags/a.md": note("Old.")})
    await branch.follower.follow()
    branch.history.commit({"tags/a.md": note("New.")})
    branch.github.failing = 503
    branch.github.requests.clear()
    assert (await branch.follower.follow())["error"]
    assert len(branch.github.requests) == 2  # once more, and then the retries are spent
    assert (await branch.library.document("tag/a")).content == "Old."
    branch.github.answers()
    assert "error" not in await branch.follower.follow()
    assert (await branch.library.document("tag/a")).content == "New."


async def test_a_note_without_a_date_gets_that_of_the_push(branch: Branch) -> None:
    branch.history.commit({"tags/a.md": note(date=None)})
    pushed = datetime(2025, 3, 4, tzinfo=UTC)
    await branch.follower.follow(dates={"tags/a.md": pushed})
    branch.history.commit({"tags/b.md": note()})
    await branch.follower.follow()
    assert (await branch.library.document("tag/a")).metadata.date == pushed


async def test_a_sync_that_another_one_overtook_changes_nothing(branch: Branch) -> None:
    branch.history.commit({"tags/a.md": note("One.")})
    recorded: dict[str, Any] = {}

    async def until_listed(name: str, function: Any, *args: Any) -> Any:
        recorded[name] = await function(*args)
        raise asyncio.CancelledError

    with suppress(asyncio.CancelledError):
        await branch.follower.follow(until_listed)
    branch.history.commit({"tags/a.md": note("Two.")})
    await branch.follower.follow()

    async def taken_up(name: str, function: Any, *args: Any) -> Any:
        return recorded[name] if name in recorded else await function(*args)

    assert (await branch.follower.follow(taken_up))["superseded"]
    assert (await branch.library.document("tag/a")).content == "Two."


async def test_admins_see_the_commit_and_everything_that_was_rejected(branch: Branch) -> None:
    commit = branch.history.commit({"tags/a.md": note(), "tags/b.md": b"---\npublish: yes\na: [\n"})
    await branch.follower.follow()
    told = state(branch)
    [source] = told.sources
    assert (source.source, source.commit, source.behind) == ("garden/kb@main", commit, "")
    assert source.synced is not None
    assert source.looked is not None
    assert [(one.path, one.severity) for one in told.rejected] == [("tags/b.md", "error")]
    branch.github.failing = 503
    await branch.follower.follow()
    assert state(branch).sources[0].behind


PATHS = ["tags/a.md", "tags/b.md", "notes/c.md", "links/d.md"]
TEXTS = {
    "one": note("One."),
    "two": note("Two.", tier="members"),
    "draft": note("Three.", draft="true"),
}
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(sorted(TEXTS))),
    st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    st.tuples(st.just("back")),
    st.tuples(st.just("follow"), st.integers(0, 16)),
    st.tuples(st.just("cancel"), st.integers(0, 60)),
    st.tuples(st.just("away")),
)


def edit(branch: Branch, kind: str, path: str = "", text: str = "") -> None:
    """Commit a change, or take the last commit back as a force push does."""
    if kind == "write":
        branch.history.commit({path: TEXTS[text]})
    elif kind == "delete" and (branch.history.directory / path).exists():
        branch.history.commit({path: None})
    elif kind == "back" and branch.history.resolve("main~1"):
        branch.history.git("reset", "-q", "--hard", "main~1")


class Ending(Failing):
    """A store whose caller is cancelled after ``turns`` of anything that it is asked."""

    turns = 10**9

    def _turn(self) -> None:
        self.turns -= 1
        if self.turns < 0:
            raise asyncio.CancelledError

    async def get(self, key: str) -> bytes | None:
        self._turn()
        return await super().get(key)

    async def put(self, key: str, data: bytes) -> None:
        self._turn()
        await super().put(key, data)
        self._turn()

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self._turn()
            await super().delete(key)


async def killed(
    branch: Branch, objects: Ending, *, writes: int = 10**9, turns: int = 10**9
) -> None:
    """Follow in a process that ends at a write, or wherever it waits for the store."""
    async with branch.started(objects):
        objects.left, objects.turns = writes, turns
        with suppress(StorageError, asyncio.CancelledError):
            await branch.follower.follow()
        objects.left = objects.turns = 10**9


async def check(make: Any, github: GithubContents, root: Path, edits: list[Any]) -> None:
    objects = Ending(str(root / "objects"))
    library = make(root, objects)
    await library.start()
    branch = Branch(library, github, root)
    branch.history.commit({"README.md": b"x"})
    for kind, *arguments in edits:
        if kind == "follow":
            await killed(branch, objects, writes=arguments[0])
        elif kind == "cancel":
            await killed(branch, objects, turns=arguments[0])
        elif kind == "away":
            github.failing = 503
            await killed(branch, objects)
            github.answers()
        else:
            edit(branch, kind, *arguments)
    async with branch.started(objects):
        assert "error" not in await branch.follower.follow()
        files = {path: branch.history.content("main", path) for path in PATHS}
        served = {path: data for path, data in files.items() if data and b"draft" not in data}
        found = [await library.document(key) for key in library.keys]
        assert {one.path: one.content.encode() for one in found} == {
            path: data.rpartition(b"\n")[2] for path, data in served.items()
        }
        await library.agrees()
    # What was fetched of a commit that was replaced while it was taken in is kept for an hour.
    with patch("plugins.knowledge.sync.github.FETCHED_KEPT", timedelta(0)):
        branch.history.commit({"README.md": b"an hour later"})
        async with branch.started(objects):
            assert "error" not in await branch.follower.follow()
            assert await branch.fetched() == []


@settings(max_examples=examples(25), deadline=None)
@given(edits=st.lists(EDITS, max_size=12))
def test_whatever_was_pushed_and_wherever_it_stopped_the_branch_is_what_is_served(
    library_class: Any, github_server: GithubContents, edits: list[Any]
) -> None:
    github_server.answers()
    with tempfile.TemporaryDirectory() as root:
        asyncio.run(check(library_class, github_server, Path(root), edits))
