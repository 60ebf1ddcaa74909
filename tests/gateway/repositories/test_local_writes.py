from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.repositories import SourceFailed, remove_file, write_file

_PARTS = st.sampled_from(
    ["a", "b", "..", ".", "", ".git", "link", "c.md", "ü", "%2e%2e", "x" * 260]
)


def listed(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "garden"
    directory.mkdir()
    return directory


def test_a_file_is_written_with_its_folders_and_replaced_whole(root: Path) -> None:
    write_file(root, "drafts/a/note.md", b"first")
    write_file(root, "drafts/a/note.md", b"second")
    assert (root / "drafts/a/note.md").read_bytes() == b"second"
    assert listed(root / "drafts/a") == ["note.md"]


def test_a_file_that_is_removed_takes_its_empty_folders_along(root: Path) -> None:
    write_file(root, "drafts/a/b/note.md", b"-")
    write_file(root, "drafts/a/other.md", b"-")
    remove_file(root, "drafts/a/b/note.md", "drafts")
    assert listed(root / "drafts/a") == ["other.md"]
    remove_file(root, "drafts/a/other.md", "drafts")
    assert listed(root / "drafts") == []
    remove_file(root, "drafts/a/other.md", "drafts")


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_bytes(b"theirs")
    (root / "drafts").symlink_to(outside)
    with pytest.raises(SourceFailed):
        write_file(root, "drafts/note.md", b"ours")
    with pytest.raises(SourceFailed):
        remove_file(root, "drafts/note.md", "drafts")
    (root / "link.md").symlink_to(outside / "note.md")
    write_file(root, "link.md", b"ours")
    assert (outside / "note.md").read_bytes() == b"theirs"
    assert (root / "link.md").read_bytes() == b"ours"
    assert not (root / "link.md").is_symlink()


@given(st.lists(_PARTS, min_size=1, max_size=5))
def test_whatever_the_path_nothing_is_written_outside_or_into_git(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    around = tmp_path_factory.mktemp("around")
    root, beside = around / "garden", around / "beside"
    (root / ".git").mkdir(parents=True)
    beside.mkdir()
    (root / "link").symlink_to(beside)
    try:
        write_file(root, "/".join(parts), b"x")
    except SourceFailed:
        written = [each for each in root.rglob("*") if each.is_file() and not each.is_symlink()]
        assert written == []
    assert listed(around) == ["beside", "garden"]
    assert listed(beside) == []
    assert listed(root / ".git") == []


def test_a_directory_that_cannot_be_written_says_who_must_act(root: Path) -> None:
    with pytest.raises(SourceFailed, match=r"admin must let the portal write there"):
        write_file(root / "gone", "note.md", b"-")
