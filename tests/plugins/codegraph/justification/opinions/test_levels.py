"""The order in which models are asked, over any graph."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.opinions.claims import MAX_ENTITIES
from plugins.codegraph.justification.opinions.levels import levels
from plugins.codegraph.justification.order import components


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Columns, frozenset[int], frozenset[int]]:
    """A graph, what is asked about, and what is an entry point."""
    size = draw(st.integers(1, 12))
    places = st.integers(0, size - 1)
    edges = draw(st.sets(st.tuples(places, places), max_size=30))
    columns = Columns()
    columns.entities = [None] * size  # type: ignore[list-item]
    columns.callees = [array("q") for _ in range(size)]
    for source, target in sorted(edges):
        if source != target:
            columns.callees[source].append(target)
    return columns, draw(st.frozensets(places)), draw(st.frozensets(places))


@given(graphs())
def test_everything_wanted_is_asked_once_after_what_it_uses_and_entry_points_last(
    drawn: tuple[Columns, frozenset[int], frozenset[int]],
) -> None:
    columns, wanted, entries = drawn
    order = components(columns)
    found = levels(columns, order, wanted.__contains__, entries.__contains__)
    place = {at: level for level, some in enumerate(found) for group in some for at in group}
    asked = [at for some in found for group in some for at in group]
    assert sorted(asked) == sorted(wanted)
    assert all(found)
    assert all(len(group) <= MAX_ENTITIES for some in found for group in some)
    circle = {at: number for number, group in enumerate(order) for at in group}
    for at in wanted:
        for used in _reached(columns, at) & wanted:
            if circle[used] != circle[at]:
                assert place[used] < place[at]
    above = set(entries)
    for group in order:
        if any(_reached(columns, at) & entries or at in entries for at in group):
            above |= set(group)
    last = max((place[at] for at in wanted - above), default=-1)
    assert all(place[at] > last for at in wanted & entries)


def _reached(columns: Columns, start: int) -> set[int]:
    found: set[int] = set()
    left = [start]
    while left:
        for each in columns.callees[left.pop()]:
            if each not in found:
                found.add(each)
                left.append(each)
    return found
