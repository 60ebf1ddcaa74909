"""What a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.entities import (
    MAX_CANDIDATES,
    MAX_CHARACTERS,
    MAX_ENTITIES,
    MAX_SHARED,
    entities_in,
    maybe_named_in,
    rarity,
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The key is with Ruth Adler's sister.", {"ruth adler", "ruth", "adler"}),
        ("Mrs Keller has it.", {"mrs keller", "keller"}),
        ("In May we met Noa on Monday.", {"noa"}),
        ("We buy it from the Harvest Fund.", {"harvest fund", "harvest", "fund"}),
        ("`make_invoices.py` fails, see PORT-118.", {"make_invoices.py", "port-118"}),
        ("We restart box-17 and srv_west2 at 10:30 on 2026-05-01.", {"box-17", "srv_west2"}),
        ("roster.build() calls MemberSync for @ana in #garden.",
         {"roster.build()", "membersync", "@ana", "#garden"}),
        ("Caroline: I play the cello.", {"caroline"}),
        ("It is not so, and what is so is common.", set()),
        ("La cuota es de 40 euros al año, él paga.", set()),
        ("Собрание теперь по средам в Казани.",
         {"собрание", "казани"}),
        ("私は京都 に住んでいます。", set()),
        ("Deployed version 2 to staging.", set()),
        ("Ahmed lives in Ghent. Fred, too.", {"ahmed", "ghent", "fred"}),
        ("Émilie Zola moved.", {"émilie zola", "émilie", "zola"}),
        ("Going there takes long. Surely.", set()),
        ("Das Treffen mit der Imkerei Weber ist um 18 Uhr.", {"imkerei weber", "imkerei", "weber"}),
        ("Uli: Der Raum ist auf dem Dach und das Wasser in der Kammer.", {"uli"}),
    ],
)  # fmt: skip
def test_names_and_programs_are_found_by_how_they_are_written(text: str, named: set[str]) -> None:
    assert entities_in(text) == named


def test_what_an_entry_is_tagged_with_it_names() -> None:
    assert entities_in("it closes early", ["Boat House"]) == {"boat house"}


def test_what_the_portal_calls_what_it_finds_in_conversations_names_nothing() -> None:
    assert not entities_in("it closes early", ["fact", "decision", "found-by-agent"])


@pytest.mark.parametrize(
    ("text", "maybe"),
    [
        ("ask maria about it", {"maria"}),
        ("the mill street lease", {"mill street lease", "mill street", "street lease", "mill",
         "street", "lease"}),
        ("Ask Maria", set()),
        ("it is on the 4th", set()),
    ],
)  # fmt: skip
def test_what_may_be_a_name_without_capitals_is_found(text: str, maybe: set[str]) -> None:
    assert maybe_named_in(text) == maybe


@given(st.text(max_size=600))
def test_what_may_be_a_name_stands_in_the_text(text: str) -> None:
    found = maybe_named_in(text)
    assert len(found) <= MAX_CANDIDATES
    assert all(word in text for each in found for word in each.split())


@given(st.text(max_size=600), st.lists(st.text(max_size=120), max_size=40))
def test_any_text_names_a_few_short_things(text: str, tags: list[str]) -> None:
    found = entities_in(text, tags)
    assert len(found) <= MAX_ENTITIES
    assert all(2 <= len(each) <= MAX_CHARACTERS for each in found)


@given(st.integers(2, 10_000), st.integers(0, 10_000))
def test_a_rarer_name_tells_no_less(entries: int, more: int) -> None:
    assert 0.0 <= rarity(entries + more) <= rarity(entries) <= 1.0
    assert (rarity(entries) > 0) == (entries <= MAX_SHARED)
