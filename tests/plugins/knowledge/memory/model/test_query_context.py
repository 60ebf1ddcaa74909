"""A question, as layers get it."""

from dataclasses import replace

import numpy as np

from plugins.knowledge.memory.model.query_context import Question
from plugins.knowledge.memory.model.requests import Mode

WHOLE, FOCUS = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def test_entries_are_compared_with_less_of_the_names_where_a_question_has_any() -> None:
    question = Question("What does Kim play?", Mode.HYBRID, frozenset(), None, 10, vector=WHOLE)
    assert question.meaning is WHOLE
    assert replace(question, focus=FOCUS).meaning is FOCUS
    assert replace(question, vector=None).meaning is None
