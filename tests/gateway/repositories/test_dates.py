from __future__ import annotations

import stat
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.repositories import Checkout, Github, open_github, remote_dates
from gateway.repositories.dates import last_dates
from gateway.repositories.git import GitFailed, run
from gateway.repositories.remote_dates import Origin, clone_url
from tests.servers.git_host import GitHost
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import NOTHING, History

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
SECOND = FIRST + timedelta(days=1)
TOKEN = "ghp_" + "O" * 36


@pytest.fixture
def history(tmp_path: Path) -> History:
    begun = History.begun(tmp_path / "hosted" / "garden" / "kb.git")
    begun.commit({"a.md": b"one", "data/b.md": b"two"}, FIRST)
    begun.commit({"data/b.md": b"three", "c.md": b"four"}, SECOND)
    return begun


@pytest.fixture
def host(history: History, tmp_path: Path) -> Iterator[GitHost]:
    with GitHost(tmp_path / "hosted").serving() as serving:
        yield serving


DATES = {"a.md": FIRST, "data/b.md": SECOND, "c.md": SECOND}


def test_a_checkout_knows_its_commit_and_when_each_file_was_last_committed(
    history: History,
) -> None:
    checkout = Checkout(history.directory)
    assert checkout.commit() == history.resolve("main")
    assert checkout.dates(checkout.commit()) == DATES
    below = Checkout(history.directory / "data")
    assert below.dates(below.commit()) == {"b.md": SECOND}


def test_a_checkout_knows_what_its_commit_holds(history: History) -> None:
    for checkout, path in (
        (Checkout(history.directory), "data/b.md"),
        (Checkout(history.directory / "data"), "b.md"),
    ):
        commit = checkout.commit()
        content = run(history.directory, "cat-file", "blob", f"{commit}:data/b.md")
        assert checkout.has(commit, path)
        assert checkout.holds(commit, path, content)
        assert not checkout.holds(commit, path, content + b"More.")
        assert not checkout.holds(commit, "data", content)
        assert not checkout.has(commit, "new.md")


def test_outside_of_git_nothing_is_known(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    assert not checkout.has(NOTHING, "a.md")
    assert not checkout.holds("", "a.md", b"")
    assert checkout.commit() == ""
    assert checkout.dates("") == {}
    assert checkout.dates(NOTHING) == {}


def test_no_program_that_a_checkout_names_is_started(history: History, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho ran >> {ran}\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    for name in ("core.fsmonitor", "gpg.program", "core.pager", "diff.external"):
        history.git("config", name, str(trap))
    history.git("config", "log.showSignature", "true")
    signed = history.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "-C", str(history.directory), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=signed.encode() + b"\n",
        capture_output=True,
        check=True,
    )
    history.git("update-ref", "refs/heads/main", made.stdout.decode().strip())
    ran.unlink(missing_ok=True)
    checkout = Checkout(history.directory)
    assert checkout.dates(checkout.commit()) == DATES
    assert not ran.exists()


async def test_a_repository_elsewhere_is_asked_without_its_contents(
    history: History, host: GitHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[str] = []

    def counted(directory: Path, *span: str) -> dict[str, datetime]:
        listed = run(directory, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
        kinds.extend(listed.decode().split())
        return last_dates(directory, *span)

    monkeypatch.setattr(remote_dates, "last_dates", counted)
    origin = Origin(host.url("garden/kb.git/.git"), ca_file=host.ca_file)
    commit = history.resolve("main") or ""
    assert await remote_dates.remote_dates(origin, commit) == DATES
    assert set(kinds) == {"commit", "tree"}
    earlier = history.git("rev-parse", "main~1")
    assert await remote_dates.remote_dates(origin, earlier) == dict.fromkeys(
        ["a.md", "data/b.md"], FIRST
    )


async def test_the_token_goes_to_the_host_and_nowhere_else(
    history: History, host: GitHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host.password = TOKEN
    commit = history.resolve("main") or ""
    url = host.url("garden/kb.git/.git")
    with pytest.raises(GitFailed):
        await remote_dates.remote_dates(Origin(url, ca_file=host.ca_file), commit)
    origin = Origin(url, TOKEN, host.ca_file)
    assert TOKEN not in repr(origin)
    assert await remote_dates.remote_dates(origin, commit) == DATES
    host.leads_to = "https://127.0.0.1:1"
    with pytest.raises(GitFailed):
        await remote_dates.remote_dates(origin, commit)


@pytest.mark.parametrize("commit", [NOTHING, "main", "--upload-pack=touch", ""])
async def test_what_is_no_commit_there_has_no_dates(host: GitHost, commit: str) -> None:
    origin = Origin(host.url("garden/kb.git/.git"), ca_file=host.ca_file)
    with pytest.raises(GitFailed):
        await remote_dates.remote_dates(origin, commit)


async def test_nothing_of_a_clone_stays(
    history: History, host: GitHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    origin = Origin(host.url("garden/kb.git/.git"), ca_file=host.ca_file)
    await remote_dates.remote_dates(origin, history.resolve("main") or "")
    with pytest.raises(GitFailed):
        await remote_dates.remote_dates(origin, NOTHING)
    assert list(scratch.iterdir()) == []


async def test_a_history_that_is_too_large_is_given_up(
    history: History, host: GitHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_dates, "MAX_CLONE_BYTES", -1)
    monkeypatch.setattr(remote_dates, "_POLL_SECONDS", 0.0)
    origin = Origin(host.url("garden/kb.git/.git"), ca_file=host.ca_file)
    with pytest.raises(GitFailed, match="bytes"):
        await remote_dates.remote_dates(origin, history.resolve("main") or "")


@pytest.mark.parametrize(
    ("api", "url"),
    [
        ("https://api.github.com", "https://github.com/garden/kb.git"),
        ("https://git.example.org/api/v3", "https://git.example.org/garden/kb.git"),
        ("https://api.example.org:8443/api/v3", "https://api.example.org:8443/garden/kb.git"),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_a_repository_is_cloned_from_the_host_of_the_api(api: str, url: str | None) -> None:
    assert clone_url(api, "garden/kb") == url


async def test_where_nothing_can_be_cloned_there_are_no_dates(
    history: History, github: GithubContents
) -> None:
    github.repos["garden/kb"] = Repo(history.directory, history=history)
    async with open_github(Github(api_url=github.url), lambda reference: "") as opened:
        repository = opened.repository("garden/kb", "main", 1024)
        assert await repository.dates(history.resolve("main") or "") is None
