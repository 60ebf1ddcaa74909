"""Reading SCIP indexes, byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.scip.index import decoded
from plugins.codegraph.scip.protobuf import BrokenIndex, fields, numbers
from tests.plugins.codegraph.scip.index_writer import document, index, occurrence, varint


def test_documents_have_their_paths_and_occurrences() -> None:
    data = index(
        document("src\\a.ts", occurrence("a#", [3, 4, 9], 1), occurrence("local 2", [1, 0, 2, 5])),
        document("b.py"),
    )
    first, second = decoded(data)
    assert (first.path, second.path) == ("src/a.ts", "b.py")
    assert [(o.symbol, o.line, o.start, o.end, o.defines) for o in first.occurrences] == [
        ("a#", 3, 4, 9, True),
        ("src/a.ts local 2", 1, 0, 5, False),
    ]


def test_bases_come_with_the_symbols() -> None:
    (found,) = decoded(index(document("a.ts", parents={"A#": ["B#", "C#"]})))
    assert found.parents == {"A#": ("B#", "C#")}


@pytest.mark.parametrize("cut", [1, 2, 5, 9])
def test_an_index_that_is_cut_off_is_broken(cut: int) -> None:
    data = index(document("a.ts", occurrence("a#", [3, 4, 9], 1)))
    with pytest.raises(BrokenIndex):
        decoded(data[:-cut])


def test_an_empty_index_has_no_documents() -> None:
    assert decoded(b"") == []


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_packed_numbers_come_back(values: list[int]) -> None:
    assert numbers(b"".join(map(varint, values))) == values


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_broken(data: bytes) -> None:
    try:
        found = list(fields(data))
    except BrokenIndex:
        return
    assert all(number >= 0 for number, _ in found)


@given(st.binary(max_size=80))
def test_any_bytes_are_an_index_or_broken(data: bytes) -> None:
    try:
        decoded(data)
    except BrokenIndex:
        return
