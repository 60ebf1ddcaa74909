from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.bm25 import term_id
from gateway.toolkit.words import terms
from plugins.knowledge.retrieval import bm25
from plugins.knowledge.retrieval.names import normal_form


def test_terms_are_stems_without_filler_words() -> None:
    assert terms("The Reimbursements of travelling members") == ["reimburs", "travel", "member"]


def test_a_document_that_says_a_term_more_often_weighs_more_but_less_than_twice() -> None:
    once = bm25.document("hat wearer", average=2).values[0]
    twice = bm25.document("hat hat", average=2).values[0]
    assert once < twice < 2 * once


def test_a_longer_document_weighs_less() -> None:
    short = dict(zip(*_parts("hat"), strict=True))
    long = dict(zip(*_parts("hat " + "word " * 30), strict=True))
    assert long[term_id("hat")] < short[term_id("hat")]


def test_a_question_weighs_each_term_once() -> None:
    assert bm25.query("hats, hat and HATS").values == (1.0,)


@given(st.text())
def test_every_text_has_valid_sparse_vectors(text: str) -> None:
    for sparse in (bm25.document(text, average=5), bm25.query(text)):
        assert len(sparse.indices) == len(sparse.values) == len(set(sparse.indices))
        assert all(0 <= index < 2**32 for index in sparse.indices)
        assert all(value > 0 for value in sparse.values)


def test_names_are_compared_without_case_number_and_marks() -> None:
    assert normal_form("#DAOs") == normal_form("dao") == normal_form("Daos")
    assert normal_form("Working-Groups") == normal_form("working group")
    assert normal_form("Policies") == normal_form("policy")


@given(st.text())
def test_the_normal_form_of_a_name_never_fails(name: str) -> None:
    assert normal_form(name) == normal_form(name)


def _parts(text: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    sparse = bm25.document(text, average=5)
    return sparse.indices, sparse.values
