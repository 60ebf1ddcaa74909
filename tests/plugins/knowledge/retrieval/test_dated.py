"""Documents go by the days that their titles and files name."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.retrieval.dated import days, days_of
from tests.plugins.knowledge.retrieval.entries import at

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
DAYS = st.dates(date(1950, 1, 1), date(2099, 12, 31))


@given(DAYS, st.sampled_from(("%Y-%m-%d", "%Y_%m_%d", "%Y.%m.%d", "%Y%m%d")))
def test_a_document_goes_by_the_day_of_its_file(when: date, form: str) -> None:
    written = when.strftime(form)
    for path in (f"meetings/{written}.md", f"{written}-council.md", f"council {written}.md"):
        assert {*days_of(at(path))} == {when.isoformat(), f"{when:%Y-%m}"}


@given(DAYS)
def test_a_question_names_a_day_in_any_way(when: date) -> None:
    forms = (f"{when}", f"{when:%B} {when.day}, {when.year}", f"the {when.day}th of {when:%B %Y}")
    for form in forms:
        assert days(f"What was said on {form}?", NOW) == {when.isoformat()}
        assert when.isoformat() in [*days_of(at("council.md", f"Council, {form}"))]


def test_a_question_names_a_week_and_a_month() -> None:
    assert days("What was decided in April 2024?", NOW) == {"2024-04"}
    assert days("what was decided last month", NOW) == {"2026-10"}
    assert days("last week", NOW) == {f"2026-11-{day}" for day in range(23, 30)}


@pytest.mark.parametrize("question", ["in 2024", "last year", "on 2024-02-30", "in 10 days", ""])
def test_other_times_are_no_days(question: str) -> None:
    assert not days(question, NOW)


@pytest.mark.parametrize("name", ["2024-13-01", "12024-01-01", "May 14", "last week", "v2024.1.2"])
def test_what_has_no_year_or_is_no_date_is_none(name: str) -> None:
    assert not [*days_of(at(f"{name}.md", name))]
