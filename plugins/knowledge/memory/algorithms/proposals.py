"""Whether "let's" settles something: "let's use PostgreSQL", and not "let's use our heads".

By rules the two are told apart only by what is named. So a proposal counts where it names
something concrete: a name, an identifier, a number with what it counts, a day or a time. That costs
those that name a plain thing ("let's use the old shed"), which stay in their turns. The other way
round, each "let's take a break" would be kept as a decision.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gateway.toolkit.words import STOP_WORDS, stem
from plugins.knowledge.memory.algorithms.vocabulary import KINDS, PREPOSITIONS, TIMES

_EMPTY = re.compile(
    r"\s*(?:this|that|it|so|our best|the best|what|whatever|something|(?:\w+[ -]){0,4}?"
    r"(?:look|break|rest|pause|walk|ride|swim|nap|moment|minutes?|seconds?|breath|step|guess|seat"
    r"|photo|picture|selfie|shot|chance|turns?|heads?|brains?|time|drink|bite|quick one))\b",
    re.IGNORECASE,
)
"""What passes, or names nothing, as the object."""
_ADDRESSED = re.compile(r"\s*,\s*(?:[A-Z]\w*|\w+)(?: [A-Z]\w*)?\s*[.!]*$")
"""Who is spoken to: "let's do it, Ana"."""
_WORD = re.compile(r"`[^`]+`|[^\W_][\w.+#:/@'-]*")
_CODE = re.compile(r"`|\w[._/@:#]\w|\w_\w|[a-z][A-Z]|[A-Za-z]\d|[+#]$")
"""What looks like an identifier: `main`, a.b, a_b, aB, a1, C++."""
_PLACE = re.compile(r"\b(?:at|in|on) (?:the |our |my )?(\w+)", re.IGNORECASE)
_SETS_A_TIME = frozenset({"move", "postpone", "reschedule", "shift", "push"})
"""What settles something where it says when: "let's move the party to Friday"."""
_TO = re.compile(r"\b(?:to|until|till)\b", re.IGNORECASE)
_VAGUE = frozenset({"one", "first", "once", "second", "third", "half", "twice"})
_ENDS_OBJECT = (PREPOSITIONS - {"of"}) | {"with", "to", "and", "because", "so", "when"}


def names_something(does: str, rest: str) -> bool:
    """Whether a proposal names something concrete.

    Args:
        does: what is to be done with it: use, take, meet, do, go with, move, postpone.
        rest: what follows that verb.
    """
    rest = _ADDRESSED.sub("", rest)
    words = _words(rest)
    if does.lower() in _SETS_A_TIME:
        return any(_is_dated(_words(after)) for after in _TO.split(rest, maxsplit=1)[1:])
    if does.lower() == "meet":
        return _is_dated(words) or any(map(_is_named, words)) or _names_a_place(rest)
    if _EMPTY.match(rest):
        return False
    thing = _object(words)
    return any(map(_is_named, thing)) or _is_dated(words)


def _words(text: str) -> list[str]:
    return [each.strip(".'") or each for each in _WORD.findall(text)]


def _object(words: list[str]) -> list[str]:
    """The words up to the first that says where, when, for what or why."""
    ends = (at for at, word in enumerate(words) if word.lower() in _ENDS_OBJECT)
    return words[: next(ends, len(words))]


def _is_named(word: str) -> bool:
    """Whether a word is a name, an identifier, a colour or a number in digits."""
    if _CODE.search(word) or word[0].isdigit():
        return True
    is_name = word[0].isupper() and word != "I" and not word.startswith("I'")
    return is_name or KINDS.get(stem(word.lower())) == "colour"


def _is_dated(words: list[str]) -> bool:
    """Whether a day, a month, a time or a number of things is among words."""
    kinds = [KINDS.get(stem(word.lower())) for word in words]
    named = zip(kinds, words, strict=True)
    if any(kind in ("day", "month") and word[0].isupper() for kind, word in named):
        return True
    return any(word[0].isdigit() for word in words) or any(
        kind == "number" and word.lower() not in _VAGUE and after.lower() not in STOP_WORDS
        for kind, (word, after) in zip(kinds, pairwise(words), strict=False)
    )


def _names_a_place(rest: str) -> bool:
    """Whether a meeting is said to be somewhere: "at the library"."""
    return any(
        place.lower() not in STOP_WORDS | TIMES | {"time", "point", "case", "person", "touch"}
        for place in _PLACE.findall(rest)
    )
