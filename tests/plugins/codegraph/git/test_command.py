"""Nothing that a repository names is run, and nothing of this machine is given away."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.codegraph.git import command as module
from plugins.codegraph.git.command import GitFailed, GitMissing, Limits, Remote, git
from plugins.codegraph.indexer import scan as scanning
from plugins.codegraph.indexer.scan import scan
from tests.plugins.codegraph.checkouts import run_git


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """Where a program that was started leaves its name."""
    return tmp_path / "ran"


@pytest.fixture
def trap(tmp_path: Path, ran: Path) -> Path:
    """A program that says that it was started."""
    program = tmp_path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def started(ran: Path) -> bool:
    """Whether the trap was started since it was last asked."""
    try:
        ran.unlink()
    except FileNotFoundError:
        return False
    return True


ENDS_WITHIN_S = 60


async def ends(pid: Path) -> None:
    """Wait until the process whose number stands in a file, and which was killed, is gone."""
    async with asyncio.timeout(ENDS_WITHIN_S):
        while runs(pid):  # noqa: ASYNC110 - nothing tells of another process's end
            await asyncio.sleep(0.01)


def runs(pid: Path) -> bool:
    """Whether the process whose number stands in a file is there, and no zombie."""
    try:
        return "(zombie)" not in Path(f"/proc/{pid.read_text()}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


SETTINGS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.pager",
    "core.editor",
    "core.alternateRefsCommand",
    "pager.ls-files",
    "credential.helper",
    "diff.external",
    "diff.trap.textconv",
    "diff.trap.command",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.trap.process",
    "merge.trap.driver",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "alias.ls-files",
)
HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman")


@pytest.fixture
def hostile(tree: Path, trap: Path) -> Path:
    """A checkout whose every setting that can name a program names the trap."""
    for setting in SETTINGS:
        run_git(tree, "config", setting, f"!{trap}" if setting.startswith("alias") else str(trap))
    run_git(tree, "config", "filter.trap.required", "true")
    run_git(tree, "config", "log.showSignature", "true")
    run_git(tree, "config", "remote.origin.url", f"ext::{trap} %S")
    run_git(tree, "config", "remote.origin.promisor", "true")
    run_git(tree, "config", "extensions.partialClone", "origin")
    run_git(tree, "config", "core.hooksPath", str(tree / ".git" / "hooks"))
    (tree / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        (tree / ".git" / "hooks" / hook).symlink_to(trap)
    (tree / ".gitattributes").write_text("* filter=trap diff=trap merge=trap ident text=auto\n")
    (tree / "water.py").write_text("def pour(): return 'changed'\n")
    os.utime(tree / "lib" / "seed.py", (1, 1))
    return tree


async def test_reading_a_hostile_checkout_starts_nothing_that_it_names(
    hostile: Path, ran: Path
) -> None:
    seen = await scan(hostile, scanning.Limits(), 0)
    assert [each.path for each in seen.found] == [".gitattributes", "lib/seed.py", "water.py"]
    assert len(seen.commit) == 40
    assert seen.branch == "main"
    assert not started(ran)


async def test_the_trap_itself_works(hostile: Path, ran: Path) -> None:
    """Else the test above would show nothing."""
    with pytest.raises(subprocess.CalledProcessError):  # for the trap does not filter
        run_git(hostile, "status")
    assert started(ran)


async def test_a_missing_object_is_not_fetched_from_where_the_repository_says(
    hostile: Path, ran: Path
) -> None:
    blob = run_git(hostile, "-c", "core.fsmonitor=", "ls-files", "-s", "water.py").split()[1]
    (hostile / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitFailed):
        await git(hostile, "cat-file", "blob", blob)
    assert not started(ran)


@pytest.mark.parametrize("url", ["ext::{trap}", "file://{tree}", "ssh://localhost/x", "git://x/y"])
async def test_only_https_is_spoken(tree: Path, trap: Path, ran: Path, url: str) -> None:
    address = url.format(trap=trap, tree=tree)
    with pytest.raises(GitFailed, match="not allowed"):
        await git(tree, "fetch", "--", address, remote=Remote(address))
    assert not started(ran)


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("diff",),
        ("log",),
        ("checkout", "main"),
        ("submodule", "update"),
        ("-c", "core.pager=x"),
        ("ls-files", "-m"),
        ("ls-files", "-om"),
        ("ls-files", "--modified"),
        ("cat-file", "--textconv", "HEAD:a"),
        ("cat-file", "--filters", "HEAD:a"),
        ("fetch", "--", "https://example.org/a"),
    ],
)
async def test_a_command_that_could_run_a_program_is_refused(
    tree: Path, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="not among the commands that are safe"):
        await git(tree, *arguments)


async def test_a_work_tree_elsewhere_is_not_listed(tree: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.txt").write_text("a secret")
    run_git(tree, "config", "core.worktree", str(private))
    seen = await scan(tree, scanning.Limits(), 0)
    assert [each.path for each in seen.found] == ["lib/seed.py", "water.py"]


async def test_names_of_any_bytes_come_back_as_the_file_system_has_them(tree: Path) -> None:
    names = {b"a\nb.py", b"-rf.py", b"*.py", "größe.py".encode()}
    for name in (b"gr\xfc\xdfe.py", *names):
        (tree / os.fsdecode(name)).write_text("x = 1\n")
    seen = await scan(tree, scanning.Limits(), 0)
    assert {os.fsencode(each.path) for each in seen.found} >= names


async def test_a_directory_inside_a_checkout_lists_its_own_files(tree: Path) -> None:
    seen = await scan(tree / "lib", scanning.Limits(), 0)
    assert [each.path for each in seen.found] == ["seed.py"]


async def test_a_second_worktree_is_a_checkout_like_any_other(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_git(tree, "worktree", "add", "-q", "-b", "spring", str(other))
    (other / "new.py").write_text("x = 1\n")
    seen = await scan(other, scanning.Limits(), 0)
    assert [each.path for each in seen.found] == ["lib/seed.py", "new.py", "water.py"]
    assert seen.branch == "spring"


async def test_a_checkout_without_a_commit_has_files_and_no_commit(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "new.py").write_text("x = 1\n")
    seen = await scan(tmp_path, scanning.Limits(), 0)
    assert [each.path for each in seen.found] == ["new.py"]
    assert seen.commit == ""


async def test_what_is_no_repository_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(GitFailed, match="no Git repository, or a damaged one"):
        await git(tmp_path, "ls-files", "-z")


async def test_without_git_the_message_says_what_to_install(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitMissing, match="Install it"):
        await git(tree, "version")


@pytest.fixture
def slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Replace Git by a script in which it does what the test wants."""

    def replace(script: str) -> Path:
        programs = tmp_path / "programs"
        programs.mkdir()
        (programs / "git").write_text(f"#!{sys.executable}\n{script}\n")
        (programs / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        return programs / "pid"

    return replace


HANGS = (
    "import os, subprocess, time\n"
    "child = subprocess.Popen(['sleep', '1000'])\n"
    "open(os.path.dirname(__file__) + '/pid', 'w').write(str(child.pid))\n"
    "time.sleep(1000)"
)


async def test_a_command_that_hangs_is_ended_with_what_it_started(
    tree: Path, slow_git: Callable[[str], Path]
) -> None:
    pid = slow_git(HANGS)
    with pytest.raises(GitFailed, match="did not end within 2 s"):
        await git(tree, "version", limits=Limits(seconds=2))
    await ends(pid)


async def test_an_answer_without_end_is_cut_off(
    tree: Path, slow_git: Callable[[str], Path]
) -> None:
    slow_git("while True: print('x' * 10000)")
    with pytest.raises(GitFailed, match="more than 100,000 bytes"):
        await git(tree, "version", limits=Limits(answer=100_000))


async def test_what_breaks_a_bound_is_ended(tree: Path, slow_git: Callable[[str], Path]) -> None:
    slow_git(HANGS)
    with pytest.raises(GitFailed, match="too large"):
        await git(tree, "version", limits=Limits(exceeded=lambda: "It is too large."))


async def test_the_environment_of_the_portal_stays_with_the_portal(
    tree: Path, slow_git: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTAL_SECRET", "hunter2")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("SSH_ASKPASS", "/elsewhere")
    slow_git("import json, os, sys; print(json.dumps([dict(os.environ), sys.argv]))")
    remote = Remote("https://example.org/a", "Bearer hunter3")
    said = (await git(tree, "version", remote=remote)).decode()
    environment, arguments = json.loads(said)
    assert not {"PORTAL_SECRET", "GIT_DIR", "SSH_ASKPASS"} & set(environment)
    assert "hunter2" not in said
    assert not [each for each in arguments if "hunter3" in each]
    assert environment["GIT_CONFIG_KEY_0"] == "http.https://example.org/a.extraHeader"
    assert "hunter3" not in repr(remote)
    assert "hunter3" not in (await git(tree, "version")).decode()


def test_every_setting_that_is_turned_off_is_one_that_git_knows() -> None:
    known = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True)
    names = {line.strip().lower() for line in known.stdout.splitlines()}
    assert {name.lower() for name in module._SAFE} - names <= {"core.untrackedcache"}
