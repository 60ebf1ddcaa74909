"""What several have found is there once, with all who have it, and nothing gets lost."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.upstreams.commons.hits import Hit
from plugins.upstreams.commons.rank_fusion import merged
from plugins.upstreams.commons.sources import Source
from tests.examples import examples

A, B, C = (
    Source(name, f"upstreams/{name}/", f"upstreams/{name}/search", name, "query", "")
    for name in "abc"
)
LONG = "Trust grows where people keep small promises to each other for a long time."


def _found(*heard: tuple[Source, Sequence[Hit]]) -> list[list[str]]:
    return [[place.source.name for place in each.places] for each in merged(heard)]


def test_what_two_have_comes_before_what_one_has_first() -> None:
    alone, shared = Hit("Alone", "https://a.example/1"), Hit("Shared", "https://a.example/2")
    found = merged([(A, [alone, shared]), (B, [shared])])
    assert [each.places[0].hit.title for each in found] == ["Shared", "Alone"]


def test_an_address_is_one_however_it_is_written() -> None:
    one, other = Hit("One", "http://A.example/x/#top"), Hit("Other", "https://a.example/x")
    assert _found((A, [one]), (B, [other])) == [["a", "b"]]


def test_an_address_that_only_its_server_knows_is_another_at_the_next() -> None:
    here = Hit("One", "mcp://notes/pattern/trust")
    there = Hit("Two", "mcp://notes/pattern/trust")
    assert _found((A, [here]), (B, [there])) == [["a"], ["b"]]
    assert _found((A, [Hit("One", "", "1")]), (B, [Hit("Two", "", "1")])) == [["a"], ["b"]]


def test_the_same_text_is_one_thing_at_two_addresses() -> None:
    here, there = Hit("Trust", "https://a.example/t", "", LONG), Hit("Trust", "", "7", f" {LONG}\n")
    assert _found((A, [here]), (B, [there])) == [["a", "b"]]


def test_what_joins_two_things_makes_them_one() -> None:
    uri, text = Hit("X", "https://a.example/t", "", "short"), Hit("Trust", "", "7", LONG)
    both = Hit("Trust", "https://a.example/t", "", LONG)
    assert _found((A, [uri]), (B, [text]), (C, [both])) == [["a", "b", "c"]]


HITS = st.builds(
    Hit,
    title=st.sampled_from(["", "One", "Two"]),
    uri=st.sampled_from(["", "https://a.example/1", "http://A.example/1/", "kb://1", "x:["]),
    id=st.sampled_from(["", "1", "2"]),
    text=st.sampled_from(["", "short", LONG]),
)


HEARD = st.dictionaries(st.sampled_from("abc"), st.lists(HITS, max_size=6), max_size=3)
SOURCES = {"a": A, "b": B, "c": C}
WEB = ("https://a.example/1", "http://A.example/1/")


@given(HEARD)
@settings(max_examples=examples(200))
def test_no_source_counts_twice_and_none_is_lost(heard: dict[str, list[Hit]]) -> None:
    found = merged([(SOURCES[name], hits) for name, hits in heard.items()])
    named = [[place.source.name for place in each.places] for each in found]
    assert all(len(names) == len({*names}) for names in named)
    assert {name for names in named for name in names} == {n for n, hits in heard.items() if hits}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert sum(any(p.hit.uri in WEB for p in each.places) for each in found) <= 1


@given(HEARD)
@settings(max_examples=examples(200))
def test_who_is_asked_first_makes_no_difference_to_what_is_one(
    heard: dict[str, list[Hit]],
) -> None:
    pairs = [(SOURCES[name], hits) for name, hits in heard.items()]
    assert sorted(map(sorted, _found(*pairs))) == sorted(map(sorted, _found(*reversed(pairs))))
