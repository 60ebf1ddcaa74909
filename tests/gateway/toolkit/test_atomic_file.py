"""A file is the old one or the new one, whole, with the permissions that it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.toolkit.atomic_file import write_atomically


def test_a_new_file_is_written_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_atomically(path, b"new")
    (tmp_path / "plain").write_bytes(b"")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)


def test_whoever_may_read_what_is_executable_may_run_it(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new", executable=True)
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    write_atomically(tmp_path / "link", b"ours")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"
    assert (tmp_path / "link").read_bytes() == b"ours"
    assert not (tmp_path / "link").is_symlink()


def test_what_cannot_be_written_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "folder" / "within").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
