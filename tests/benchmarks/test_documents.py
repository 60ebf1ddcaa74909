"""The documents show what one run measured: the README eight figures, benchmarks.md all of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import documents
from benchmarks.documents import FIGURES, README, ROOT, TABLE, write
from benchmarks.table import Row, Unmeasurable


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the two documents."""
    (tmp_path / "docs").mkdir()
    for each in (README, TABLE):
        shutil.copy(ROOT / each, tmp_path / each)
    for arguments in (["init"], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit"]):
        options = [] if arguments == ["init"] else ["--allow-empty", "--message=All"]
        subprocess.run(["git", *arguments, "--quiet", *options], cwd=tmp_path, check=True)
    return tmp_path


def _run() -> list[Row]:
    return [*(Row("s", what, 4711.0) for what in FIGURES), Row("s", "more", 1.0, headline=True)]


def test_both_documents_are_written_and_keep_what_else_they_say(checkout: Path) -> None:
    write(_run(), root=checkout)
    readme, table = ((checkout / each).read_text() for each in (README, TABLE))
    assert readme.count("| 4,711 |") == len(FIGURES)
    assert "| more | 1.00 |" in table
    assert "Measured in one run on" in table
    assert readme.startswith("# Porch")
    assert readme.endswith("[Apache 2.0](LICENSE).\n")
    write(_run(), root=checkout)
    assert (checkout / README).read_text() == readme


def test_the_table_names_the_sections_that_gave_no_figures(checkout: Path) -> None:
    write(_run(), ["lists", "skills"], checkout)
    assert "Not measured in it: lists, skills." in (checkout / TABLE).read_text()


def test_nothing_is_written_where_a_figure_was_not_measured(checkout: Path) -> None:
    before = (checkout / README).read_text()
    with pytest.raises(Unmeasurable, match="push of one changed note"):
        write(_run()[:7], root=checkout)
    assert (checkout / README).read_text() == before


def test_nothing_is_written_where_two_rows_have_one_name(checkout: Path) -> None:
    before = (checkout / README).read_text()
    with pytest.raises(ValueError, match="push of one changed note"):
        write([*_run(), Row("t", FIGURES[-1], 1.0)], root=checkout)
    assert (checkout / README).read_text() == before


def test_a_section_that_breaks_off_costs_no_other_its_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[list[Row], list[str]]] = []
    monkeypatch.setattr(documents, "write", lambda *given: told.append(given))
    monkeypatch.setattr(command, "SECTIONS", {"table": "no section, so that it breaks off"})
    done = CliRunner().invoke(command.main, ["--readme"])
    assert done.exit_code == 1
    assert "No figures of table" in done.output
    assert told == [([], ["table"])]


def test_the_documents_come_from_a_run_of_all_sections() -> None:
    assert CliRunner().invoke(command.main, ["lists", "--readme"]).exit_code == 2


def test_the_readme_repeats_what_the_table_says_and_fits_three_screens() -> None:
    readme, table = ((ROOT / each).read_text().splitlines() for each in (README, TABLE))
    shown = [line for line in readme if line.startswith(tuple(f"| {what} |" for what in FIGURES))]
    assert len(shown) == len(FIGURES)
    assert set(shown) <= set(table)
    assert len(readme) <= 120
