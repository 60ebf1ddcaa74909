"""What a model says of a conversation counts where it can show the words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.extraction import Extracted, FoundBy, Kind, Turn
from plugins.knowledge.memory.extraction.findings import (
    Finding,
    Findings,
    believed,
    merged,
    parts,
    problems,
)

BY = FoundBy("model", "small")
TALK = [
    Turn("Rosa", "Shall we do the beds on the 14th?"),
    Turn("Jonas", "Yes, that is it then. Anything but tomatoes for me."),
]


def finding(turn: int, quote: str, what: str, kind: Kind = Kind.DECISION) -> Finding:
    return Finding(kind=kind, turn=turn, quote=quote, what=what)


def believed_of(*findings: Finding) -> list[str]:
    return [each.what for each in believed(Findings(found=list(findings)), TALK, BY)]


def test_what_can_show_its_words_is_believed() -> None:
    one = finding(1, "that is it then", "The beds are done on the 14th.")
    assert believed_of(one) == ["The beds are done on the 14th."]
    (found,) = believed(Findings(found=[one]), TALK, BY)
    assert (found.who, found.turn, found.quote, found.by) == ("Jonas", 1, "that is it then", BY)


@pytest.mark.parametrize(
    ("turn", "quote", "what", "reason"),
    [
        (7, "that is it then", "They agreed.", "there is no turn 7"),
        (0, "that is it then", "They agreed.", "does not stand in turn 0"),
        (1, "That is it then", "They agreed.", "does not stand in turn 1"),
        (1, "that is it then", "The beds are done on the 15th.", "does not say 15"),
        (1, "  ", "They agreed.", "does not stand in turn 1"),
    ],
)
def test_what_cannot_is_left_out_and_told(turn: int, quote: str, what: str, reason: str) -> None:
    one = finding(turn, quote, what)
    assert believed_of(one) == []
    assert reason in next(problems(Findings(found=[one]), TALK))


def test_what_rules_found_is_not_found_twice() -> None:
    rule = Extracted(Kind.PREFERENCE, "Jonas", "I prefer beans.", None, 0)
    same = Extracted(Kind.PREFERENCE, "Jonas", "Jonas prefers beans.", None, 0, "prefer beans", BY)
    other = Extracted(Kind.FACT, "Jonas", "Jonas has a spade.", None, 0, "my spade", BY)
    assert merged([rule], [same, other, other]) == [rule, other]


pieces = st.lists(st.builds(Turn, st.just("Ana"), st.text(max_size=50)), max_size=20)


@given(pieces, st.integers(1, 200))
def test_parts_hold_every_turn_once_and_in_order(turns: list[Turn], size: int) -> None:
    ranges = list(parts(turns, size))
    assert [number for part in ranges for number in part] == list(range(len(turns)))
    assert all(len(part) for part in ranges)
    for part in ranges:
        assert len(part) == 1 or _bytes(turns, part) <= size


def _bytes(turns: list[Turn], part: Any) -> int:
    return sum(len(turns[each].text.encode(errors="replace")) for each in part)


SAID = [turn.text for turn in TALK]
quotes = st.one_of(
    st.text(min_size=2, max_size=20),
    st.tuples(st.sampled_from(SAID), st.integers(0, 20), st.integers(2, 40)).map(
        lambda cut: cut[0][cut[1] : cut[1] + cut[2]]
    ),
)
numberless = st.text(st.characters(exclude_categories=["N", "Cs"]), min_size=2, max_size=20)


@given(st.integers(0, 3), quotes, numberless)
def test_what_is_said_is_believed_exactly_where_its_words_stand(
    turn: int, quote: str, what: str
) -> None:
    stands = turn < len(TALK) and bool(quote.strip()) and quote in SAID[turn]
    found = believed(Findings(found=[finding(turn, quote, what)]), TALK, BY)
    assert [(each.turn, each.quote) for each in found] == [(turn, quote)] * stands
