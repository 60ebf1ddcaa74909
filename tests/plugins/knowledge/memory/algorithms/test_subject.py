"""What a question is about, apart from what it asks of that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.subject import subject_of


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is the password for the guest wifi?", "guest wifi"),
        ("What dose does Malik take?", "Malik"),
        ("At which place do we hold the flea market?", "flea market"),
        ("What is Hamid's number?", "Hamid"),
        ("Who looks after the pond?", "pond"),
        ("Where does Ana live?", "Ana"),
        ("Where is the website deployed?", "website"),
        ("When does the choir rehearse?", "choir"),
        ("What does one pay for a locker?", "one locker"),
        ("How does that work with the lunch box?", "lunch box"),
        ("Is the lunch box here?", "lunch box"),
        ("What is the code of the tool shed?", "tool shed"),
        ("Is the raised bed watered on Sundays?", "raised bed sundays"),
        ("Where are the seed trays stored?", "seed trays"),
        ("When do volunteers paint the garden shed?", "volunteers paint garden shed"),
        ("Is Alfred here?", "Alfred"),
        ("How many people are in the choir?", "choir"),
    ],
)
def test_a_question_is_about_what_it_names_and_not_what_it_asks_of_it(
    question: str, subject: str
) -> None:
    assert terms(subject_of(question)) == terms(subject)


@given(st.text(max_size=200))
def test_no_question_is_about_words_that_it_does_not_have(text: str) -> None:
    assert len(subject_of(text)) <= len(text) + len(text.split()) + 1
