"""The index in memory: what fits best, and how it follows changes."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.search.index import Index, IndexedItem, Query, parse_text, vector_of
from plugins.workflows.search.matrix import BLOCK_ROWS, Matrix
from tests.plugins.workflows.search.words_model import WordsModel

MODEL = WordsModel(dog="hound")


def text(
    id: str, name: str, about: str = "", *, tags: str = "", stamp: int = 1, **more: Any
) -> IndexedItem:
    """An item as it is read from its stored text, embedded unless ``bare``."""
    whole = f"{name}\n{tags}\n{about}"
    called, counts = parse_text(whole)
    bare = more.pop("bare", False)
    vector = None if bare else asyncio.run(MODEL.query(whole))
    fields: dict[str, Any] = {"gone": False, "public": True, **more}
    return IndexedItem(
        id, stamp, text=hash(whole), name=called, counts=counts, vector=vector, **fields
    )


def index(*texts: IndexedItem, model: bool = True) -> Index:
    made = Index(MODEL.dimensions if model else None)
    for each in texts:
        made.put(each)
    return made


def asked(words: str, model: bool = True) -> Query:
    return Query.of(words, asyncio.run(MODEL.query(words)) if model else None)


def ids(found: list[tuple[str, float]]) -> list[str]:
    return [id for id, _ in found]


SHED = text("shed", "Tidy the shed", "Carry all out and sweep.", tags="garden, order")
HOUND = text("hound", "Walk the hound", "Through the garden, every morning.")
ROOF = text("roof", "Mend the roof", "Climb a ladder and put new tiles there.")


@pytest.mark.parametrize("model", [True, False], ids=["semantic", "text"])
def test_what_is_named_comes_first_with_one(model: bool) -> None:
    made = index(SHED, HOUND, ROOF, model=model)
    best = made.best(asked("WALK the hound!", model), 10)
    assert best[0] == ("hound", 1.0)
    assert all(0 < score < 1 for _, score in best[1:])


def test_meaning_finds_what_words_do_not() -> None:
    assert ids(index(SHED, HOUND, ROOF).best(asked("take out a dog"), 1)) == ["hound"]
    found = index(SHED, HOUND, ROOF, model=False).best(asked("feed a dog", model=False), 10)
    assert found == []


def test_words_of_the_name_and_the_tags_count_more_than_those_of_the_rest() -> None:
    found = index(SHED, HOUND, ROOF, model=False).best(asked("garden", model=False), 10)
    assert ids(found) == ["shed", "hound"]
    twins = (text("a", "One", "zebra", tags="x"), text("b", "Two", "x", tags="zebra"))
    assert ids(index(*twins).best(asked("zebra"), 10)) == ["b", "a"]


def test_an_item_without_a_vector_is_found_by_its_words() -> None:
    made = index(SHED, ROOF, text("bare", "Feed the goat", "Hay and water.", bare=True))
    assert ids(made.best(asked("hay for the goat"), 1)) == ["bare"]
    assert (made.has_vector("bare"), made.has_vector("shed")) == (False, True)
    assert not made.has_vector("nobody")


def test_stop_words_alone_find_what_is_called_so_and_nothing_else_without_a_model() -> None:
    made = index(SHED, text("what", "What to do"), model=False)
    assert made.best(asked("what to do", model=False), 10) == [("what", 1.0)]
    assert made.best(asked("how do you do", model=False), 10) == []
    assert made.best(asked("\u2026 !!", model=False), 10) == []


def test_an_item_with_another_text_is_found_by_that_alone() -> None:
    made = index(SHED, ROOF, model=False)
    made.put(text("shed", "Paint the fence", stamp=2))
    assert ids(made.best(asked("paint", model=False), 10)) == ["shed"]
    assert made.best(asked("Tidy the shed", model=False), 10) == []
    assert len(made) == 2


def test_what_is_older_than_what_is_known_changes_nothing() -> None:
    made = index(text("shed", "Paint the fence", stamp=2), model=False)
    made.put(SHED)
    assert made.best(asked("tidy", model=False), 10) == []


def test_what_is_gone_is_not_found_and_can_come_back() -> None:
    made = index(SHED, ROOF, model=False)
    made.put(text("shed", "Tidy the shed", gone=True, stamp=2))
    made.put(text("never", "Tidy never", gone=True, stamp=2))
    assert made.best(asked("tidy", model=False), 10) == []
    made.put(text("shed", "Tidy the shed", stamp=3))
    assert ids(made.best(asked("tidy", model=False), 10)) == ["shed"]


def test_a_vector_that_comes_later_takes_no_new_row() -> None:
    made = index(*(text(f"i{number}", f"Item {number}", bare=True) for number in range(600)))
    for number in range(600):
        made.put(text(f"i{number}", f"Item {number}", stamp=2))
    assert made.has_vector("i599")
    assert not made.wasteful


def test_an_index_of_much_that_is_given_up_is_wasteful() -> None:
    made = index(SHED, model=False)
    for number in range(600):
        made.put(text("shed", f"Name {number}", bare=True, stamp=number + 2))
    assert made.wasteful


def test_words_of_private_items_change_nobody_elses_scores() -> None:
    question = asked("sweep the marmalade", model=False)
    without = dict(index(SHED, ROOF, model=False).best(question, 10))
    secret = text("secret", "Marmalade", "marmalade marmalade", public=False)
    beside = dict(index(SHED, secret, ROOF, model=False).best(question, 10))
    assert beside.pop("secret") > 0
    assert beside == without


def test_only_the_best_are_given_and_equals_by_their_ids() -> None:
    made = index(*(text(f"i{number:03}", "Rake leaves") for number in reversed(range(300))))
    assert ids(made.best(asked("leaves"), 200)) == [f"i{number:03}" for number in range(200)]
    among = made.among(asked("leaves"), ["i007", "i003", "unknown", "i005"])
    assert ids(among) == ["i003", "i005", "i007"]


def test_an_empty_index_finds_nothing() -> None:
    assert Index(None).best(asked("leaves", model=False), 10) == []
    assert Index(64).among(asked("leaves"), ["a"]) == []


def test_a_stored_vector_of_another_length_is_none() -> None:
    assert vector_of(None, 64) is None
    assert vector_of(b"\0" * 4 * 63, 64) is None
    assert vector_of(b"\0" * 4 * 64, 64) is not None


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.text(max_size=20)), max_size=40), st.text())
def test_a_score_is_between_0_and_1_and_a_name_is_found(
    written: list[tuple[str, str]], words: str
) -> None:
    made = index(model=False)
    for stamp, (id, name) in enumerate(written):
        made.put(text(id, f"N{name}".replace("\n", " "), bare=True, stamp=stamp))
    assert all(0 < score <= 1 for _, score in made.best(asked(words, model=False), 10))
    for id, name in dict(written).items():
        called = f"N{name}".replace("\n", " ")
        assert (id, 1.0) in made.best(asked(called, model=False), 10)


@given(st.lists(st.integers(0, 3 * BLOCK_ROWS), unique=True, max_size=8))
def test_a_matrix_multiplies_each_row_that_was_put(rows: list[int]) -> None:
    matrix = Matrix(2)
    for row in rows:
        matrix.put(row, np.array([row, 1], np.float32))
    product = matrix.dot(np.array([1, 2], np.float32), 3 * BLOCK_ROWS + 1)
    expected = np.zeros(3 * BLOCK_ROWS + 1, np.float32)
    expected[rows] = [row + 2 for row in rows]
    assert np.array_equal(product, expected)
