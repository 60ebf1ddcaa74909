"""What a text names: people, places, organisations, programs and tickets, as its writing shows.

Rules, and no model: words with capitals, what stands between backticks, and what is written as
programs, machines and tickets are. Two entries that name one rare thing belong together, although
neither says what the other does: "Mill Street is closed in May" answers when the flour comes again
where another entry says that Mill Street delivers it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from gateway.toolkit.languages import language_of
from gateway.toolkit.words import STOP_WORDS, terms
from plugins.knowledge.memory.algorithms.extraction import Kind
from plugins.knowledge.memory.algorithms.vocabulary import (
    AUXILIARIES,
    KINDS,
    NEGATIONS,
    PREPOSITIONS,
    VERBS,
)

MAX_ENTITIES = 24
"""Of one text."""
MAX_READ = 4_000
"""Characters of a text that are read for them."""
MAX_CHARACTERS = 80
"""Of one; what is longer names nothing."""
MAX_SHARED = 12
"""Entries that name a thing, from which on it is too common to lead anywhere."""

MAX_WORDS = 3
"""Words of a name that is looked for without its capitals."""
MAX_CANDIDATES = 200
"""Of those, in one text."""
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_IDENTIFIER = re.compile(
    r"(?<![\w@#./-])(?:[@#]?\w+(?:[_./:-]\w+)+(?:\(\))?|\w+\(\)|[@#]\w{2,}|[A-Za-z]+\d\w*)(?![\w-])"
)
"""What looks as identifiers, tickets, hosts and paths do; what is one is said by its parts."""
_CODE_LIKE = re.compile(r"[_@#\d(]|[a-z][A-Z]|\.[a-z]{1,4}(?:\(\))?$|://")
_LETTER = re.compile(r"[^\W\d_]")
_CAPITALS = "".join(c for c in map(chr, range(0x80, 0x10000)) if c.isupper() or c.istitle())
"""Letters that are capitals beside the ones from A to Z: scripts without case have none."""
_WORD = rf"(?<!\w)[A-Z{_CAPITALS}][\w'\u2019-]*"
_BETWEEN = r"(?:(?:of|van|von|de|da|del|der|the) ){0,2}"
_CAPITALISED = re.compile(f"{_WORD}(?: {_BETWEEN}{_WORD})*")
_PLAIN_WORD = rf"[^\W\d_A-Z{_CAPITALS}][\w'\u2019-]*"
_IN_LOWER_CASE = re.compile(rf"(?<![\w'\u2019-]){_PLAIN_WORD}(?: {_PLAIN_WORD})*")
_BEGINS = re.compile(r"(?:^|[.?!;:\n]\s*|[-*\u2022]\s+)$")
_GIVEN = re.compile(rf"{'|'.join(Kind)}|found-by-.*")
"""Tags that the portal gives what it finds in conversations: of what kind that is, and who found
it."""
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_FOLLOWS = re.compile(r" ([a-z]+)")
_TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "mister", "dr", "doctor", "prof", "professor", "st", "saint"}
)


def entities_in(text: str, tags: Iterable[str] = ()) -> frozenset[str]:
    """What a text names, each without its case.

    Args:
        text: an entry's.
        tags: the entry's, which name something by being there.
    """
    text = text[:MAX_READ]
    own = (tag for tag in tags if not _GIVEN.fullmatch(tag))
    found: dict[str, None] = {}
    for name in (*own, *_programs(text), *_names(text)):
        key = " ".join(name.casefold().split())
        if 2 <= len(key) <= MAX_CHARACTERS:
            found[key] = None
        if len(found) == MAX_ENTITIES:
            break
    return frozenset(found)


def maybe_named_in(text: str) -> frozenset[str]:
    """Words of a text, and what they are together, that may name something without a capital.

    "ask maria about the mill street lease" names those of them that other texts write with one.

    Args:
        text: an entry's.
    """
    found: dict[str, None] = {}
    for run in _IN_LOWER_CASE.finditer(text[:MAX_READ]):
        words = [_POSSESSIVE.sub("", word) for word in run[0].split()]
        for size in range(MAX_WORDS, 0, -1):
            for at in range(len(words) - size + 1):
                some = words[at : at + size]
                if len(some[0]) > 2 and not (_is_plain(some[0]) or _is_plain(some[-1])):
                    found[" ".join(some)] = None
    return frozenset(list(found)[:MAX_CANDIDATES])


def rarity(entries: int) -> float:
    """How much it tells that two entries share what so many name, 0 to 1.

    Args:
        entries: how many name it, at least two.
    """
    return 0.0 if entries > MAX_SHARED else 1.0 / math.log2(max(2, entries))


def _programs(text: str) -> Iterator[str]:
    yield from (match[1] for match in _QUOTED.finditer(text))
    for match in _IDENTIFIER.finditer(text):
        said = match[0].rstrip(".:/-")
        if _CODE_LIKE.search(said) and (said[0] == "#" or _LETTER.search(said)):
            yield said


def _names(text: str) -> Iterator[str]:
    """Names as they are written, and their single words: "Ruth Adler" is Ruth, and Adler."""
    german = language_of(text) == "de"
    for match in _CAPITALISED.finditer(text):
        begins = _BEGINS.search(text[: match.start()]) is not None
        said = _trimmed([_POSSESSIVE.sub("", word) for word in match[0].split()])
        if german and not text.startswith(":", match.end()):
            said = _named_in_german(said, begins=begins)
        after = text[match.end() :]
        if not said or (begins and len(said) == 1 and not _is_name_at_beginning(said[0], after)):
            continue
        yield " ".join(said)
        if len(said) > 1:
            yield from (word for word in said if len(word) > 2 and not _is_plain(word))


def _named_in_german(words: list[str], *, begins: bool) -> list[str]:
    """A name in a language whose nouns all have capitals: two words at least are one.

    Before a colon, where a speaker stands, one is enough; at the beginning any word has a capital.
    """
    words = words[1:] if begins else words
    return words if len(words) > 1 else []


def _trimmed(words: list[str]) -> list[str]:
    """A name without the plain words before and behind it: "The Harvest Fund", "I"."""
    while words and _is_plain(words[0]) and words[0].casefold() not in _TITLES:
        words = words[1:]
    while words and _is_plain(words[-1]):
        words = words[:-1]
    return words


def _is_name_at_beginning(word: str, after: str) -> bool:
    """Whether the first word of a sentence may be a name: it has a capital in any case.

    "Deployed version 2" tells what was done, and "Ahmed lives here" of whom.
    """
    if len(word) <= 2 or word.casefold().endswith(("ing", "ly")):
        return False
    if not word.casefold().endswith("ed"):
        return True
    follows = _FOLLOWS.match(after)
    return follows is None or follows[1] in VERBS or follows[1] in AUXILIARIES


def _is_plain(word: str) -> bool:
    lowered = word.casefold()
    if len(lowered) < 2 or lowered in STOP_WORDS or lowered in PREPOSITIONS or lowered in _TITLES:
        return True
    if lowered in VERBS or lowered in AUXILIARIES or lowered in NEGATIONS:
        return True
    return any(term in KINDS for term in terms(lowered))
