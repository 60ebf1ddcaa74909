import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.query.parts import MAX_PARTS, parts


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Where does Ana live? And what does she play?",
            ("Where does Ana live?", "And what does she play? Ana"),
        ),
        (
            "Who leads the choir of Ben and where does it meet?",
            ("Who leads the choir of Ben", "where does it meet? Ben"),
        ),
        ("What did Ana and Ben plant?", ()),
        ("Tea or coffee?", ()),
        ("We met Ana. Where does she live?", ()),
    ],
)
def test_a_question_for_several_things_has_parts(question: str, asked: tuple[str, ...]) -> None:
    assert parts(question) == asked


@given(st.text(max_size=200))
def test_any_text_has_few_parts(text: str) -> None:
    assert len(parts(text)) <= MAX_PARTS
