import pytest

from plugins.knowledge.memory.algorithms.proposals import names_something


@pytest.mark.parametrize(
    ("does", "rest"),
    [
        ("use", " PostgreSQL."),
        ("use", " snake_case for the fields."),
        ("use", " `main`."),
        ("go with", " the blue one."),
        ("go with", " version 2."),
        ("take", " three pumps."),
        ("do", " the release on Friday."),
        ("meet", " at the library."),
        ("Meet", " Ana."),
        ("meet", " on Monday."),
        ("move", " the festival to 10 October."),
        ("postpone", " it until Friday, Ana."),
    ],
)
def test_a_proposal_that_names_something_settles_it(does: str, rest: str) -> None:
    assert names_something(does, rest)


@pytest.mark.parametrize(
    ("does", "rest"),
    [
        ("use", " common sense."),
        ("use", " our heads for Ana."),
        ("go with", " the flow."),
        ("take", " five."),
        ("take", " a short break on Friday."),
        ("take", " a photo of Ana."),
        ("do", " this, Ben!"),
        ("do", " what Ben says."),
        ("do", " the dishes."),
        ("meet", " in person."),
        ("meet", " soon, Ana."),
        ("meet", " at some point."),
        ("meet", " in the evening."),
        ("do", ""),
        ("move", " on."),
        ("move", " to Berlin."),
        ("move", " the 3 tables to the hall."),
        ("push", " it to next week."),
    ],
)
def test_a_proposal_that_passes_or_names_nothing_does_not(does: str, rest: str) -> None:
    assert not names_something(does, rest)
