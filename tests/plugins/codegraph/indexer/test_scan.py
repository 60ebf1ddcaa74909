"""Which files are read, and why the others are not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from plugins.codegraph.indexer.file_reader import Unreadable, check_text, read
from plugins.codegraph.indexer.paths import normalised
from plugins.codegraph.indexer.scan import Found, Limits, NoDirectory, Scan, scan
from tests.plugins.codegraph.indexer.bench import git, write

LIMITS = Limits(file=1_000)


async def scanned(root: Path) -> Scan:
    return await scan(root, LIMITS, time.time_ns())


async def reasons(root: Path) -> dict[str, str]:
    return {each.path: each.problem for each in (await scanned(root)).skipped}


async def paths(root: Path) -> list[str]:
    return [each.path for each in (await scanned(root)).found]


async def test_a_checkout_has_what_git_knows_or_would_take(tree: Path) -> None:
    git(tree, "init", "-q")
    write(tree, ".gitignore", "ignored.py\n")
    for path in ("known.py", "new.py", "ignored.py", "deleted.py"):
        write(tree, path, "x = 1\n")
    git(tree, "add", "known.py", "deleted.py")
    (tree / "deleted.py").unlink()
    assert await paths(tree) == [".gitignore", "known.py", "new.py"]


async def test_a_plain_directory_honours_its_gitignore(tree: Path) -> None:
    write(tree, ".gitignore", "*.log\n/top.py\nbuilt/\ndocs/**/draft.py\n!keep.log\n")
    for path in (
        *("a.py", "a.log", "keep.log", "top.py", "sub/top.py", "built/b.py"),
        *("docs/x/y/draft.py", "docs/z.py"),
    ):
        write(tree, path, "x\n")
    assert await paths(tree) == [".gitignore", "a.py", "docs/z.py", "keep.log", "sub/top.py"]


async def test_each_file_that_is_left_out_has_a_reason(tree: Path) -> None:
    write(tree, "large.py", "x" * 1_001)
    write(tree, "image.png", "x")
    write(tree, "a.py", "x")
    (tree / "link.py").symlink_to("a.py")
    (tree / "loop").symlink_to(".")
    os.mkfifo(tree / "pipe.py")
    for at in range(3):
        write(tree, f"node_modules/one/{at}.js", "x")
    found = await reasons(tree)
    assert found["large.py"] == "larger than 1,000 bytes"
    assert found["image.png"] == "binary"
    assert found["link.py"] == found["loop"] == "symbolic link"
    assert found["pipe.py"] == "not a regular file"
    assert found["node_modules/"].startswith("dependencies, caches or build output")
    assert await paths(tree) == ["a.py"]


async def test_a_submodule_is_left_out_with_a_reason(tree: Path) -> None:
    git(tree, "init", "-q")
    write(tree, "inner/a.py", "x = 1\n")
    git(tree / "inner", "init", "-q")
    git(tree / "inner", "add", "-A")
    git(tree / "inner", "commit", "-q", "-m", "one")
    assert await reasons(tree) == {"inner": "a submodule or a repository of its own"}
    git(tree, "add", "-A")
    assert await reasons(tree) == {"inner": "a submodule or a repository of its own"}


async def test_no_link_leads_out_of_the_tree(tree: Path, tmp_path: Path) -> None:
    git(tree, "init", "-q")
    write(tree, "sub/a.py", "x = 1\n")
    git(tree, "add", "-A")
    (tree / "sub" / "a.py").unlink()
    (tree / "sub").rmdir()
    write(tmp_path, "outside/a.py", "secret = 1\n")
    (tree / "sub").symlink_to(tmp_path / "outside")
    assert "sub/a.py" not in await paths(tree)


async def test_a_directory_that_is_not_there_is_told(tree: Path) -> None:
    with pytest.raises(NoDirectory, match="no directory"):
        await scanned(tree / "nowhere")


@pytest.mark.parametrize(
    ("spelled", "path"),
    [
        *(("src\\app.py", "src/app.py"), ("./a//b.py", "a/b.py"), ("a/../b.py", "b.py")),
        *(("../a.py", None), ("/etc/passwd", None), ("C:\\a.py", None), ("", None), (".", None)),
        ("\\\\host\\share\\a.py", None),
    ],
)
def test_a_path_has_one_spelling_within_the_repository(spelled: str, path: str | None) -> None:
    assert normalised(spelled) == path


def test_a_file_that_became_too_large_is_not_read(tree: Path) -> None:
    write(tree, "a.py", "x" * 2_000)
    with pytest.raises(Unreadable, match="larger"):
        read(tree, Found("a.py", 10, 0, 0), LIMITS)


def test_a_file_that_changed_since_it_was_listed_is_looked_at_again(tree: Path) -> None:
    write(tree, "a.py", "x = 1\n")
    data, found = read(tree, Found("a.py", 3, 5, 7), LIMITS)
    assert (data, found.mtime) == (b"x = 1\n", 0)


@pytest.mark.parametrize("data", [b"a\0b", b"var a=1;" * 10_000])
def test_what_nobody_wrote_is_no_text(data: bytes) -> None:
    with pytest.raises(Unreadable):
        check_text(data)


async def test_a_file_from_1970_is_known_again(tree: Path) -> None:
    write(tree, "a.py", "x = 1\n")
    os.utime(tree / "a.py", (0, 0))
    found = next(each for each in (await scanned(tree)).found if each.path == "a.py")
    assert found.mtime == 1
    assert read(tree, found, LIMITS) == (b"x = 1\n", found)


async def test_a_file_that_may_change_within_the_same_tick_has_no_time(tree: Path) -> None:
    write(tree, "a.py", "x = 1\n")
    changed = (tree / "a.py").stat().st_mtime_ns
    assert [each.mtime for each in (await scan(tree, LIMITS, changed + 1)).found] == [0]
    assert [each.mtime for each in (await scan(tree, LIMITS, changed + 10**10)).found] == [changed]
