"""Branches, commits and pull requests, against a GitHub with a real repository behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.repositories import (
    Branches,
    Github,
    OpenGithub,
    PullRequests,
    Retry,
    Signature,
    SourceFailed,
    open_github,
    wants_changes,
)
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History
from tests.servers.github_writes import Writes

KB = "garden/kb"
TOKEN = "ghp_" + "W" * 36
ANA = Signature("Ana", "ana@example.org", datetime(2026, 11, 20, 9, 30, tzinfo=UTC))


@dataclass
class Garden:
    """A repository that can be written to, and what writes to it."""

    server: GithubContents
    history: History
    writes: Writes
    github: OpenGithub
    waits: list[float]

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def retry(self) -> Retry:
        return Retry(retries=2, first_s=0.5, max_s=5.0, timeout_s=30.0, sleep=self._wait)

    @property
    def branches(self) -> Branches:
        return self.github.branches(KB, self.retry)

    @property
    def pulls(self) -> PullRequests:
        return self.github.pull_requests(KB, self.retry)

    async def begun(self, branch: str = "drafts/water", text: bytes = b"# Water\n") -> str:
        parent = self.history.resolve("main") or ""
        commit = await self.branches.commit(parent, {"water.md": text}, "Add water", ANA)
        assert await self.branches.create(branch, commit)
        return commit


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GithubContents]:
    history = History.begun(tmp_path / "kb")
    history.commit({"README.md": b"# Hello\n", "notes/a.md": b"a\n"})
    with GithubContents() as github:
        github.repos[KB] = Repo(
            history.directory, tokens={TOKEN}, history=history, writes=Writes(history)
        )
        yield github


@pytest.fixture
async def garden(server: GithubContents) -> AsyncIterator[Garden]:
    repo = server.repos[KB]
    assert repo.history is not None
    assert repo.writes is not None
    settings = Github(api_url=server.url, token="env:TOKEN")
    async with open_github(settings, lambda reference: TOKEN) as opened:
        yield Garden(server, repo.history, repo.writes, opened, [])


async def test_a_commit_writes_and_deletes_files_and_keeps_the_others(garden: Garden) -> None:
    parent = garden.history.resolve("main") or ""
    files = {"notes/b.md": "Wasser für alle\n".encode(), "notes/a.md": None}
    commit = await garden.branches.commit(parent, files, "Two things\n\nAnd why.", ANA)
    listed = garden.history.git("ls-tree", "-r", "--name-only", commit).split("\n")
    assert listed == ["README.md", "notes/b.md"]
    assert garden.history.content(commit, "notes/b.md") == files["notes/b.md"]
    told = garden.history.git("log", "-1", "--format=%an|%ae|%aI|%cn|%P|%B", commit)
    assert told.startswith(f"Ana|ana@example.org|2026-11-20T09:30:00+00:00|Ana|{parent}|Two things")


async def test_the_same_commit_made_twice_is_one(garden: Garden) -> None:
    parent = garden.history.resolve("main") or ""
    files = {"water.md": b"# Water\n"}
    made = [await garden.branches.commit(parent, files, "Add water", ANA) for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize("path", ["../a.md", "/a.md", "a//b.md", "a/./b.md", "", "%2e%2e/a.md"])
async def test_a_path_that_leaves_the_repository_is_refused_before_anything_is_asked(
    garden: Garden, path: str
) -> None:
    with pytest.raises(SourceFailed) as failed:
        await garden.branches.commit("0" * 40, {path: b"-"}, "-", ANA)
    assert failed.value.code == "INVALID_PATH"
    assert garden.server.requests == []


async def test_a_branch_is_begun_once_and_moved_forward_alone(garden: Garden) -> None:
    first = await garden.begun()
    assert not await garden.branches.create("drafts/water", first)
    assert await garden.branches.head("drafts/water") == first
    next_one = await garden.branches.commit(first, {"water.md": b"2"}, "Update water", ANA)
    assert await garden.branches.advance("drafts/water", next_one)
    aside = await garden.branches.commit(first, {"water.md": b"3"}, "Update water", ANA)
    assert not await garden.branches.advance("drafts/water", aside)
    assert await garden.branches.head("drafts/water") == next_one
    await garden.branches.delete("drafts/water")
    await garden.branches.delete("drafts/water")
    assert await garden.branches.head("drafts/water") is None
    assert not await garden.branches.advance("drafts/water", next_one)


async def test_a_branch_has_one_pull_request_however_often_it_is_opened(garden: Garden) -> None:
    await garden.begun()
    opened = await asyncio.gather(
        *(garden.pulls.open("drafts/water", "main", "Water", "Why.") for _ in range(3))
    )
    assert {each.number for each in opened} == {1}
    assert len(garden.writes.pulls) == 1
    assert opened[0].state == "open"
    assert (await garden.pulls.find("drafts/water")) == await garden.pulls.get(1)
    assert await garden.pulls.find("drafts/other") is None


@pytest.mark.parametrize("lost", ["POST git/refs", "POST pulls", "POST git/commits"])
async def test_what_is_done_while_its_answer_is_lost_is_done_once(
    garden: Garden, lost: str
) -> None:
    garden.writes.loses = {lost}
    parent = garden.history.resolve("main") or ""
    commit = await garden.branches.commit(parent, {"water.md": b"-"}, "Add water", ANA)
    await garden.branches.create("drafts/water", commit)
    pull = await garden.pulls.open("drafts/water", "main", "Water", "")
    assert garden.writes.asked[lost] == 2
    assert (pull.number, pull.head) == (1, commit)
    assert garden.writes.branches() == ["drafts/water", "main"]


async def test_githubs_retry_after_counts_up_to_what_somebody_waits(garden: Garden) -> None:
    garden.server.limit(429, {"retry-after": "3"})
    with pytest.raises(SourceFailed) as failed:
        await garden.branches.head("main")
    assert garden.waits == [3.0, 3.0]
    assert failed.value.retry_after == 3
    garden.server.limit(403, {"retry-after": "3600"})
    with pytest.raises(SourceFailed):
        await garden.branches.head("main")
    assert garden.waits[2:] == [5.0, 5.0]


@pytest.mark.parametrize(
    ("withheld", "named"), [("contents", "Contents"), ("pull_requests", "Pull requests")]
)
async def test_a_missing_permission_is_named_with_where_it_is_given(
    garden: Garden, withheld: str, named: str
) -> None:
    garden.writes.withheld = {withheld}
    with pytest.raises(SourceFailed) as failed:
        await garden.begun()
        await garden.pulls.open("drafts/water", "main", "Water", "")
    said = failed.value.message
    assert failed.value.code == "FORBIDDEN"
    assert f"the repository permission {named}: read and write" in said
    assert "Permissions & events" in said
    assert "token's repository permissions" in said
    assert TOKEN not in said
    assert garden.waits == []


async def test_a_rule_on_branches_is_told_as_what_it_is(garden: Garden) -> None:
    garden.writes.ruled = "drafts/"
    with pytest.raises(SourceFailed, match=r"A rule of garden/kb .* Settings, Rules"):
        await garden.begun()


async def test_without_a_credential_the_admin_is_told_to_give_one(server: GithubContents) -> None:
    async with open_github(Github(api_url=server.url), lambda reference: "") as opened:
        with pytest.raises(SourceFailed, match=r"github\.token or github\.app"):
            await opened.branches(KB).head("main")
    assert server.requests == []


async def test_what_reviewers_say_comes_in_order_with_the_lines_it_is_about(
    garden: Garden,
) -> None:
    await garden.begun()
    await garden.pulls.open("drafts/water", "main", "Water", "")
    garden.writes.review(1, "bo", "CHANGES_REQUESTED", "Say when.", "water.md", 3)
    garden.writes.comment(1, "cy", "Good to have.")
    said = await garden.pulls.remarks(1)
    assert [(each.by, each.verdict, each.text, each.path, each.line) for each in said] == [
        ("bo", "changes_requested", "", None, None),
        ("bo", None, "Say when.", "water.md", 3),
        ("cy", None, "Good to have.", None, None),
    ]
    assert wants_changes(said)
    garden.writes.review(1, "bo", "COMMENTED", "Hm.")
    assert wants_changes(await garden.pulls.remarks(1))
    garden.writes.review(1, "bo", "APPROVED")
    assert not wants_changes(await garden.pulls.remarks(1))


async def test_more_comments_than_a_page_holds_are_all_there(garden: Garden) -> None:
    await garden.begun()
    await garden.pulls.open("drafts/water", "main", "Water", "")
    for number in range(130):
        garden.writes.comment(1, "bo", f"{number}")
    assert [each.text for each in await garden.pulls.remarks(1)] == [f"{n}" for n in range(130)]


async def test_a_pull_request_says_whether_it_was_merged_closed_or_conflicts(
    garden: Garden,
) -> None:
    await garden.begun()
    await garden.begun("drafts/two", b"# Other water\n")
    for branch in ("drafts/water", "drafts/two"):
        await garden.pulls.open(branch, "main", "Water", "")
    assert (await garden.pulls.get(2)).conflicts is False
    merged = garden.writes.merge(1)
    found = await garden.pulls.get(1)
    assert (found.state, found.merged_as) == ("merged", merged)
    assert (await garden.pulls.get(2)).conflicts is True
    closed = await garden.pulls.edit(2, state="closed")
    assert closed.state == "closed"


async def test_an_answer_that_is_no_json_is_an_error_of_githubs(garden: Garden) -> None:
    garden.server.behaves = "html"
    with pytest.raises(SourceFailed) as failed:
        await garden.branches.head("main")
    assert failed.value.code == "UPSTREAM_ERROR"
    assert failed.value.transient
