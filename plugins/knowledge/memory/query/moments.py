"""What counts at a moment: which later entries have begun by then, and which answers held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.store.relations import Challenge

MAX_STEPS = 10
"""Corrections of corrections that are followed."""
ByTarget = Mapping[str, Sequence[Challenge]]
"""What is at odds with entries, by their ids."""


class DatedBack(NamedTuple):
    """What is at odds with entries, where corrections are as old as what they correct.

    Attributes:
        by_target: it, by the ids of the earlier ones.
        since: from when on each entry holds, by their ids.
    """

    by_target: ByTarget
    since: Mapping[str, datetime]


def has_begun(challenge: Challenge, moment: datetime) -> bool:
    """Whether a later entry says something of an earlier one then: it holds, or contests.

    What was decided of the earlier one stays so once the later one is over; what was only found
    was of a time that is over too.
    """
    if challenge.kind is Relation.CONTESTS:
        return True
    over = challenge.until is not None and challenge.until < moment
    return challenge.starts <= moment and not (over and challenge.kind.is_found)


def dated_back(found: Iterable[Scored], by_target: ByTarget) -> DatedBack:
    """Let corrections hold since what they correct does, unless they say themselves from when on.

    Args:
        found: answers.
        by_target: what is at odds with them, and with that in turn.
    """
    every = [each for some in by_target.values() for each in some]
    since = {each.entry: each.starts for each in every}
    since |= {one.id: one.validity.starts(one.written) for one in found}
    corrections = [each for each in every if each.kind is Relation.CORRECTS and not each.is_dated]
    for _ in range(MAX_STEPS):  # a chain of corrections is as old as its first entry
        for each in corrections:
            own = since[each.entry]
            since[each.entry] = min(own, since.get(each.target, own))
    dated = {
        target: [replace(each, starts=since[each.entry]) for each in some]
        for target, some in by_target.items()
    }
    return DatedBack(dated, since)


def since(one: Scored, starts: Mapping[str, datetime]) -> Scored:
    """An answer that holds from an earlier moment on than it says itself, where one is known."""
    begins = starts.get(one.id)
    if begins is None or begins >= one.validity.starts(one.written):
        return one
    validity = one.validity.model_copy(update={"valid_from": begins})
    return one.with_score(one.score, validity=validity)


def held_at(
    answers: Iterable[Scored], by_target: ByTarget, moment: datetime, now: datetime
) -> list[Scored]:
    """The answers that held at a moment: what is known to be wrong never did.

    Args:
        answers: all of them.
        by_target: what is at odds with them.
        moment: when.
        now: the time, until which corrections are known.
    """

    def ends(each: Challenge) -> bool:
        known = max(moment, now) if each.kind is Relation.CORRECTS else moment
        return each.kind.ends_the_other and each.starts <= known

    return [
        one
        for one in answers
        if one.validity.holds_at(moment, one.written)
        and not any(map(ends, by_target.get(one.id, ())))
    ]
