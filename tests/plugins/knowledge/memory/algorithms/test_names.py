"""The names in a question, and what is left of it without them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.names import MAX_NAMES, names_in, without_names


@pytest.mark.parametrize(
    ("question", "names", "rest"),
    [
        ("Where does Ana live?", ("Ana",), "Where does live?"),
        (
            "What is Ana\u2019s job, and who told Ben?",
            ("Ana", "Ben"),
            "What is job, and who told ?",
        ),
        ("Ana's flat: where is it?", ("Ana",), "flat: where is it?"),
        ("What did we plan? From whom is it?", (), "What did we plan? From whom is it?"),
        ("When on Monday do I meet Ana?", ("Ana",), "When on Monday do I meet ?"),
        ("Who is Ana?", ("Ana",), "Who is Ana?"),
        ("Wo wohnt Ana und was sagt der Wirt?", (), "Wo wohnt Ana und was sagt der Wirt?"),
        ("Where does Anna-Lena Wolf live?", ("Anna-Lena", "Wolf"), "Where does live?"),
        ("Where did kim_w grow up?", ("kim_w",), "Where did grow up?"),
        ("Where did @kim and Ana meet?", ("kim", "Ana"), "Where did and meet?"),
    ],
)
def test_a_question_is_read_with_and_without_its_names(
    question: str, names: tuple[str, ...], rest: str
) -> None:
    assert names_in(question) == names
    assert without_names(question, names) == rest


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    names = names_in(text)
    assert len(names) <= MAX_NAMES
    assert len(without_names(text, names)) <= len(text)
