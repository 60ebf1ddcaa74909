from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.repositories import working_tree
from gateway.repositories.errors import SourceFailed
from gateway.repositories.local import LocalRepository
from gateway.repositories.protocol import Entry, File, LeftOut
from tests.examples import examples
from tests.gateway.repositories.conftest import FILES, LARGEST, Git

SECRET = b"a secret of this machine"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(SECRET)
    return folder


def repository(tree: Path, branch: str | None = None) -> LocalRepository:
    return LocalRepository(tree, branch, LARGEST)


async def content(tree: Path, path: str, branch: str | None = None) -> bytes:
    file = await repository(tree, branch).read(path)
    assert isinstance(file, File)
    return file.content


async def snapshot(
    tree: Path, branch: str | None = None
) -> tuple[dict[str, Entry], dict[str, LeftOut]]:
    async with repository(tree, branch).snapshot() as opened:
        found = {entry.path: entry async for entry in opened.files()}
        return found, {each.path: each for each in opened.left_out}


@pytest.mark.parametrize("target", ["../outside/secret.md", "{outside}/secret.md", "up/secret.md"])
async def test_a_link_that_leads_out_is_refused(tree: Path, outside: Path, target: str) -> None:
    (tree / "up").symlink_to("../outside")
    (tree / "link.md").symlink_to(target.format(outside=outside))
    for path in ("link.md", "up/secret.md"):
        with pytest.raises(SourceFailed) as failed:
            await content(tree, path)
        assert failed.value.code == "INVALID_PATH"
        assert str(outside) not in failed.value.message
    found, left_out = await snapshot(tree)
    assert set(found) == set(FILES)
    assert set(left_out) == {"up", "link.md"}


async def test_a_link_within_the_directory_is_followed(tree: Path) -> None:
    (tree / "link.md").symlink_to("skills/a/SKILL.md")
    (tree / "folder").symlink_to("skills/a")
    assert await content(tree, "link.md") == FILES["skills/a/SKILL.md"]
    assert await content(tree, "folder/SKILL.md") == FILES["skills/a/SKILL.md"]
    found, _ = await snapshot(tree)
    assert set(found) == {*FILES, "link.md"}


async def test_a_link_counts_as_what_it_leads_to(tree: Path) -> None:
    (tree / "link.md").symlink_to("skills/a/SKILL.md")
    (tree / "chain.md").symlink_to("link.md")
    (tree / "folder").symlink_to("skills")
    (tree / "other.md").symlink_to("README.md")
    served = LocalRepository(tree, None, LARGEST, lambda path: not path.startswith("skills/"))
    for path in ("link.md", "chain.md", "folder/a/SKILL.md"):
        with pytest.raises(SourceFailed) as failed:
            await served.read(path)
        assert failed.value.code == "INVALID_PATH"
    async with served.snapshot() as opened:
        found = {entry.path async for entry in opened.files()}
        left_out = {each.path for each in opened.left_out}
    assert found == {*FILES, "other.md"}
    assert left_out == {"link.md", "chain.md", "folder"}


async def test_links_in_a_circle_end(tree: Path) -> None:
    (tree / "one").symlink_to("two")
    (tree / "two").symlink_to("one")
    (tree / "skills" / "again").symlink_to("..")
    with pytest.raises(SourceFailed):
        await content(tree, "one")
    found, _ = await snapshot(tree)
    assert set(found) == set(FILES)


async def test_a_link_put_there_while_it_is_read_shows_nothing(tree: Path, outside: Path) -> None:
    victim, decoy = tree / "skills" / "a", tree / "decoy"
    (tree / "skills" / "a" / "secret.md").write_bytes(b"harmless")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            victim.rename(decoy)
            victim.symlink_to(outside)
            victim.unlink()
            decoy.rename(victim)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(2000):
            try:
                assert working_tree.read(tree, "skills/a/secret.md", LARGEST) == b"harmless"
            except (OSError, working_tree.Outside):
                continue
    finally:
        done.set()
        swapping.join()


async def test_what_git_keeps_for_itself_is_no_content(tree: Path, committed: Git) -> None:
    (tree / "alias").symlink_to(".git/config")
    for path in (".git/config", ".GIT/config", "alias"):
        with pytest.raises(SourceFailed):
            await content(tree, path)
    found, _ = await snapshot(tree)
    assert set(found) == set(FILES)


async def test_what_is_no_regular_file_is_passed_over_without_waiting(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tree)  # a socket's path has 108 bytes at most
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for path in ("pipe", "socket"):
            with pytest.raises(SourceFailed):
                await content(tree, path)
        found, left_out = await snapshot(tree)
    assert set(found) == set(FILES)
    assert set(left_out) == {"pipe", "socket"}


