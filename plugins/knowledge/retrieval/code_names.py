"""Names out of code that a question has: ``--bail``, ``jest.mock()``, ``NODE_ENV``, ``E501``.

Who asks for an option, a function or an error code wants the place that describes it, and a model
knows little of such names. A page of reference has a heading for each, so what has the name for a
heading counts most, and its passage is shown.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from gateway.contract import Hit
from gateway.toolkit.words import STOP_WORDS

MAX_NAMES = 5
"""The names of a question that are looked for."""
_MAX_QUESTION = 500
"""The first characters of a question, in which names are."""
_TOKEN = re.compile(
    r"`(?P<quoted>[^`\s]{2,60})`|(?<![^\s(\[\"',:=/])(?P<bare>[\w@$.-][\w@/$.-]{1,60})(?P<call>\(\))?"
)
_SHAPES = re.compile(
    r"--?[a-zA-Z](?:[\w.-]*\w)?"  # --flag, -D
    r"|[a-zA-Z]\w*_\w+"  # snake_case, ENV_VARIABLE
    r"|[a-z][a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*"  # camelCase, PascalCase
    r"|\.[a-zA-Z]\w+|[a-zA-Z_$][\w$-]*(?:\.[a-zA-Z_$][\w$-]*)*\.[a-zA-Z_$][\w$-]+"  # .method, a.b
    r"|[A-Z]{1,6}-?\d{2,6}"  # E501, TS2304
    r"|@[\w-]+/[\w.-]+"  # a package
)
_KIND = (
    "argument|attribute|class|command|component|directive|endpoint|field|filter|flag|function|helper"
    "|hook|key|keyword|macro|matcher|method|option|param|parameter|property|prop|rule|setting"
    "|shortcode|variable"
)
_WORD = re.compile(rf"(?<![\w.-])(?P<word>[a-z][a-z0-9]{{1,40}})(?: (?:{_KIND})s?\b|\s*\Z)")
"""A plain word that the next one says to be a name: "the bail option"."""
_PARTS = re.compile(r"[-_]+|(?<=[a-z0-9])(?=[A-Z])")
_SIGNATURE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>|[=:(\[<{?].*")
"""What a heading says of a name beyond it: arguments, types and values."""
_SPACES = re.compile(r"[\s,|/]+")


class Place(IntEnum):
    """Where a text has a name."""

    NOWHERE = 0
    TEXT = 1
    HEADING = 2
    """In a heading that says more."""
    OWN_HEADING = 3
    """The heading is the name, with its arguments, or with other names for the same."""
    AS_ASKED = 4
    """The same, written as in the question: ``--bail`` is an option, and ``bail`` a setting."""


_WEIGHTS: Mapping[Place, float] = {
    Place.TEXT: 0.4,
    Place.HEADING: 0.6,
    Place.OWN_HEADING: 0.8,
    Place.AS_ASKED: 1.0,
}
"""What it gives a document, over the root of how many have it there or in a better place."""
QUOTED: Mapping[Place, float] = {
    Place.NOWHERE: 0.0,
    Place.TEXT: 0.2,
    Place.HEADING: 0.4,
    Place.OWN_HEADING: 0.8,
    Place.AS_ASKED: 0.9,
}
"""What it gives a passage beside a cosine, where the one that is shown is picked."""


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name out of code.

    Attributes:
        written: as the question has it, without a call's brackets.
        pattern: finds it, also as ``frozenLockfile`` for ``--frozen-lockfile``.
        is_word: whether it may be any word, which only a heading of its own shows to be a name.
    """

    written: str
    pattern: re.Pattern[str]
    is_word: bool = False

    @property
    def words(self) -> str:
        """What it is sought by: its parts, and what these are written in one word."""
        pieces = [_PARTS.split(piece) for piece in self.written.strip("-.@").split(".")]
        return " ".join(" ".join(dict.fromkeys(("".join(each), *each))) for each in pieces)

    def place(self, headings: Iterable[str], text: str) -> Place:
        """Where a passage has the name.

        Args:
            headings: those over it and in it.
            text: what it says.
        """
        found = max(map(self.in_heading, headings), default=Place.NOWHERE)
        if self.is_word:
            return found if found > Place.HEADING else Place.NOWHERE
        return found or (Place.TEXT if self.pattern.search(text) else Place.NOWHERE)

    def in_heading(self, heading: str) -> Place:
        """Where a heading has the name, if it does."""
        if not self.pattern.search(heading):
            return Place.NOWHERE
        called = _SPACES.split(_SIGNATURE.sub(" ", heading.replace("`", "")).strip())
        names = [one for one in called if self.pattern.fullmatch(one)]
        if not names or not all(_is_code(one) for one in called if one not in names):
            return Place.HEADING
        return Place.AS_ASKED if self.written in names else Place.OWN_HEADING


