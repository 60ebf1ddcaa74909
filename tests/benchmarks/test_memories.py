"""The entries that memory is measured with: how many, how long, and whether questions find them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.memories import LONGEST, SHARES, SHORTEST, question, texts
from plugins.knowledge.memory.store.words import term_ids, weights


def test_there_are_10_000_different_entries_and_more_to_write_beside_them(test_data: Path) -> None:
    found = texts(test_data)
    assert sum(SHARES.values()) == 10_000 < len(found) - 3_500
    assert all(SHORTEST <= len(text) <= LONGEST for text in found)
    assert len(set(found)) == len(found)


def test_a_question_has_words_of_its_entry(test_data: Path) -> None:
    for text in texts(test_data)[::50]:
        assert not weights(text).keys().isdisjoint(term_ids(question(text))), text