async def test_names_that_cannot_be_asked_for_are_passed_over_with_the_reason(tree: Path) -> None:
    (tree / "[...slug].md").write_bytes(b"")
    (tree / os.fsdecode(b"latin-\xe9.md")).write_bytes(b"")
    found, left_out = await snapshot(tree)
    assert set(found) == set(FILES)
    assert left_out["[...slug].md"].reason == "its path holds '..'"
    assert "Unicode" in left_out["latin-\\udce9.md"].reason


async def test_a_directory_that_vanished_is_not_found(tmp_path: Path) -> None:
    for branch in (None, "main"):
        gone = repository(tmp_path / "gone", branch)
        with pytest.raises(SourceFailed, match="gone is not there") as failed:
            await gone.read("README.md")
        assert failed.value.code == "NOT_FOUND"
        assert str(tmp_path) not in failed.value.message
        with pytest.raises(SourceFailed, match="gone is not there"):
            async with gone.snapshot():
                pass


async def test_a_branch_is_read_as_it_was_committed(tree: Path, committed: Git) -> None:
    (tree / "README.md").write_bytes(b"changed, and not committed")
    (tree / "new.md").write_bytes(b"new")
    assert await content(tree, "README.md", "main") == FILES["README.md"]
    assert await content(tree, "README.md") == b"changed, and not committed"
    with pytest.raises(SourceFailed, match=r"no file new\.md in tools at main"):
        await content(tree, "new.md", "main")
    async with repository(tree, "main").snapshot() as opened:
        assert opened.commit == committed("rev-parse", "HEAD")


async def test_a_directory_may_lie_in_a_checkout(tree: Path, committed: Git) -> None:
    inner = tree / "skills"
    assert await content(inner, "a/SKILL.md", "main") == FILES["skills/a/SKILL.md"]
    found, _ = await snapshot(inner, "main")
    assert set(found) == {
        path.removeprefix("skills/") for path in FILES if path.startswith("skills/")
    }


async def test_a_branch_that_does_not_exist_is_named(tree: Path, committed: Git) -> None:
    with pytest.raises(SourceFailed, match="tools has no branch gone") as failed:
        await content(tree, "README.md", "gone")
    assert failed.value.code == "NOT_FOUND"
    assert failed.value.details == {"repo": "tools", "branch": "gone"}


async def test_a_branch_of_what_is_no_checkout_says_so(tree: Path) -> None:
    with pytest.raises(SourceFailed, match="cannot be read as a Git checkout: not a git") as failed:
        await content(tree, "README.md", "main")
    assert failed.value.code == "UPSTREAM_ERROR"


async def test_links_of_a_branch_are_passed_over(tree: Path, outside: Path, committed: Git) -> None:
    (tree / "out.md").symlink_to(outside / "secret.md")
    (tree / "in.md").symlink_to("README.md")
    committed("add", "-A")
    committed("commit", "-q", "-m", "links")
    found, left_out = await snapshot(tree, "main")
    assert set(found) == set(FILES)
    assert set(left_out) == {"out.md", "in.md"}
    with pytest.raises(SourceFailed) as failed:
        await content(tree, "out.md", "main")
    assert failed.value.code == "NOT_FOUND"


async def test_git_starts_nothing_that_the_checkout_names(
    tree: Path, committed: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = tmp_path / "it-ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\n")
    trap.chmod(0o755)
    hooks = tree / ".git" / "hooks"
    for hook in ("post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (hooks / hook).write_text(trap.read_text())
        (hooks / hook).chmod(0o755)
    settings = {
        "core.fsmonitor": str(trap),
        "core.pager": str(trap),
        "core.sshCommand": str(trap),
        "diff.external": str(trap),
        "filter.x.smudge": str(trap),
        "alias.cat-file": f"!{trap}",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
    }
    for name, value in settings.items():
        committed("config", name, value)
    (tree / ".git" / "info").mkdir(exist_ok=True)
    (tree / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    lost = committed("rev-parse", "main:README.md")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert await content(tree, "README.md", "main") == FILES["README.md"]
    assert set((await snapshot(tree, "main"))[0]) == set(FILES)
    (tree / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(SourceFailed) as failed:
        await content(tree, "README.md", "main")
    assert failed.value.code == "UPSTREAM_ERROR"
    with pytest.raises(SourceFailed):
        await snapshot(tree, "main")
    assert not proof.exists()


PARTS = st.lists(
    st.sampled_from(["..", "link", "up", "skills", "a", "SKILL.md", "secret.md", ".", "", ".git"]),
    min_size=1,
    max_size=6,
)


@settings(
    max_examples=examples(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(PARTS)
async def test_no_path_at_all_shows_what_lies_outside(
    tree: Path, outside: Path, parts: list[str]
) -> None:
    for name, target in {"link": outside, "up": Path("..")}.items():
        if not (tree / name).is_symlink():
            (tree / name).symlink_to(target)
    try:
        shown = await content(tree, "/".join(parts))
    except SourceFailed as failed:
        shown = str(failed).encode()
    assert SECRET not in shown
