"""Numbers, times of day and dates are one value in whatever form they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.plain_values import also_said, plain


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("15:00", "15:00"),
        ("3 pm", "15:00"),
        ("3pm", "15:00"),
        ("12 am", "0:00"),
        ("12 pm", "12:00"),
        ("three pm", "15:00"),
        ("noon", "12:00"),
        ("08:15", "8:15"),
        ("1,000,000", "1000000"),
        ("1,000.50", "1000.50"),
        ("Nine", "9"),
        ("twenty-five", "25"),
        ("two thousand euros", "2000 euros"),
        ("900\u20ac", "900 euros"),
        ("50%", "50 percent"),
        ("2026-05-03", "3 May 2026"),
        ("3.5.2026", "3 May 2026"),
        ("3rd of May", "3 of May"),
        ("May 3rd", "May 3"),
        ("3rd floor", "3rd floor"),
        ("2026-15-03", "2026-15-03"),
        ("3.14", "3.14"),
        ("am", "am"),
    ],
)
def test_a_value_has_one_form(written: str, form: str) -> None:
    assert plain(written.split()) == form.split()


def test_a_time_of_day_is_also_said_with_less() -> None:
    assert set(also_said(["15:00", "8:15", "20:15", "9:00", "7"])) == {
        "15",
        "3",
        "8:15",
        "20:15",
        "9",
    }


@given(st.lists(st.text(min_size=1, max_size=12), max_size=8))
def test_the_form_of_a_value_is_its_own_form(tokens: list[str]) -> None:
    assert plain(plain(tokens)) == plain(tokens)
