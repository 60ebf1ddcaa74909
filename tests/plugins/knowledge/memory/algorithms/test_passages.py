"""A long entry is cut into passages that a model reads whole; nothing of it is lost."""

from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.passages import (
    LONGEST,
    MAX_PASSAGES,
    ONE_PASSAGE,
    passages,
)

TEXTS = st.text(st.sampled_from("ab .\n\u3002"), max_size=300).map(lambda each: each * 20)


@given(TEXTS)
def test_passages_follow_one_another_and_are_all_there_is(content: str) -> None:
    cut = passages(content)
    if len(cut) < MAX_PASSAGES:
        assert "".join(content[start:end] for start, end in cut) == content
    assert all(0 < end - start <= ONE_PASSAGE for start, end in cut if content)


def test_what_is_not_long_is_one_passage() -> None:
    assert passages("") == [(0, 0)]
    assert passages("a" * ONE_PASSAGE) == [(0, ONE_PASSAGE)]
    assert len(passages("a" * (ONE_PASSAGE + 1))) > 1


def test_an_entry_is_cut_between_paragraphs_before_sentences_and_words() -> None:
    line = "The gate is green. "
    content = line * 15 + "\n\n" + line * 60
    assert content[slice(*passages(content)[0])] == line * 15 + "\n\n"
    assert passages(line * 200)[0] == (0, LONGEST // len(line) * len(line))
    assert passages("gate " * 400)[0] == (0, LONGEST)


def test_a_script_without_spaces_is_cut_at_its_own_stops() -> None:
    content = "门是绿色的。" * 400
    assert all(content[start:end].endswith("。") for start, end in passages(content))
    assert passages("门" * 3_000)[0] == (0, LONGEST)


def test_of_what_is_endless_the_beginning_is_cut() -> None:
    assert len(passages("word " * 100_000)) == MAX_PASSAGES
