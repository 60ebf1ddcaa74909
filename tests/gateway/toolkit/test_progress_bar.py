"""A bar where a person looks on, lines where a file does."""

from __future__ import annotations

import io
import sys

import pytest

from gateway.toolkit.progress_bar import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_of(columns: int, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in place of standard error; no fixture, since pytest takes that after them."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    return made


def test_each_part_of_the_work_is_a_line_once() -> None:
    lines: list[str] = []
    with progress_bar(lines.append, unit="files") as tell:
        tell("reading", 0, 0)
        tell("reading", 5, 0)
        tell("", 5, 0)
        tell("writing", 1, 1200)
        tell("writing", 2, 1200)
    assert lines == ["reading", "writing (1,200 files)"]


def test_nothing_is_said_where_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as tell:
        tell("reading", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_with_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(100, monkeypatch)
    with progress_bar(unit="files") as tell:
        tell("reading [all]", 7, 0)
        tell("writing", 3, 4)
    drawn = terminal.getvalue()
    assert "3/4" in drawn
    assert "writing" in drawn


def test_a_narrow_terminal_has_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(40, monkeypatch)
    with progress_bar(unit="files") as tell:
        tell("reading [all]", 7, 0)
    drawn = terminal.getvalue()
    assert "reading [all]" in drawn
    assert "7 files" in drawn


def test_little_work_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(100, monkeypatch)
    with progress_bar(least=20) as tell:
        tell("reading", 1, 3)
    assert "reading" not in terminal.getvalue()
    with progress_bar(least=20) as tell:
        tell("reading", 1, 30)
    assert "1/30" in terminal.getvalue()
