"""Text that somebody else chose, with what the eye does not see made visible.

Bidirectional controls can show words in another order than they stand in (CVE-2021-42574), and
characters without a width can hide between others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_SEEN = frozenset("\n\t ")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and marks that are drawn as nothing: Hangul's fillers, Braille's blank, and joiners."""


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """A text in pieces, each with whether it is the name of a character that cannot be seen."""
    plain = ""
    for character in text:
        if is_seen(character):
            plain += character
            continue
        if plain:
            yield plain, False
            plain = ""
        yield f"[U+{ord(character):04X}]", True
    if plain:
        yield plain, False


def visible(text: str) -> str:
    """A text with the names of the characters that cannot be seen, such as ``[U+202E]``."""
    return "".join(piece for piece, _ in pieces(text))


def is_seen(character: str) -> bool:
    """Whether a character is drawn as itself, or is a space or the end of a line."""
    if character in _SEEN:
        return True
    if character in _BLANK or "\ufe00" <= character <= "\ufe0f" or character >= "\U000e0000":
        return False
    return unicodedata.category(character) not in _UNSEEN
