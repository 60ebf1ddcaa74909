"""What in a tool's definition is written for models and hidden from people.

A definition is read by the member's model as if the member had written it. Characters that no
screen shows, and orders that have nothing to do with the tool, are the two ways in which servers
have been seen to use that (tool poisoning).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

_BIDIRECTIONAL = frozenset(
    map(chr, (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)
_FILLERS = (0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x3164, 0xFEFF, 0xFFA0)
_INVISIBLE = frozenset(map(chr, (*_FILLERS, *range(0x2060, 0x2065))))
_JOINER, _VARIANT = "\u200d", "\ufe0f"
_PLAIN_CONTROLS = frozenset("\n\r\t")

_ORDERS = {
    "tells the model to ignore other instructions": re.compile(
        r"\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|other|earlier|all|"
        r"system)\b.{0,30}\b(instruction|prompt|rule|message)s?\b",
        re.I | re.S,
    ),
    "tells the model to keep something from the user": re.compile(
        r"\b(do not|don't|never|without)\b.{0,20}\b(tell|mention|inform|reveal|show|notify|telling|"
        r"mentioning|informing)\b.{0,40}\b(user|human|person|anyone)\b",
        re.I | re.S,
    ),
    "has a block in tags that only a model reads": re.compile(
        r"<\s*(important|system|secret|hidden|instructions?|assistant)\b[^>]*>", re.I
    ),
    "has a comment that no page shows": re.compile(r"<!--.*?-->", re.S),
    "asks for files that hold credentials": re.compile(
        r"(~|\$HOME|/home/\w+|/root)?/?\.(ssh|aws|netrc|npmrc|pypirc|docker|kube|cursor)\b|\bid_rsa\b|"
        r"\bmcp\.json\b",
        re.I,
    ),
}


def suspicions(definition: Any) -> list[str]:
    """What an admin should look at in a tool's definition, each in a few words; mostly nothing.

    Args:
        definition: a tool's entry; every text in it is looked at, names of arguments included.
    """
    found: dict[str, None] = {}
    for text in _texts(definition):
        for what in (*_hidden(text), *_ordering(text)):
            found.setdefault(what)
    return list(found)


def _texts(value: Any) -> Iterator[str]:
    todo = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            todo += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            todo += each


def _hidden(text: str) -> Iterator[str]:
    if text.isascii() and text.isprintable():
        return
    if _BIDIRECTIONAL.intersection(text):
        yield "has characters that turn the direction of writing"
    if any(_is_invisible(text, place) for place in range(len(text))):
        yield "has characters that no screen shows"


def _is_invisible(text: str, place: int) -> bool:
    character = text[place]
    if character in _INVISIBLE or 0xE0000 <= ord(character) <= 0xE0FFF:  # tags, more variants
        return not _is_flag(text, place)
    if character in (_JOINER, _VARIANT):  # they belong to pictures
        return place == 0 or unicodedata.category(text[place - 1])[0] not in "SLMN"
    return unicodedata.category(character) == "Cc" and character not in _PLAIN_CONTROLS


def _is_flag(text: str, place: int) -> bool:
    """Whether a tag character is part of a flag, such as that of Wales: it follows a black one."""
    while place and 0xE0020 <= ord(text[place]) <= 0xE007F:
        place -= 1
    return text[place] == "\N{WAVING BLACK FLAG}"


def _ordering(text: str) -> Iterator[str]:
    for what, pattern in _ORDERS.items():
        if pattern.search(text):
            yield what
