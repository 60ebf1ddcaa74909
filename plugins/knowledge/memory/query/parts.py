"""The parts of a question that asks for several things, each of which another entry answers.

What is asked of a time is one too: asked without the time, of what happened then. What is asked of
what was written in a time may be asked of what happened then, too: a conversation of March that is
kept in May was said in March.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from plugins.knowledge.memory.algorithms.names import QUESTION, names_in
from plugins.knowledge.memory.model.query_context import Question
from plugins.knowledge.retrieval.asked_times import asked_time

MAX_PARTS = 3
"""Parts up to which a question is asked in parts; one of more is asked whole alone."""
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""Moments before and after all that is told, in any zone."""
MIN_WORDS = 3
"""Words of a part; shorter ones ask for nothing by themselves."""
_BETWEEN = re.compile(
    r"(?<=[?!.;])\s+|,?\s+(?:and|or)\s+(?=(?:what|which|who|whom|whose|where|when|why|how)\b)", re.I
)


def parts(question: str) -> tuple[str, ...]:
    """The parts of a question, each with the names of all; none where it asks for one thing.

    Args:
        question: as it was asked.
    """
    found = [each.strip() for each in _BETWEEN.split(question) if each.strip()]
    asking = [each for each in found if QUESTION.search(each) and len(each.split()) >= MIN_WORDS]
    if len(asking) < 2 or len(asking) > MAX_PARTS:
        return ()
    names = names_in(question)
    return tuple(" ".join([each, *(name for name in names if name not in each)]) for each in asking)


def questions_in(question: Question, now: datetime) -> list[Question]:
    """The questions that a question is asked as beside itself, each still without its vector.

    Args:
        question: as it was asked.
        now: the time.
    """
    found = [replace(question, text=part) for part in parts(question.text)]
    narrowed, time = question.entry_filter, asked_time(question.text, now)
    if time and time.rest and (narrowed.after, narrowed.before, narrowed.as_of) == (None,) * 3:
        then = replace(narrowed, happened=(time.begins, time.ends))
        found.append(replace(question, text=time.rest, entry_filter=then))
    if narrowed.or_happened and (narrowed.after or narrowed.before):
        span = (narrowed.after or _FIRST, narrowed.before or _LAST)
        then = replace(narrowed, after=None, before=None, happened=span)
        found.append(replace(question, entry_filter=then))
    return found
