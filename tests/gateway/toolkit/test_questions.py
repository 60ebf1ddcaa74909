"""What is asked of a search is some words, and not too many."""

import pytest

from gateway.contract import ToolFailed
from gateway.toolkit.questions import checked_question


def test_a_question_loses_the_spaces_around_it() -> None:
    assert checked_question("  who may use what\n", 20) == "who may use what"
    assert checked_question("x" * 20, 20) == "x" * 20


@pytest.mark.parametrize(
    ("question", "says"),
    [("", "is empty"), (" \n\t", "is empty"), ("x" * 21, "has 21 characters; 20 is the limit")],
)
def test_what_is_no_question_is_refused_with_the_reason(question: str, says: str) -> None:
    with pytest.raises(ToolFailed, match=says) as refused:
        checked_question(question, 20)
    assert refused.value.code == "invalid_query"
