"""Dates are read as people write them in their languages."""

from __future__ import annotations

import pytest

from plugins.knowledge.written_days import written_day, written_days


@pytest.mark.parametrize(
    "written",
    [
        "2024-04-10",
        "2024_04_10",
        "20240410",
        "10.04.2024",
        "10. 4. 2024",
        "April 10, 2024",
        "the 10th of April 2024",
        "10. April 2024",
        "10 avril 2024",
        "10 de abril de 2024",
        "10 aprile 2024",
        "10 april 2024",
        "10 апреля 2024",
        "2024年4月10日",
        "2024년 4월 10일",
    ],
)
def test_a_day_is_read_in_every_way_of_writing_it(written: str) -> None:
    assert set(written_days(f"Was wurde am {written} besprochen?")) == {"2024-04-10"}
    assert set(written_days(written.upper())) == {"2024-04-10"}
    assert written_day(written.removeprefix("the ")) == "2024-04-10"
    assert written_day(f"{written} or so") is None


@pytest.mark.parametrize(
    "written",
    ["March 2024", "März 2024", "en mars 2024", "marzo de 2024", "março de 2024", "2024年3月",
     "в марте 2024", "2024년 3월", "2024-03"],
)  # fmt: skip
def test_a_month_is_read_too(written: str) -> None:
    assert list(written_days(written)) == ["2024-03"]
    assert written_day(written) is None


@pytest.mark.parametrize(
    "text", ["2024", "2024-13", "2024-02-30", "12024-01-01", "May 14", "v2024.1", "1.2.20245", ""]
)
def test_what_is_no_date_with_a_year_is_none(text: str) -> None:
    assert not list(written_days(text))
    assert written_day(text) is None
