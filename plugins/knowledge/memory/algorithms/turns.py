"""Entries that are turns of a conversation, and what was found in them.

"Better than I feared" answers a question about the exam where the turn before it asked for the
exam. So a turn is worth a part of what its neighbours are worth beyond it; the one before counts
more, since answers follow questions. A turn that only asks is no answer: the next one has nearly
its place, unless that asks as well, and is shown with it.

Most of what people say to each other is short and tells nothing: "Oh nice!" is near to much. So a
long turn is worth more than a short one.

What was found in a turn has words of it: of the two, one is an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from plugins.knowledge.memory.algorithms.asking import MAX_CHARACTERS
from plugins.knowledge.memory.model.labels import voice_of
from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.record import Record

W_BEFORE = 0.4
"""The share added to a turn of how much higher the turn before it scores."""
W_AFTER = 0.2
"""The same of the turn after it."""
W_QUESTION = 0.9
"""The share of the score of a turn that only asks that the one behind it gets at least."""
W_LENGTH = 0.1
"""What a turn is worth more, as a cosine, for each time that it is e times as long as ..."""
USUAL_CHARACTERS = 54
"""... one that is worth neither more nor less, of the length of a short sentence."""
_NEARLY_ONE = 1.0 - 1e-9
MAX_PAUSE = timedelta(hours=6)
"""Between two turns of one conversation."""
MAX_SOURCES = 15
"""Turns, the best ones, whose neighbours are looked at."""
AS_MUCH = 0.8
"""The share of a turn's score from which on what was found in it answers in its place: below that
the question is about something else that the turn says."""


class ShortTurn(NamedTuple):
    """What a turn is like that is not long.

    Attributes:
        characters: how long it is, at most :data:`MAX_CHARACTERS`.
        asks: whether it only asks something.
    """

    characters: int
    asks: bool


def speaker(record: Record) -> str | None:
    """Who speaks in an entry, or None where it is no turn of a conversation."""
    return voice_of(record.content, record.metadata.author)


def follows(record: Record, before: Record | None) -> bool:
    """Whether an entry is the turn after another one, and soon after it, whoever says it.

    Args:
        record: the entry.
        before: the one that its owner wrote before it in that layer.
    """
    if before is None or (record.agent, record.source) != (before.agent, before.source):
        return False
    one, other = speaker(record), speaker(before)
    if one is None or other is None:
        return False
    return abs(record.created - before.created) <= MAX_PAUSE


def with_neighbours(
    ranked: Sequence[Scored],
    neighbours: Sequence[Scored],
    least: float,
    short: Mapping[int, ShortTurn],
) -> list[Scored]:
    """Turns with what their neighbours tell of them, in no order.

    Args:
        ranked: what was found.
        neighbours: the turns before and after the best of these; some of them among these.
        least: the score of a neighbour that was not found itself.
        short: those that are not long, by their numbers.
    """
    known = {one.number: one.with_score(least) for one in neighbours}
    known |= {one.number: _by_length(one, short.get(one.number)) for one in ranked}
    after = {one.follows: one for one in known.values() if one.follows is not None}
    asking = {number for number, turn in short.items() if turn.asks}
    found: dict[int, Scored] = {}
    for number, one in sorted(known.items()):  # a turn that asks is weighed before its answer
        before = known.get(one.follows or 0)
        more = _beyond(one, before, W_BEFORE) + _beyond(one, after.get(number), W_AFTER)
        found[number] = one.with_score(min(1.0, one.score + more)) if more else one
        if before is not None and before.number in asking and number not in asking:
            found[number] = _as_answer(found[number], found[before.number])
    return list(found.values())


def _as_answer(one: Scored, question: Scored) -> Scored:
    """The turn after one that asks, which answers as well as that fits."""
    fits = None
    if one.fit is not None or question.fit is not None:
        fits = max(one.fit or 0.0, question.fit or 0.0)
    worth = max(one.score, W_QUESTION * question.score)
    return one.with_score(worth, fit=fits, asked=question.id)


def _by_length(one: Scored, short: ShortTurn | None) -> Scored:
    """A turn with what its length tells of it; what follows none stays as it is."""
    if one.follows is None:
        return one
    characters = MAX_CHARACTERS if short is None else short.characters
    more = W_LENGTH * math.log((1 + characters) / (1 + USUAL_CHARACTERS))
    # Where what an entry is worth is summed up, before the sum is brought to 0 to 1.
    worth = math.tanh(math.atanh(min(one.score, _NEARLY_ONE)) + more)
    return one.with_score(max(0.0, worth))


def _beyond(one: Scored, neighbour: Scored | None, share: float) -> float:
    return 0.0 if neighbour is None else share * max(0.0, neighbour.score - one.score)


def best_numbers(ranked: Sequence[Scored]) -> Mapping[int, int | None]:
    """The best turns' numbers, each with that of the turn before it; empty where there is none."""
    if all(one.follows is None for one in ranked):
        return {}
    return {one.number: one.follows for one in ranked[:MAX_SOURCES]}


def is_found_in(one: Scored, other: Scored) -> bool:
    """Whether an entry was found in another one, and has words of it."""
    return one.taken_from is not None and one.taken_from == other.number


def without_repeats(ranked: Sequence[Scored]) -> list[Scored]:
    """Answers without turns beside what was found in them, or without that beside its turn.

    A turn that only asks is not among them where one that answers it is.

    Args:
        ranked: what was found, the best first; that order stays.
    """
    turns = {one.number: one for one in ranked if one.number}
    answered: set[int] = set()
    repeats = {one.asked for one in ranked if one.asked is not None}
    for one in ranked:
        turn = turns.get(one.taken_from or 0)
        if turn is None or turn.number in answered:
            continue
        if one.score < AS_MUCH * turn.score:
            repeats.add(one.id)
        else:
            answered.add(turn.number)
            repeats.add(turn.id)
    return [one for one in ranked if one.id not in repeats]
