"""What is asked of a search is some words, and not too many."""

import pytest

from gateway.contract import ToolFailed
from gateway.toolkit.questions import MAX_QUESTION_CHARACTERS, checked_question

LONGEST = "x" * MAX_QUESTION_CHARACTERS


def test_a_question_loses_the_spaces_around_it() -> None:
    assert checked_question("  who may use what\n") == "who may use what"
    assert checked_question(LONGEST) == LONGEST


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        (f"{LONGEST}x", "2001 characters; 2000 is the limit"),
    ],
)
def test_what_is_no_question_is_refused_with_the_reason(question: str, says: str) -> None:
    with pytest.raises(ToolFailed, match=says) as refused:
        checked_question(question)
    assert refused.value.code == "invalid_query"
