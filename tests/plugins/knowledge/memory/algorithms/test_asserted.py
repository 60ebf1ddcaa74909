import pytest

from plugins.knowledge.memory.algorithms.asserted import is_meant, is_open, states, takes_back


def meant(before: str, after: str = " to go.") -> bool:
    """Whether "we decided" is meant between these words."""
    sentence = f"{before}we decided{after}"
    return is_meant(sentence, len(before), len(before) + len("we decided"))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "No, ",
        "It is not late, so ",
        "Ben thinks it rains, but ",
        "As Ben said, ",
        "That said, ",
    ],
)
def test_what_governs_another_clause_leaves_one_as_it_is(before: str) -> None:
    assert meant(before)


@pytest.mark.parametrize(
    "before",
    ["Never have ", "It isn't so that ", "Ben thinks ", "I hope that ", "He told us: ", "Until "],
)
def test_what_governs_a_clause_takes_its_weight(before: str) -> None:
    assert not meant(before)


def test_who_says_it_may_be_told_behind_it() -> None:
    assert not meant("", " to go, Ben says.")
    assert not meant("", " to go, said Ben.")
    assert meant("", " to ask Ana, who says she has time.")
    assert meant("", " to go, and Ben says hello.")


def test_a_sentence_may_leave_itself_open_or_deny_itself() -> None:
    assert is_open("Maybe it is so.")
    assert is_open("It is so, but that is wrong.")
    assert not is_open("It is so.")
    assert not is_open("Members may have three guests.")


@pytest.mark.parametrize("sentence", ["Just kidding.", "No, I'm joking!", "That's a lie.", "Not!"])
def test_a_sentence_may_take_back_the_one_before_it(sentence: str) -> None:
    assert takes_back(sentence)


@pytest.mark.parametrize("sentence", ["", "Not all of it is new.", "That is fine.", "No."])
def test_another_sentence_takes_nothing_back(sentence: str) -> None:
    assert not takes_back(sentence)


def test_who_writes_something_else_than_a_sentence_reports_nothing() -> None:
    assert states("Ben writes the newsletter on Fridays.")
    assert not states("Ben writes that the shop is closed on Fridays.")
