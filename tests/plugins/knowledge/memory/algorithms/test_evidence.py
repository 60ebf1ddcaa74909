"""What speaks for it that a text tells a new value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.evidence import (
    evidence,
    is_of_another_kind,
    without_values,
)

OLD = "Tomas owns the backup script."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ana Weber lives in Oslo since May.", "somebody lives in somebody since a day"),
        ("The form is due on the 4th of June.", "The form is due on the a day of a day"),
        ("On 3 May we planted 20 beans.", "On a day we planted a number beans"),
        ("The pool opens at 10:30.", "The pool opens at a time"),
        ("The sprint lasts two weeks.", "The sprint lasts a number weeks"),
        ("Ebba reviews the guide.", "somebody reviews the guide"),
        ("Luis reviews it in the Black Forest.", "somebody reviews it in the somebody"),
        ("Roses are in bed 4.", "Roses are in bed a number"),
    ],
)
def test_each_value_becomes_a_word_for_its_kind(text: str, left: str) -> None:
    assert without_values(text) == left


@pytest.mark.parametrize(
    ("old", "new", "apart"),
    [
        ("The exam takes place on 12 March.", "The exam takes place in room 8.", True),
        ("The job starts at 23:00.", "The job takes 40 minutes.", True),
        ("The import runs at 02:30.", "The import writes to the second disk.", True),
        ("The exam takes place on 12 March.", "The exam takes place on Monday.", False),
        ("The board meets at seven.", "The board meets at 20:30.", False),
        ("The exam takes place in room 8.", "The exam takes place in the gym.", False),
        ("The wait is 30 seconds.", "The wait is 2 minutes.", False),
        ("The dose is 30 ml.", "The dose is 2.", False),
    ],
)
def test_values_are_of_a_kind_by_what_they_tell(old: str, new: str, apart: bool) -> None:
    assert is_of_another_kind(new, old) is apart
    assert is_of_another_kind(old, new) is apart


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("Luis owns the backup script now.", "Luis owns the backup script."),
        ("The backup script went from Tomas to Luis.", "The backup script went to Luis."),
        ("Luis owns the backup script.", "A team owns the backup script."),
    ],
)
def test_what_speaks_for_a_change_adds_up(more: str, less: str) -> None:
    assert evidence(more, OLD, 0.6, 0.6) > evidence(less, OLD, 0.6, 0.6)


@given(st.text(max_size=200), st.text(max_size=200), st.floats(0, 1), st.floats(0, 0.9))
def test_nearer_texts_speak_more_for_a_change(
    new: str, old: str, cosine: float, without: float
) -> None:
    told = evidence(new, old, cosine, without)
    assert evidence(new, old, cosine, without + 0.1) > told
    assert evidence(new, old, cosine + 0.1, without) > told
