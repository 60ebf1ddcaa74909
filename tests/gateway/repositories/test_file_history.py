"""The history of one file, as Git on this machine and GitHub tell it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.repositories import (
    FileHistory,
    GitFailed,
    Github,
    GithubRepository,
    SourceFailed,
    local_history,
    open_github,
)
from tests.examples import examples
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

NAME = "garden/kb"
LARGEST = 1024
FIRST = datetime(2026, 11, 1, tzinfo=UTC)


@asynccontextmanager
async def opened(github: GithubContents, history: History) -> AsyncGenerator[GithubRepository]:
    github.repos[NAME] = Repo(history.directory, history=history)
    async with open_github(Github(api_url=github.url), lambda reference: "") as connected:
        yield connected.repository(NAME, "main", LARGEST)


async def on_github(github: GithubContents, history: History, path: str, most: int) -> FileHistory:
    async with opened(github, history) as repository:
        return await repository.file_history(path, history.git("rev-parse", "HEAD"), most)


def told(found: FileHistory) -> list[tuple[str, str, bytes | None]]:
    return [(each.subject, each.path, each.content) for each in found.versions]


@pytest.fixture
def history(tmp_path: Path) -> History:
    begun = History.begun(tmp_path / "kb")
    begun.commit({"kb/a.md": b"one\ntwo\nthree\n", "other.md": b"x"}, FIRST, "Begin\n\nMore.")
    begun.commit({"other.md": b"y"}, FIRST + timedelta(days=1), "Elsewhere")
    begun.commit({"kb/a.md": b"one\ntwo\nfour\n"}, FIRST + timedelta(days=2), "Change")
    begun.commit({"kb/a.md": None, "kb/b.md": b"one\ntwo\nfour\n"}, None, "Rename")
    begun.commit({"kb/b.md": b"x" * (LARGEST + 1)}, None, "Grow")
    return begun


VERSIONS = [
    ("Grow", "kb/b.md", None),
    ("Rename", "kb/b.md", b"one\ntwo\nfour\n"),
    ("Change", "kb/a.md", b"one\ntwo\nfour\n"),
    ("Begin", "kb/a.md", b"one\ntwo\nthree\n"),
]


def test_git_tells_the_commits_of_a_file_and_follows_renames(history: History) -> None:
    found = local_history(history.directory, "kb/b.md", 10, LARGEST)
    assert told(found) == VERSIONS
    assert (found.older, found.missing) == (False, "")
    first = found.versions[-1]
    assert (first.date, first.author) == (FIRST, "a")
    assert first.commit == history.git("rev-list", "HEAD").split()[-1]


async def test_github_tells_the_same(history: History, github: GithubContents) -> None:
    found = await on_github(github, history, "kb/b.md", 10)
    assert found == local_history(history.directory, "kb/b.md", 10, LARGEST)


async def test_so_many_commits_are_looked_at_and_that_there_are_more_is_told(
    history: History, github: GithubContents
) -> None:
    for found in (
        local_history(history.directory, "kb/b.md", 2, LARGEST),
        await on_github(github, history, "kb/b.md", 2),
    ):
        assert told(found) == VERSIONS[:2]
        assert found.older


def test_paths_begin_where_the_directory_does_and_nothing_outside_is_read(
    history: History,
) -> None:
    found = local_history(history.directory / "kb", "b.md", 10, LARGEST)
    assert [each.path for each in found.versions] == ["b.md", "b.md", "a.md", "a.md"]
    history.commit({"kb/c.md": b"y", "other.md": None}, None, "Move in")
    found = local_history(history.directory / "kb", "c.md", 10, LARGEST)
    assert told(found) == [("Move in", "c.md", b"y")]


async def test_a_commit_that_removed_the_file_is_no_version(
    history: History, github: GithubContents
) -> None:
    history.commit({"other.md": None}, None, "Away")
    history.commit({"other.md": b"again"}, None, "Back")
    expected = [("Back", b"again"), ("Elsewhere", b"y"), ("Begin", b"x")]
    for found in (
        local_history(history.directory, "other.md", 10, LARGEST),
        await on_github(github, history, "other.md", 10),
    ):
        assert [(each.subject, each.content) for each in found.versions] == expected


def test_a_shallow_checkout_says_what_it_lacks(history: History, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    source = f"file://{history.directory}"
    subprocess.run(["git", "clone", "-q", "--depth=1", source, str(shallow)], check=True)
    found = local_history(shallow, "kb/b.md", 10, LARGEST)
    assert told(found) == VERSIONS[:1]
    assert "shallow" in found.missing


def test_outside_of_git_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(GitFailed):
        local_history(tmp_path, "a.md", 10, LARGEST)


def test_a_subject_in_odd_bytes_breaks_nothing(history: History) -> None:
    odd = "\x01:100644 \u202e <b>&"
    history.commit({"odd.md": b"1"}, None, odd)
    assert told(local_history(history.directory, "odd.md", 10, LARGEST)) == [(odd, "odd.md", b"1")]


async def test_what_github_refuses_is_said(history: History, github: GithubContents) -> None:
    async with opened(github, history) as repository:
        github.limit(403, {"x-ratelimit-remaining": "0"})
        with pytest.raises(SourceFailed, match="no more requests"):
            await repository.file_history("kb/b.md", history.git("rev-parse", "HEAD"), 5)


@given(steps=st.lists(st.sampled_from(["write", "rename", "other", "remove"]), max_size=7))
@settings(max_examples=examples(20, ordinary=6), deadline=None)
def test_the_newest_version_is_the_file_and_each_one_what_its_commit_holds(
    steps: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        made, name = History.begun(Path(directory)), "n0.md"
        long = "".join(f"line {number}\n" for number in range(20))
        made.commit({name: long.encode()})
        for number, step in enumerate(steps, 1):
            text = f"{long}{number}\n".encode()
            if step == "other":
                made.commit({"other.md": text})
            elif step == "rename":
                old, name = name, f"n{number}.md"
                made.commit({old: None, name: text})
            elif step == "remove":
                made.commit({name: None})
                made.commit({name: text})
            else:
                made.commit({name: text})
        found = local_history(Path(directory), name, 30, LARGEST)
        assert found.versions[0].content == (Path(directory) / name).read_bytes()
        for each in found.versions:
            assert each.content == made.content(each.commit, each.path)
        changes = 1 + sum(step != "other" for step in steps)
        gone = len(steps) - steps[::-1].index("remove") if "remove" in steps else 0
        assert len(found.versions) >= 1 + sum(step != "other" for step in steps[gone:])
        assert len(found.versions) <= changes
        shutil.rmtree(Path(directory) / ".git")
