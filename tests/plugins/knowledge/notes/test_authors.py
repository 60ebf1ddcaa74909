"""Who wrote a note is read as the tools of sites write it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from plugins.knowledge.notes.note import Note, Origin, Rules, parse


def note(fields: str) -> Note:
    origin = Origin("a.md", "a.md", datetime(2026, 1, 1, tzinfo=UTC), "")
    return parse(f"---\n{fields}\n---\n# A\n".encode(), origin, Rules({}, {}, publish=True))


@pytest.mark.parametrize(
    ("fields", "authors"),
    [
        ("author: Ana", ["Ana"]),
        ("authors: [squidfunk, alexvoss]", ["squidfunk", "alexvoss"]),
        ("authors: slorber", ["slorber"]),
        ("authors:\n- name: Ana Díaz\n  title: Editor\n- ben", ["Ana Díaz", "ben"]),
        ("authors: {name: Ana, url: 'https://example.org'}", ["Ana"]),
        ("authors: [{key: slorber, title: Lead}]", ["slorber"]),
        ("author: {name: Ana}", ["Ana"]),
        ("author: Ana\nauthors: [ben]", ["Ana"]),
        ("authors: [ana, ana]", ["ana"]),
        ("authors: []", None),
        ("authors: [{}]", None),
    ],
)
def test_a_notes_authors_are_named(fields: str, authors: Any) -> None:
    made = note(fields)
    assert made.document is not None
    assert made.document.metadata.author == authors
    assert not made.problems


def test_an_author_without_a_name_is_a_problem_and_authors_of_ones_own_are_none() -> None:
    [problem] = note("author: {team: garden}").problems
    assert (problem.line, problem.severity) == (2, "warning")
    assert not note("authors: {team: garden}").problems
