"""Answers that questions of a conversation got, and what was said of the same thing since.

"4411" answers "What is the door code?" as well as any sentence may, however old it is: it has no
word that what is said later of the door code could be compared with as it is written. So of what
is found with it, what is later, has the words of that question, and says a value or a change, goes
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from plugins.knowledge.memory.algorithms.claims import claims
from plugins.knowledge.memory.algorithms.names import names_in
from plugins.knowledge.memory.algorithms.subject import without_verbs
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import Question, Scored
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.relations import Challenge
from plugins.knowledge.memory.store.words import term_ids

AMONG = 10
"""Answers, the best ones, that are looked at."""


async def said_since(
    reads: Reads, found: Sequence[Scored], question: Question
) -> Mapping[str, Sequence[Challenge]]:
    """What is newer than answers that are found by the question before them, by their ids.

    Args:
        reads: the entries.
        found: the answers, the best first.
        question: who asks, and what.
    """
    best = found[:AMONG]
    answers = [one for one in best if one.asked is not None]
    if not answers or len(best) < 2:
        return {}
    turns = [id for id in (one.asked for one in best) if id is not None]
    records = await reads.read([*turns, *(one.id for one in best)], question.keys)
    asked = frozenset(term_ids(without_verbs(question.text)))
    names = frozenset(term_ids(" ".join(names_in(question.text))))
    words = {id: asked.intersection(term_ids(each.text)) for id, each in records.items()}
    later: dict[str, list[Challenge]] = {}
    for one in answers:
        about = words.get(one.asked or "", frozenset())
        later[one.id] = [
            _newer(other, one, records[other.id].layer)
            for other in best
            if other.id in records
            and about - names
            and _said_at(other) > _said_at(one)
            and about <= words[other.id] | words.get(other.asked or "", frozenset())
            and (other.asked is not None or _says_something(records[other.id].content))
        ]
    return {id: some for id, some in later.items() if some}


def _said_at(one: Scored) -> datetime:
    return one.validity.event_at or one.written


def _says_something(content: str) -> bool:
    return any(each.cue or each.values for each in claims(content))


def _newer(one: Scored, older: Scored, layer: Layer) -> Challenge:
    return Challenge(
        entry=one.id,
        target=older.id,
        kind=Relation.IS_NEWER,
        layer=layer,
        starts=one.written,
        changed=one.changed,
        challenged=one.challenged,
    )
