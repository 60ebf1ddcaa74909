"""The time that a question names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.retrieval.asked_times import asked_time

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
DECIDED = "what did we decide"


@pytest.mark.parametrize(
    ("question", "begins", "ends", "rest"),
    [
        (f"{DECIDED} in October", "2026-10-01", "2026-10-31", DECIDED),
        (f"{DECIDED} in October 2025?", "2025-10-01", "2025-10-31", f"{DECIDED}?"),
        (f"{DECIDED} last month", "2026-10-01", "2026-10-31", DECIDED),
        (f"{DECIDED} last November", "2025-11-01", "2025-11-30", DECIDED),
        (f"{DECIDED} in December", "2025-12-01", "2025-12-31", DECIDED),
        ("What is due in December?", "2026-12-01", "2026-12-31", "What is due?"),
        (f"{DECIDED} last week", "2026-11-23", "2026-11-29", DECIDED),
        (f"{DECIDED} this year", "2026-01-01", "2026-12-31", DECIDED),
        (f"{DECIDED} in 2025", "2025-01-01", "2025-12-31", DECIDED),
        ("On 16 November, who came?", "2026-11-16", "2026-11-16", "who came?"),
        ("Who came on May 3rd 2025", "2025-05-03", "2025-05-03", "Who came"),
        ("Who came on 2026-03-05", "2026-03-05", "2026-03-05", "Who came"),
        ("yesterday's meeting", "2026-11-29", "2026-11-29", "meeting"),
        ("What happened last week?", "2026-11-23", "2026-11-29", ""),
    ],
)
def test_a_time_is_read_and_taken_out(question: str, begins: str, ends: str, rest: str) -> None:
    found = asked_time(question, NOW)
    assert found is not None
    assert (f"{found.begins:%Y-%m-%d}", f"{found.ends:%Y-%m-%d}") == (begins, ends)
    assert found.rest == rest


@pytest.mark.parametrize(
    "question",
    ["May I park here?", "What may happen?", "Who is April?", "31 February 2026", "March with us"],
)
def test_what_is_no_time_is_left_alone(question: str) -> None:
    assert asked_time(question, NOW) is None


@given(
    st.sampled_from(["in {} 2025", "on 29 {}", "last {}", "{} 31st", "in 20{}", "{} 2026-02-30"]),
    st.sampled_from(["May", "february", "00", "last week", "\u00e9"]),
    st.text(max_size=40),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_question_can_be_read(form: str, said: str, more: str, now: datetime) -> None:
    found = asked_time(f"{more} {form.format(said)} {more}", now)
    assert found is None or found.begins < found.ends
