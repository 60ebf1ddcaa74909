from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.repositories import (
    Advice,
    Changed,
    File,
    Github,
    GithubRepository,
    Known,
    NotModified,
    SourceFailed,
    Tree,
    open_github,
)
from gateway.repositories.blobs import blob_sha
from tests.examples import examples
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import LISTED, NOTHING, History

NAME = "garden/kb"
LARGEST = 1024 * 1024


@pytest.fixture
def history(tmp_path: Path, github: GithubContents) -> History:
    begun = History.begun(tmp_path / "kb")
    github.repos[NAME] = Repo(begun.directory, history=begun)
    return begun


@pytest.fixture
async def repository(github: GithubContents, history: History) -> AsyncIterator[GithubRepository]:
    async with opened(github) as repository:
        yield repository


@asynccontextmanager
async def opened(github: GithubContents, branch: str = "main") -> AsyncGenerator[GithubRepository]:
    """The repository, at a branch, as nobody."""
    async with open_github(Github(api_url=github.url), lambda reference: "") as connected:
        yield connected.repository(NAME, branch, LARGEST, advice=Advice(largest="max_note"))


def shas(tree: Tree) -> dict[str, str]:
    return {file.path: file.sha for file in tree.files}


async def test_the_head_is_the_commit_that_the_branch_names(
    repository: GithubRepository, history: History
) -> None:
    first = history.commit({"a.md": b"one"})
    assert await repository.head() == first
    second = history.commit({"a.md": b"two"})
    assert await repository.head() == second


async def test_a_branch_that_is_gone_has_no_head(github: GithubContents, history: History) -> None:
    async with opened(github, "release/1") as repository:
        assert await repository.head() is None  # nothing was committed at all
        history.commit({"a.md": b"one"})
        assert await repository.head() is None
        history.git("branch", "release/1")
        assert await repository.head() == history.resolve("main")


async def test_a_repository_that_is_gone_is_an_error(
    repository: GithubRepository, github: GithubContents
) -> None:
    github.repos.clear()
    with pytest.raises(SourceFailed, match="no branch to read of garden/kb at main") as failed:
        await repository.head()
    assert (failed.value.code, failed.value.transient) == ("NOT_FOUND", False)


async def test_a_tree_lists_each_file_with_its_blob_and_size(
    repository: GithubRepository, history: History
) -> None:
    content = {"README.md": b"# Hello", "data/gr\u00f6\u00dfe.md": b"x" * 300, "empty": b""}
    commit = history.commit(dict(content))
    later = history.commit({"README.md": None})
    tree = await repository.tree(commit)
    assert shas(tree) == {path: blob_sha(each) for path, each in content.items()}
    assert {file.path: file.size for file in tree.files} == {k: len(v) for k, v in content.items()}
    assert (tree.commit, tree.truncated, tree.left_out) == (commit, False, ())
    assert "README.md" not in shas(await repository.tree(later))


async def test_links_and_paths_that_lead_elsewhere_are_left_out(
    repository: GithubRepository, history: History
) -> None:
    (history.directory / "link").symlink_to("a.md")
    first = history.commit({"a.md": b"one"})
    second = history.commit({"b..md": b"two"})
    tree = await repository.tree(second)
    assert set(shas(tree)) == {"a.md"}
    assert {each.path for each in tree.left_out} == {"link", "b..md"}
    compared = await repository.compare(first, second)
    assert compared.files == ()
    assert [each.path for each in compared.left_out] == ["b..md"]


async def test_a_tree_that_github_cuts_says_so(
    repository: GithubRepository, history: History
) -> None:
    commit = history.commit({f"{number}.md": b"-" for number in range(9)})
    history.entries = 4
    tree = await repository.tree(commit)
    assert (len(tree.files), tree.truncated) == (4, True)


async def test_a_comparison_lists_what_a_push_has_changed(
    repository: GithubRepository, history: History
) -> None:
    long = b"".join(b"line %d\n" % number for number in range(40))
    before = history.commit({"kept": b"k", "changed": b"1", "gone": b"g", "old/name": long})
    history.commit({"fresh": b"n"})
    after = history.commit({"changed": b"2", "gone": None, "old/name": None, "new/name": long})
    compared = await repository.compare(before, after)
    assert (compared.status, compared.complete) == ("ahead", True)
    assert set(compared.files) == {
        Changed("fresh", "added", blob_sha(b"n")),
        Changed("changed", "modified", blob_sha(b"2")),
        Changed("gone", "removed"),
        Changed("old/name", "removed"),
        Changed("new/name", "added", blob_sha(long), previous="old/name"),
    }


async def test_a_commit_is_identical_to_itself(
    repository: GithubRepository, history: History
) -> None:
    commit = history.commit({"a.md": b"one"})
    compared = await repository.compare(commit, commit)
    assert (compared.status, compared.files, compared.complete) == ("identical", (), True)


