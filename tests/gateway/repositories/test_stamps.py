"""A stamp tells whether a directory has to be read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.repositories import stamps
from gateway.repositories.stamps import stamp


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some files, at which nobody has written for a while."""
    monkeypatch.setattr(stamps, "SETTLED_SECONDS", -3600.0)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.md").write_text("one")
    (tmp_path / "c.md").write_text("two")
    (tmp_path / ".git").mkdir()
    return tmp_path


def _rewritten(tree: Path) -> None:
    file = tree / "a/b.md"
    file.write_text("ONE")
    os.utime(file, ns=(1, 1))


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda tree: (tree / "a/b.md").write_text("longer"),
    "written at the same length": _rewritten,
    "added": lambda tree: (tree / "a/new.md").write_text("x"),
    "an empty folder": lambda tree: (tree / "a/new").mkdir(),
    "removed": lambda tree: (tree / "c.md").unlink(),
    "renamed": lambda tree: (tree / "c.md").rename(tree / "d.md"),
    "moved": lambda tree: (tree / "c.md").rename(tree / "a/c.md"),
    "replaced by a link": lambda tree: _linked(tree),
}


def _linked(tree: Path) -> None:
    (tree / "c.md").unlink()
    (tree / "c.md").symlink_to("a/b.md")


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_another_after_any_change(tree: Path, change: str) -> None:
    before = stamp(tree)
    assert before is not None
    assert stamp(tree) == before
    CHANGES[change](tree)
    assert stamp(tree) not in (None, before)


def test_git_s_own_files_are_none_of_it(tree: Path) -> None:
    before = stamp(tree)
    (tree / ".git/index").write_text("x")
    assert stamp(tree) == before


def test_what_could_change_unseen_has_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stamp(tree / "nowhere") is None
    (tree / "link").symlink_to("a")
    assert stamp(tree) is None
    (tree / "link").unlink()
    (tree / "link").symlink_to("nowhere")
    assert stamp(tree) is None
    (tree / "link").unlink()
    monkeypatch.setattr(stamps, "SETTLED_SECONDS", 2.0)
    (tree / "c.md").write_text("just now")
    assert stamp(tree) is None
