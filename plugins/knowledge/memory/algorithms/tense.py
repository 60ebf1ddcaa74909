"""Whether a sentence announces what is to come, or says how it is now.

Both may hold at once: an office that moves to Berlin in May is in Hamburg until then. Only plain
cases are known: a verb of change with a time, or "will"; and "now" that stands with no other word
of change and no time: "The workshop is on Monday now" is another time for what was announced.
"""

from __future__ import annotations

import re

from plugins.knowledge.memory.algorithms.vocabulary import CUE

_MONTHS = (
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|spring|summer|autumn|winter|20\d\d"
)
_DAYS = r"monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_PLACED = (
    rf"(?:in|on|from|by|as of|starting|until) (?:the )?(?:early |late |mid-?|end of )?"
    rf"(?:(?:\d\d?(?:[a-z]{2})?(?: of)? )?(?:{_MONTHS})|{_DAYS})"
)
_TIME = re.compile(
    rf"\b(?:tomorrow|soon|next (?:week|month|year|term|{_MONTHS}|{_DAYS})|{_PLACED}"
    r"|in (?:an?|\d+|two|three|four|five|six|some|a few) (?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)
_WILL = re.compile(r"\b(?:will|shall|going to|about to|plans to)\b|'ll\b")
_BASE = re.compile(r"\b(?:change|move|switch|close|become|leave|replace|rise|fall)\b")
_CHANGES = re.compile(
    r"\b(?:chang|mov|becom|leav|ris|replac|expir)(?:es|ing)\b"
    r"|\b(?:closes|closing|(?:switch|open|start|begin|end|fall|join)(?:e?s|n?ing))\b"
)
_NOW = re.compile(
    r"\b(?:(?<!from )now|currently|at present|at the moment|for now|today|these days|still"
    r"|so far)\b",
    re.IGNORECASE,
)


def is_coming(sentence: str) -> bool:
    """Whether a sentence announces something: "moves in May", "will change".

    Args:
        sentence: one sentence of an entry.
    """
    has_time = _TIME.search(sentence) is not None
    if _WILL.search(sentence):
        return has_time or _BASE.search(sentence) is not None
    return has_time and _CHANGES.search(sentence) is not None


def is_present(sentence: str) -> bool:
    """Whether a sentence says how it is now, and of no change: "is in Hamburg now".

    Args:
        sentence: one sentence of an entry.
    """
    rest, found = _NOW.subn("", sentence)
    return bool(found) and not any(each.search(rest) for each in (CUE, _WILL, _TIME))