def code_names(question: str) -> tuple[CodeName, ...]:
    """The names out of code in a question, none twice; what stands in backticks is one.

    So is a plain word that is all of the question, or that is followed by what it is a name of.
    """
    question = question[:_MAX_QUESTION]
    found = {one: CodeName(one, _pattern(one)) for one in _written(question)}
    for one in _words(question):
        found.setdefault(one, CodeName(one, re.compile(rf"(?<![\w-])(?:--?)?{one}(?![\w-])"), True))
    return tuple(islice(found.values(), MAX_NAMES))


def place_of(names: Sequence[CodeName], headings: Collection[str], text: str) -> Place:
    """The most telling place in which a passage has one of the names."""
    return max((each.place(headings, text) for each in names), default=Place.NOWHERE)


def weights(
    names: Sequence[CodeName], hits: Sequence[Hit], titled: Sequence[Collection[str]]
) -> dict[str, float]:
    """What documents gain by having the names of a question.

    Args:
        names: the names.
        hits: passages that may have them, with their texts and headings.
        titled: the keys of documents that are called by each name.
    """
    gained: defaultdict[str, float] = defaultdict(float)
    for name, called in zip(names, titled, strict=True):
        places = dict.fromkeys(called, Place.AS_ASKED)
        for hit in hits:
            said = hit.payload
            headings = (*said.get("section", ()), *said.get("under", ()))
            place = name.place(headings, said.get("text") or "")
            places[said["key"]] = max(place, places.get(said["key"], Place.NOWHERE))
        for place, weight in _WEIGHTS.items():
            having = sum(best >= place for best in places.values())
            for key, best in places.items():
                gained[key] += weight / math.sqrt(having) if best == place else 0.0
    return gained


def _written(question: str) -> Iterator[str]:
    for found in _TOKEN.finditer(question):
        bare = (found["bare"] or "").rstrip(".-/")
        written = found["quoted"] or bare
        if found["quoted"] or found["call"] or _SHAPES.fullmatch(bare):
            written = _SIGNATURE.sub("", written)
            if any(each.isalpha() for each in written):
                yield written


def _words(question: str) -> Iterator[str]:
    """Plain words that are said to be names, and one that is all of the question."""
    for found in _WORD.finditer(question):
        is_said = found.end() < len(question) or " " in found[0].strip()
        is_all = found[0].strip() == question.strip()
        if found["word"] not in STOP_WORDS and (is_said or is_all):
            yield found["word"]


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern of a name; a plain word is one only with the dashes that it is asked with."""
    bare = written.lstrip("-.")
    pieces = [list(filter(None, _PARTS.split(piece))) for piece in bare.split(".")]
    called = r"\.".join("[-_]?".join(map(re.escape, each)) for each in pieces)
    is_word = len(pieces) == 1 and len(pieces[0]) == 1
    dashes = written[: len(written) - len(bare)].strip(".") if is_word else ""
    before = r"(?<![\w-])" if dashes else r"(?<!\w)(?<!\w-)"
    flags = re.NOFLAG if len(bare) == 1 else re.IGNORECASE
    optional = "" if dashes else "(?:--?)?"
    return re.compile(rf"{before}{dashes}{optional}{called}(?!\w)(?![.-]\w)", flags)


def _is_code(word: str) -> bool:
    return not word or _SHAPES.fullmatch(word) is not None
