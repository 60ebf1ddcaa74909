"""When an entry holds, and of which time something speaks that is said again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from plugins.knowledge.memory.model.fields import LastMoment, UtcMoment
from plugins.knowledge.memory.model.validity import ANY_TIME, Validity

NOW = datetime(2026, 6, 1, tzinfo=UTC)
AHEAD, BACK = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"

days = st.integers(-400, 400).map(lambda number: NOW + timedelta(days=number))
times = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("event_at", "valid_from", "valid_until"), days)
)


def validity(**given: Any) -> Validity | None:
    """When something holds; None where the times do not go together."""
    try:
        return Validity(**given)
    except ValidationError:
        return None


validities = times.map(lambda given: validity(**given)).filter(lambda each: each is not None)


@pytest.mark.parametrize("moment", [AHEAD, BACK])
@pytest.mark.parametrize("kind", [UtcMoment, LastMoment], ids=["moment", "end"])
def test_a_moment_that_leaves_the_calendar_in_utc_is_refused(kind: Any, moment: str) -> None:
    with pytest.raises(ValidationError, match="outside of the years 1 to 9999"):
        TypeAdapter(kind).validate_python(moment)


def test_a_day_that_is_an_end_counts_whole() -> None:
    last = TypeAdapter(LastMoment).validate_python
    assert last("2026-06-01") == NOW + timedelta(days=1) - timedelta(microseconds=1)
    assert last("2026-06-01T12:00:00Z") == NOW + timedelta(hours=12)
    assert last("9999-12-31").year == 9999


@pytest.mark.parametrize("begins", ["event_at", "valid_from"])
def test_what_ends_before_it_begins_is_refused(begins: str) -> None:
    with pytest.raises(ValidationError, match=f"valid_until has to be later than {begins}"):
        Validity.model_validate({begins: "2026-05-01", "valid_until": "2026-04-01"})


@given(validities)
def test_the_same_times_said_again_are_the_same_claim(kept: Validity) -> None:
    assert kept.repeats(kept, NOW, is_event=True)


@given(validities)
def test_said_again_without_times_it_is_the_same_only_where_it_holds(kept: Validity) -> None:
    begins = kept.valid_from is None or kept.valid_from <= NOW
    ended = kept.valid_until is not None and kept.valid_until <= NOW
    assert ANY_TIME.repeats(kept, NOW, is_event=True) is (begins and not ended)


@given(validities, validities)
def test_no_time_that_is_given_is_lost(said: Validity, kept: Validity) -> None:
    if said.repeats(kept, NOW, is_event=True):
        assert said.event_at in (None, kept.event_at)
        assert said.valid_from in (None, kept.valid_from)
        assert kept.valid_until in (None, said.valid_until) or said.valid_until is None


@given(days, days)
def test_a_fact_is_the_same_fact_whenever_it_was_said(first: datetime, second: datetime) -> None:
    said, kept = Validity(event_at=second), Validity(event_at=first)
    assert said.repeats(kept, NOW, is_event=False)
    assert said.repeats(kept, NOW, is_event=True) is (first == second)
