"""Documents that hold no more, or that nobody has looked at for long, ask their authors."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.notes.ages import overdue
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.note import Origin, Rules, parse
from plugins.knowledge.notes.paths import PATH_TYPES

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def entry(type: str = "practice", date: str = "2025-01-01", **fields: Any) -> DocumentEntry:
    metadata = CONTENT.validate_python({"type": type, "title": "A", "date": date, **fields})
    return DocumentEntry(
        id="a",
        content_type=ContentType(type),
        path="a.md",
        metadata=metadata,
        synced_at=NOW,
        commit_sha="",
        tier=Tier.OPEN,
    )


def reasons(*entries: DocumentEntry, **days: int) -> list[str]:
    ages = {ContentType(name): number for name, number in days.items()}
    return [each.reason for each in overdue(entries, ages, NOW)]


def test_a_document_past_its_types_age_wants_a_look() -> None:
    assert reasons(entry(), practice=365) == ["nobody has looked at it for 424 days (365 at most)"]
    assert reasons(entry(), practice=500) == reasons(entry(), pattern=10) == reasons(entry()) == []


def test_a_parents_age_counts_for_its_children_but_where_they_have_their_own() -> None:
    assert len(reasons(entry(), resource=365)) == 1
    assert reasons(entry(), resource=365, practice=500) == []


def test_who_looked_has_looked() -> None:
    assert reasons(entry(verified_at="2026-02-01"), practice=365) == []


def test_a_document_that_holds_no_more_asks_unless_another_stands_in_its_place() -> None:
    ended = {"valid_until": "2026-02-01"}
    assert reasons(entry(**ended)) == ["it held until 2026-02-01"]
    assert reasons(entry(**ended, superseded_by="practice/b")) == []
    assert reasons(entry(valid_until="2026-04-01")) == []


@given(st.lists(st.integers(0, 3000), max_size=8))
def test_the_oldest_come_first_and_none_is_left_out(ages: list[int]) -> None:
    entries = [entry(date=str((NOW - timedelta(days=age)).date())) for age in ages]
    found = overdue(entries, {ContentType.PRACTICE: 365}, NOW)
    assert [each.age.days for each in found] == sorted((a for a in ages if a > 365), reverse=True)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("validFrom: 2026-02-01\nvalidUntil: 2026-01-01", "validUntil: it has to be later"),
        ("verifiedAt: 2999-01-01", "verifiedAt: it lies in the future"),
        ("validFrom: soon", "validFrom: 'soon' is not a date"),
    ],
)
def test_what_cannot_be_is_reported_with_its_line_and_left_out(fields: str, reason: str) -> None:
    text = f"---\npublish: true\ndate: 2025-01-01\n{fields}\n---\n# A\n"
    note = parse(text.encode(), Origin("a.md", "a.md", NOW), Rules(PATH_TYPES, {}))
    (problem,) = note.problems
    assert problem.line == 3 + len(fields.splitlines())
    assert problem.reason.startswith(reason)
    assert note.document is not None
