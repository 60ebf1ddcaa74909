"""Working copies: fetched over https from a real host, updated, mended, and bounded."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

import pytest

from plugins.codegraph.git.command import GitFailed, Remote
from plugins.codegraph.git.working_copy import WorkingCopy
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.servers.git_host import GitHost

LARGEST = 50_000_000
NAME = "plants/garden.git"


def copy(
    host: GitHost,
    tmp_path: Path,
    branch: str | None = None,
    largest: int = LARGEST,
    header: str = "",
) -> WorkingCopy:
    remote = Remote(host.url(NAME), header, host.ca_file)
    return WorkingCopy(tmp_path / "copy", remote, branch, largest, 60)


def files(directory: Path) -> set[str]:
    return {
        str(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(directory).parts
    }


async def test_a_copy_has_the_newest_commit_of_the_default_branch(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    updated = await copy(host, tmp_path).update(lambda done, total: seen.append((done, total)))
    assert updated.branch == "main"
    assert updated.commit == run_git(tree, "rev-parse", "HEAD")
    assert files(tmp_path / "copy") == {"water.py", "lib/seed.py"}
    assert all(done <= total for done, total in seen)


async def test_an_update_fetches_what_is_new_and_keeps_the_rest(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    working = copy(host, tmp_path)
    await working.update()
    inode = (tmp_path / "copy" / ".git").stat().st_ino
    untouched = (tmp_path / "copy" / "lib" / "seed.py").stat()
    (tmp_path / "copy" / "stray.txt").write_text("not of the repository")
    (tree / "water.py").unlink()
    newest = committed(tree, {"dig.py": "x = 1\n"})
    run_git(tree, "push", "-q", "--force", "origin", "main")
    assert (await working.update()).commit == newest
    assert files(tmp_path / "copy") == {"dig.py", "lib/seed.py"}
    assert (tmp_path / "copy" / ".git").stat().st_ino == inode
    assert (tmp_path / "copy" / "lib" / "seed.py").stat().st_mtime_ns == untouched.st_mtime_ns


async def test_a_history_that_was_rewritten_is_followed(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    working = copy(host, tmp_path)
    await working.update()
    run_git(tree, "commit", "-q", "--amend", "-m", "another past")
    run_git(tree, "push", "-q", "--force", "origin", "main")
    assert (await working.update()).commit == run_git(tree, "rev-parse", "HEAD")


async def test_a_named_branch_is_fetched(host: GitHost, tree: Path, tmp_path: Path) -> None:
    run_git(tree, "switch", "-q", "-c", "spring")
    committed(tree, {"spring.py": "x = 1\n"})
    run_git(tree, "push", "-q", "origin", "spring")
    assert (await copy(host, tmp_path, "spring").update()).branch == "spring"
    assert "spring.py" in files(tmp_path / "copy")
    with pytest.raises(GitFailed, match="There is no such branch"):
        await copy(host, tmp_path, "autumn").update()
    assert "spring.py" in files(tmp_path / "copy")


async def test_a_copy_is_on_the_branch_that_was_fetched_whatever_it_was_on_before(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    for branch in ("m/next", "more"):
        run_git(tree, "push", "-q", "origin", f"main:refs/heads/{branch}")
    for wanted in (None, "m/next", "more"):
        updated = await copy(host, tmp_path, wanted).update()
        assert run_git(tmp_path / "copy", "rev-parse", "--abbrev-ref", "HEAD") == updated.branch
        assert run_git(tmp_path / "copy", "rev-parse", "HEAD") == updated.commit
    run_git(tmp_path / "copy", "update-ref", "refs/heads/m", "HEAD")
    run_git(tmp_path / "copy", "update-ref", "-d", "refs/heads/more")
    assert (await copy(host, tmp_path, "m/next").update()).branch == "m/next"
    assert run_git(tmp_path / "copy", "branch", "--format=%(refname:short)") == "m/next"


@pytest.mark.parametrize("damage", ["config", "HEAD", "objects", "index", "lock", "files"])
async def test_a_damaged_copy_is_mended(host: GitHost, tmp_path: Path, damage: str) -> None:
    working = copy(host, tmp_path)
    await working.update()
    git = tmp_path / "copy" / ".git"
    if damage == "objects":
        for pack in (git / "objects").rglob("*"):
            if pack.is_file():
                pack.chmod(0o644)
                pack.write_bytes(b"garbage")
    elif damage == "lock":
        (git / "index.lock").touch()
        (git / "shallow.lock").touch()
    elif damage == "files":
        shutil.rmtree(tmp_path / "copy" / "lib")
    else:
        (git / damage).write_bytes(b"garbage")
    await working.update()
    assert files(tmp_path / "copy") == {"water.py", "lib/seed.py"}


async def test_links_become_files_and_filters_do_nothing(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    (tree / "out").symlink_to(tmp_path / "host")
    committed(tree, {".gitattributes": "* filter=trap\n", ".gitmodules": "[submodule]\n"})
    run_git(tree, "push", "-q", "origin", "main")
    await copy(host, tmp_path).update()
    assert not (tmp_path / "copy" / "out").is_symlink()
    assert (tmp_path / "copy" / "out").read_text() == str(tmp_path / "host")
    assert (tmp_path / "copy" / "water.py").read_text() == (tree / "water.py").read_text()


async def test_submodules_are_not_fetched_whatever_their_address_and_update_say(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    committed(tmp_path / "inner", {"secret.py": "x = 1\n"})
    run_git(tree, "submodule", "add", "-q", f"file://{tmp_path / 'inner'}", "inner")
    for name in ("update", "url"):
        named = f"submodule.inner.{name}"
        run_git(tree, "config", "-f", ".gitmodules", named, f"!touch {ran}")
    committed(tree, {".gitattributes": "* filter=lfs\n"})
    run_git(tree, "push", "-q", "origin", "main")
    for _ in range(2):
        await copy(host, tmp_path).update()
    assert "inner/secret.py" not in files(tmp_path / "copy")
    assert not (tmp_path / "copy" / ".git" / "modules").exists()
    assert not ran.exists()


async def test_a_copy_that_is_too_large_is_not_kept(host: GitHost, tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="larger than 100 bytes"):
        await copy(host, tmp_path, largest=100).update()
    assert files(tmp_path / "copy") == set()


async def test_the_token_goes_to_the_host_and_nowhere_else(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    host.password = "hunter2"
    with pytest.raises(GitFailed, match="asks for a credential"):
        await copy(host, tmp_path).update()
    header = "Basic " + base64.b64encode(b"x-access-token:hunter2").decode()
    await copy(host, tmp_path, header=header).update()
    assert host.authorizations[-1] == header
    stored = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if b"hunter2" in path.read_bytes()]
    assert not [path for path in stored if header.encode() in path.read_bytes()]
    wrong = "Basic " + base64.b64encode(b"x-access-token:wrong").decode()
    with pytest.raises(GitFailed, match="credential") as failed:
        await copy(host, tmp_path, header=wrong).update()
    assert wrong not in str(failed.value)


async def test_a_host_that_leads_elsewhere_is_not_followed(host: GitHost, tmp_path: Path) -> None:
    host.leads_to = "https://localhost:1"
    with pytest.raises(GitFailed, match="leads elsewhere"):
        await copy(host, tmp_path, header="Basic c2VjcmV0").update()


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    host: GitHost, tmp_path: Path
) -> None:
    remote = Remote(host.url(NAME))
    with pytest.raises(GitFailed, match="certificate"):
        await WorkingCopy(tmp_path / "copy", remote, None, LARGEST, 60).update()


async def test_many_fetches_leave_few_packs(host: GitHost, tree: Path, tmp_path: Path) -> None:
    working = copy(host, tmp_path)
    for number in range(24):
        committed(tree, {"water.py": f"x = {number}\n"})
        run_git(tree, "push", "-q", "origin", "main")
        await working.update()
    packs = list((tmp_path / "copy" / ".git" / "objects" / "pack").glob("*.pack"))
    assert len(packs) <= 21


async def test_an_empty_repository_says_what_to_do(host: GitHost, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare", str(host.root / "plants" / "empty.git"))
    remote = Remote(host.url("plants/empty.git"), ca_file=host.ca_file)
    with pytest.raises(GitFailed, match="Push to it first"):
        await WorkingCopy(tmp_path / "copy", remote, None, LARGEST, 60).update()


async def test_a_removed_copy_is_gone_and_removing_it_again_is_no_error(
    host: GitHost, tmp_path: Path
) -> None:
    working = copy(host, tmp_path)
    await working.update()
    await working.remove()
    await working.remove()
    assert not (tmp_path / "copy").exists()
