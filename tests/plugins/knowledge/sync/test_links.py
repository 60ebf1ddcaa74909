"""A link in a source counts as what it leads to: none goes round what a source leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.knowledge.config import SourceConfig
from plugins.knowledge.sync.sources import DirectorySource

MAX_NOTE = 100_000


@pytest.fixture
def source(tmp_path: Path) -> DirectorySource:
    notes = tmp_path / "notes"
    for path in ("plan.md", "private/plan.md", ".git/config.md", ".hidden/a.md"):
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(f"# {path}\n\nThe water pump is red.\n")
    (tmp_path / "beside.md").write_text("# Beside\n")
    config = SourceConfig(directory=notes, publish="all", exclude=("private/",))
    return DirectorySource(config, {}, MAX_NOTE)


@pytest.mark.parametrize(
    "target",
    ["private/plan.md", ".git/config.md", ".hidden/a.md", "../beside.md", "nowhere.md", "other.md"],
)
def test_a_link_to_what_is_left_out_is_left_out(source: DirectorySource, target: str) -> None:
    (source.directory / "link.md").symlink_to(target)
    (source.directory / "other.md").symlink_to("private")
    (source.directory / "chain.md").symlink_to("link.md")
    assert set(source.scan().files) == {"plan.md"}


def test_a_link_to_a_note_is_a_note(source: DirectorySource) -> None:
    (source.directory / "again.md").symlink_to("plan.md")
    found = source.scan().files
    assert set(found) == {"plan.md", "again.md"}
    assert source.content(found["again.md"]) == source.content(found["plan.md"])


def test_a_link_that_is_put_there_after_the_scan_is_not_read(source: DirectorySource) -> None:
    found = source.scan().files["plan.md"]
    (source.directory / "plan.md").unlink()
    (source.directory / "plan.md").symlink_to("private/plan.md")
    assert source.content(found) is None
    (source.directory / "plan.md").unlink()
    (source.directory / "plan.md").symlink_to("../beside.md")
    assert source.content(found) is None