async def test_after_a_force_push_a_comparison_does_not_lead_from_one_to_the_other(
    repository: GithubRepository, history: History
) -> None:
    base = history.commit({"a.md": b"one"})
    lost = history.commit({"lost.md": b"two"})
    history.git("reset", "-q", "--hard", base)
    assert (await repository.compare(lost, base)).status == "behind"
    assert not (await repository.compare(lost, base)).complete
    now = history.commit({"b.md": b"three"})
    compared = await repository.compare(lost, now)
    assert (compared.status, compared.complete) == ("diverged", False)


async def test_a_commit_that_is_gone_is_not_found(
    repository: GithubRepository, history: History
) -> None:
    base = history.commit({"a.md": b"one"})
    lost = history.commit({"lost.md": b"two"})
    history.git("reset", "-q", "--hard", base)
    history.forget()
    for asked in (
        repository.compare(lost, base),
        repository.compare(base, NOTHING),
        repository.tree(lost),
        repository.read("a.md", at=lost),
    ):
        with pytest.raises(SourceFailed) as failed:
            await asked
        assert (failed.value.code, failed.value.transient) == ("NOT_FOUND", False)
        assert "garden/kb" in failed.value.message


async def test_of_too_many_changed_files_the_comparison_is_not_complete(
    repository: GithubRepository, history: History
) -> None:
    before = history.commit({"a.md": b"one"})
    after = history.commit({f"{number}.md": b"%d" % number for number in range(LISTED + 1)})
    compared = await repository.compare(before, after)
    assert (len(compared.files), compared.complete) == (LISTED, False)


async def test_a_file_is_read_at_a_commit(repository: GithubRepository, history: History) -> None:
    first = history.commit({"a.md": b"one"})
    history.commit({"a.md": b"two"})
    then = await repository.read("a.md", at=first)
    now = await repository.read("a.md")
    assert isinstance(then, File)
    assert isinstance(now, File)
    assert (then.content, then.sha, now.content) == (b"one", blob_sha(b"one"), b"two")
    known = Known(then.sha, then.etag)
    assert isinstance(await repository.read("a.md", None, known, at=first), NotModified)
    with pytest.raises(SourceFailed, match=f"no b.md in garden/kb at {first[:12]}"):
        await repository.read("b.md", at=first)


async def test_a_file_that_is_too_large_names_the_plugins_own_setting(
    repository: GithubRepository, history: History
) -> None:
    commit = history.commit({"a.md": b"x" * (LARGEST + 1)})
    with pytest.raises(SourceFailed, match=r"\(max_note\)"):
        await repository.read("a.md", at=commit)


async def test_a_snapshot_is_of_one_commit(repository: GithubRepository, history: History) -> None:
    first = history.commit({"a.md": b"one", "b.md": b"two"})
    history.commit({"a.md": b"changed", "b.md": None})
    async with repository.snapshot(first) as snapshot:
        found = {entry.path: entry.content async for entry in snapshot.files()}
    assert (found, snapshot.commit) == ({"a.md": b"one", "b.md": b"two"}, first)


@pytest.mark.parametrize(("status", "wait"), [(429, 30), (503, 30), (503, None)])
async def test_a_refusal_says_when_it_is_worth_asking_again(
    repository: GithubRepository,
    github: GithubContents,
    history: History,
    status: int,
    wait: int | None,
) -> None:
    commit = history.commit({"a.md": b"one"})
    if wait is None:
        github.failing = status
    else:
        github.limit(status, {"retry-after": str(wait)})
    for asked in (
        repository.head(),
        repository.tree(commit),
        repository.compare(commit, commit),
        repository.read("a.md", at=commit),
    ):
        with pytest.raises(SourceFailed) as failed:
            await asked
        assert failed.value.transient
        assert failed.value.status == status
        assert failed.value.retry_after == wait


async def test_what_is_no_answer_of_githubs_is_an_error(
    repository: GithubRepository, github: GithubContents, history: History
) -> None:
    commit = history.commit({"a.md": b"one"})
    github.behaves = "html"
    for asked in (repository.head(), repository.tree(commit), repository.compare(commit, commit)):
        with pytest.raises(SourceFailed) as failed:
            await asked
        assert failed.value.transient


CONTENTS = st.sampled_from([b"a", b"b", b"a long text\n" * 20, b"a long text\n" * 20 + b"more"])
STATES = st.dictionaries(st.sampled_from(["a", "b", "c/d", "c/e"]), CONTENTS)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(STATES, min_size=2, max_size=4))
async def test_a_complete_comparison_leads_from_one_tree_to_the_other(
    states: list[dict[str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as directory, GithubContents() as github:
        history = History.begun(Path(directory))
        github.repos[NAME] = Repo(history.directory, history=history)
        before: dict[str, bytes] = {"kept": b"k"}
        first = last = history.commit(dict(before))
        for state in states:
            last = history.commit({name: state.get(name) for name in {*before, *state} - {"kept"}})
            before = {**state, "kept": b"k"}
        async with opened(github) as repository:
            then, now = await repository.tree(first), await repository.tree(last)
            compared = await repository.compare(first, last)
    assert compared.complete
    made = shas(then)
    for file in compared.files:
        if file.kind == "removed":
            del made[file.path]
        else:
            assert (file.path in made) == (file.kind == "modified")
            made[file.path] = file.sha
    assert made == shas(now) == {path: blob_sha(each) for path, each in before.items()}
