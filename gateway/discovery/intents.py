"""What a question wants done, and what a tool does: verbs that come to the same, as one intent.

A person asks to get rid of something, and the tool is called ``delete_thing``; and of two tools
about one thing a model for meanings tells hardly apart that the one makes it and the other ends it.
"""

from __future__ import annotations

from gateway.toolkit.words import stem, words

_VERBS = {
    "create": "create make new add start begin open compose write draft file insert generate build "
    "set up register schedule save put",
    "delete": "delete remove erase wipe drop clear forget destroy discard rid uninstall cancel",
    "update": "update change edit modify set replace alter patch rename adjust",
    "get": "get show read view see fetch retrieve look open display explain describe what who when "
    "where how",
    "list": "list show which what all browse",
    "search": "search find look query seek filter locate",
    "send": "send post tell notify mail message share publish forward",
    "move": "move transfer relocate put",
    "copy": "copy duplicate clone fork",
    "run": "run execute start launch evaluate call",
    "stop": "stop end kill cancel terminate close abort",
}
_INTENTS: dict[str, frozenset[str]] = {
    stem(verb): frozenset(intent for intent, verbs in _VERBS.items() if verb in verbs.split())
    for verbs in _VERBS.values()
    for verb in verbs.split()
}

Intents = frozenset[str]
_NONE: Intents = frozenset()


def intents_of(text: str) -> Intents:
    """The intents that the words of a question, or of a name, speak of; mostly one or two."""
    return _NONE.union(*(_INTENTS.get(stem(word), _NONE) for word in words(text)))


def agreement(asked: Intents, does: Intents) -> int:
    """1 where a tool does what is asked for, -1 where it does something else, 0 if nobody knows."""
    if not asked or not does:
        return 0
    return -1 if asked.isdisjoint(does) else 1
