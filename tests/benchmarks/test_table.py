"""The table says of each bar whether it is met, and lets nothing unmeasured pass as met."""

from __future__ import annotations

import importlib
import types
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks.table import Bar, Row, Unmeasurable, markdown, number


@pytest.mark.parametrize(
    ("kind", "value", "met"),
    [
        ("at least", 0.8, True),
        ("at least", 0.79, False),
        ("at most", 3.0, True),
        ("at most", 3.01, False),
        ("under", 2.99, True),
        ("under", 3.0, False),
    ],
)
def test_a_bar_is_met_up_to_its_limit(kind: Any, value: float, met: bool) -> None:
    row = Row("s", "what", value, bar=Bar(kind, 0.8 if kind == "at least" else 3.0))
    assert row.missed is not met
    assert row.verdict == ("met" if met else "missed")


def test_a_row_without_a_bar_has_no_verdict() -> None:
    assert Row("s", "what", 1.0).verdict == ""


def test_numbers_have_the_digits_they_deserve() -> None:
    assert number(12_345.678, "calls/s") == "12,346 calls/s"
    assert number(27.26, "ms") == "27.3 ms"
    assert number(2.345, "s") == "2.35 s"
    assert number(0.6123, "") == "0.612"


def test_a_table_in_markdown_says_which_bar_is_missed() -> None:
    rows = [
        Row("s", "fast", 2.0, "ms", Bar("under", 8)),
        Row("s", "slow", 9.0, "ms", Bar("under", 8)),
    ]
    text = markdown(rows)
    assert "| fast | 2.00 ms | under 8 ms |" in text
    assert "| slow | 9.00 ms | under 8 ms, missed |" in text


def _sections(monkeypatch: pytest.MonkeyPatch, **found: Any) -> None:
    modules = {f"benchmarks.{name}": types.SimpleNamespace(measure=m) for name, m in found.items()}
    monkeypatch.setattr("importlib.import_module", modules.__getitem__)


def _missed() -> list[Row]:
    return [Row("lists", "slow", 9.0, "ms", Bar("under", 8))]


def _lacking() -> list[Row]:
    raise Unmeasurable("Set PORCH_TEST_DATA.")


@pytest.mark.parametrize("measure", [_missed, _lacking])
def test_strict_fails_on_a_missed_bar_and_on_a_section_left_out(
    monkeypatch: pytest.MonkeyPatch, measure: Any
) -> None:
    _sections(monkeypatch, lists=measure)
    assert CliRunner().invoke(command.main, ["lists"]).exit_code == 0
    assert CliRunner().invoke(command.main, ["lists", "--strict"]).exit_code == 1


def test_every_section_listed_can_be_measured() -> None:
    for name in command.SECTIONS:
        assert callable(importlib.import_module(f"benchmarks.{name}").measure)
