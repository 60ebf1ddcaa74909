"""Differences of versions: what they say turns the one into the other, however long it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.knowledge.history.differences import MAX_COMPARED_LINES, difference
from tests.examples import examples

LINES = st.lists(st.sampled_from(["a", "b", "", "+c", "-d", "@@ -1 +1 @@"]), max_size=30)
_AT = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def applied(before: Sequence[str], text: str) -> list[str]:
    """A text with a unified difference applied (GNU diffutils manual, "Detailed Unified")."""
    made: list[str] = []
    at = 0
    for line in text.split("\n") if text else []:
        if found := _AT.fullmatch(line):
            start = int(found[1]) - (found[2] != "0")
            made += before[at:start]
            at = start
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert before[at] == line[1:]
            made += [] if line.startswith("-") else [line[1:]]
            at += 1
    return [*made, *before[at:]]


@given(LINES, LINES)
@settings(max_examples=examples(200))
def test_a_difference_makes_the_later_text_of_the_earlier_one(
    before: list[str], after: list[str]
) -> None:
    found = difference(before, after, 10_000)
    assert not found.is_cut
    assert applied(before, found.text) == after
    assert len(after) - len(before) == found.added - found.removed


@given(LINES, LINES, st.integers(0, 60))
def test_a_difference_is_never_longer_than_it_may_be_and_says_where_it_is_cut(
    before: list[str], after: list[str], most: int
) -> None:
    found, whole = difference(before, after, most), difference(before, after, 10_000)
    assert len(found.text) <= most
    assert found.is_cut == (found.text != whole.text)
    assert (found.added, found.removed) == (whole.added, whole.removed)


def test_of_what_is_too_long_to_be_compared_only_the_number_of_lines_is_told() -> None:
    long = [f"{number}" for number in range(MAX_COMPARED_LINES + 1)]
    found = difference(["begin", *long, "end"], ["begin", *reversed(long), "end"], 100)
    assert (found.text, found.added, found.removed) == ("", len(long), len(long))
    assert found.is_cut
