"""Whether two claims speak of one thing.

Entries that are written down name what they are about. What people say to each other mostly does
not: "Morning!", "I think so too" and "That was a great day" are near to each other, by one person,
and about nothing that a later one could say anew.
"""

from __future__ import annotations

from plugins.knowledge.memory.algorithms.claims import SELF, US, Claim
from plugins.knowledge.memory.algorithms.vocabulary import FILLERS

ON_TOPIC = 0.3
"""The share of the terms of the shorter of two sentences of a conversation that both have, from
which on they are on one topic."""
PLAIN_VERBS = frozenset({"", "be", "have", "go", "know", "need"})
"""Groups of verbs that tell nothing of what is spoken of."""


def topic(new: Claim, old: Claim) -> frozenset[str]:
    """The terms of things that both claims speak of, whoever says it.

    Args:
        new: the later claim.
        old: the earlier one.
    """
    return _things(new) & _things(old)


def on_one_topic(new: Claim, old: Claim) -> bool:
    """Whether both claims speak of one thing, or by one verb that tells what they speak of.

    Args:
        new: the later claim.
        old: the earlier one.
    """
    if new.verb == old.verb and new.verb not in PLAIN_VERBS:
        return True
    shared = topic(new, old)
    shorter = min(len(_said(new)), len(_said(old)))
    return bool(shared) and (not new.voice or len(shared) >= ON_TOPIC * shorter)


def _things(claim: Claim) -> frozenset[str]:
    return _said(claim) - FILLERS


def _said(claim: Claim) -> frozenset[str]:
    return claim.terms - {SELF, US} - claim.voice
