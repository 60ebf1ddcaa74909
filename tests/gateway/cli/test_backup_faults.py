"""``porch backup`` and ``porch restore`` where they were ended, or find no room."""

from __future__ import annotations

import fcntl
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.options import EXIT
from tests.chaos.world import small_disk
from tests.gateway.cli.conftest import Run


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk that has less room than a backup takes."""
    with small_disk(tmp_path / "full", 1) as is_made:
        if not is_made:
            pytest.skip("A disk is made as root.")
        (tmp_path / "full" / "other").write_bytes(b"x" * (1024 * 1024 - 3 * 4096))
        yield tmp_path / "full"


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_what_an_ended_backup_has_left_is_taken_up_by_the_next(porch: Run, place: Path) -> None:
    porch("call", "search_knowledge", "query=garden")
    (place / ".kept.tar.gz.part").write_bytes(b"half of it")
    for folder in (place / ".kept.tar.gz.copies", place / "data" / ".backup-3508"):
        folder.mkdir()
        (folder / "copy.db").write_text("of that time")
    before = names(place)
    result = porch("backup", "kept.tar.gz")
    assert result.exit_code == EXIT.DONE, result.output
    assert "Left out: .backup-3508, which was left unfinished: delete it." in result.output
    assert names(place) == before - {".kept.tar.gz.part", ".kept.tar.gz.copies"} | {"kept.tar.gz"}
    with tarfile.open(place / "kept.tar.gz") as tar:
        assert not any("copy.db" in name for name in tar.getnames())
    assert porch("restore", "kept.tar.gz", "--verify", "--data", "other").exit_code == EXIT.DONE


def test_one_backup_at_a_time_writes_a_file(porch: Run, place: Path) -> None:
    porch("call", "search_knowledge", "query=garden")
    with (place / ".kept.tar.gz.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        result = porch("backup", "kept.tar.gz")
    assert result.exit_code == EXIT.PROBLEM
    assert result.output == "Error: Another backup is writing kept.tar.gz; name another FILE.\n"
    assert (place / ".kept.tar.gz.part").exists()


def test_a_backup_inside_the_data_directory_does_not_hold_itself(porch: Run, place: Path) -> None:
    porch("call", "search_knowledge", "query=garden")
    result = porch("backup", "data/kept.tar.gz")
    assert result.exit_code == EXIT.DONE, result.output
    with tarfile.open(place / "data" / "kept.tar.gz") as tar:
        assert not any("kept.tar.gz" in name for name in tar.getnames())


def test_a_backup_that_finds_no_room_says_so_and_leaves_nothing(
    backed_up: Path, porch: Run, full: Path
) -> None:
    result = porch("backup", str(full / "kept.tar.gz"))
    assert result.exit_code == EXIT.PROBLEM, result.output
    assert f"{full}/kept.tar.gz cannot be written: " in result.output
    assert "Nothing is left of it." in result.output
    assert names(full) == {"other"}


def test_a_restore_that_finds_no_room_says_so_and_leaves_nothing(
    backed_up: Path, porch: Run, full: Path
) -> None:
    result = porch("restore", str(backed_up), "--data", str(full / "data"))
    assert result.exit_code == EXIT.PROBLEM, result.output
    assert f"{full}/data cannot be filled: No space left on device" in result.output
    assert names(full) == {"other"}


def test_an_empty_directory_is_filled_where_it_stands(
    backed_up: Path, porch: Run, place: Path
) -> None:
    """It may be a volume, or all that the portal's user may write to in its parent."""
    volume = place / "volume"
    (volume / "lost+found").mkdir(parents=True)
    (volume / ".restoring").mkdir()
    (volume / ".restoring" / "porch.db").write_text("half of it, from a restore that was ended")
    before = volume.stat().st_ino, names(place)
    result = porch("restore", str(backed_up), "--verify", "--data", "volume")
    assert result.exit_code == EXIT.DONE, result.output
    assert (volume.stat().st_ino, names(place)) == before
    assert {"porch.db", "signing-key", "lost+found"} <= names(volume)
    assert ".restoring" not in names(volume)
