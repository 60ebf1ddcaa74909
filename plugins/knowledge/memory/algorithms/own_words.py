"""What of a turn its speaker says: not what they quote, and not code that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plugins.knowledge.memory.algorithms.vocabulary import AUXILIARIES, VERBS
from plugins.knowledge.notes.fences import Fences, Line

HIDDEN = "_"
"""Stands in place of each character that somebody else said."""
_CITED = re.compile(r"\s*(?:[-*+] )?>")
_SPEECH = re.compile(
    r"(?<![\w\"])\"(?=\S)(?:[^\"\n]|\n(?![ \t]*\n))*\"?"
    r"|[\u201c\u201e](?:[^\u201c\u201d\n]|\n(?![ \t]*\n))*[\u201c\u201d]?"
    r"|\u00ab[^\u00bb\n]*\u00bb?"
    r"|(?<![\w`])`[^`\n]+`"
    r"|(?<!\w)'(?=\w)[^\n]{1,400}?(?<=[\w.,!?])'(?!\w)"
)
"""What stands between quotation marks; without the second one, the rest of the paragraph."""
_WORD = re.compile(r"[^\W\d_]+")
_SPEAKS = frozenset({"i", "we", "my", "our", "me", "us", "you", "let", *VERBS, *AUXILIARIES})
"""Words of sentences. Without one, what is quoted is a name or a value: the "Blue Door"."""
_ENDS = ".!?"


def own_words(text: str) -> str:
    """A text of the same length in which what its speaker does not say themselves is hidden.

    Fenced code and quoted lines become blank, and speech in quotation marks is made unreadable.
    Every sentence keeps its place, so that it can be shown as it was said.

    Args:
        text: a turn of a conversation.
    """
    plain = text.replace("\u2019", "'").replace("\u2018", "'")
    return _SPEECH.sub(_hidden, "".join(_own_lines(plain)))


def _own_lines(text: str) -> Iterator[str]:
    """Lines, blank where they are code or somebody else's."""
    fences = Fences()
    for line in text.splitlines(keepends=True):
        is_text = fences.read(line.rstrip()) is Line.TEXT
        yield line if is_text and _CITED.match(line) is None else _blank(line)


def _blank(line: str) -> str:
    return "".join("\n" if each in "\r\n" else " " for each in line)


def _hidden(quoted: re.Match[str]) -> str:
    """A quotation without its words, unless it is a name; where it ends a sentence stays seen."""
    said = quoted[0]
    if _SPEAKS.isdisjoint(each.lower() for each in _WORD.findall(said)):
        return said
    close = said[-1] if said[-1] in "\"'`\u201c\u201d\u00bb" and len(said) > 1 else ""
    inner = said[1 : len(said) - len(close)]
    end = inner[-1] if inner[-1:] and inner[-1] in _ENDS else ""
    return said[0] + HIDDEN * (len(inner) - len(end)) + end + close
