"""Cut a document into passages: at headings, each of a size that the embedding model reads whole.

The default model reads 256 tokens. English prose has about 4.6 characters a token, so a passage
of at most 900 characters fits together with its title and heading trail.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

from plugins.knowledge.outline import Place, outline
from plugins.knowledge.retrieval.markup import labels, one_newline, plain, runs

MAX_CHARACTERS = 900
"""The most characters that a passage's own text has."""
MIN_CHARACTERS = 300
"""A section shorter than this shares its passage with the next one."""

MAX_FOLLOWING = 400
"""The most characters of what follows a passage in its section that are shown with it."""

_MAX_HEADING = 120
_T = TypeVar("_T")
_SENTENCE_END = re.compile(r"(?<=[.!?:;\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f\uff1b])\s*")
"""Where a sentence ends: with a space, or by the full-width signs of scripts without spaces."""
_WHOLE = re.compile(rf"\n|{_SENTENCE_END.pattern}")
"""Where a line or a sentence ends."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that is embedded, matched and quoted as one.

    Attributes:
        trail: the headings above it, outermost first, without the document's title.
        text: plain prose, and code line by line, at most :data:`MAX_CHARACTERS` characters.
        under: the headings of the sections in it, where these are several short ones. Words find
            them; in the text that is embedded they made answers worse (decision 0085).
        place: the section it is cited at: the innermost one that all of it stands in.
        places: the sections in it below that one, in reading order.
        starts: where the text of each of these begins in its own.
        following: how the section in which it ends goes on, in whole sentences or lines, at most
            :data:`MAX_FOLLOWING` characters; it is shown, and neither embedded nor matched.
    """

    trail: tuple[str, ...]
    text: str
    under: tuple[str, ...] = ()
    place: Place | None = None
    places: tuple[Place, ...] = ()
    starts: tuple[int, ...] = ()
    following: str = ""

    def headed(self, title: str) -> str:
        """The text with its title and heading trail in front, as it is embedded and indexed."""
        return " > ".join((title, *self.trail)) + "\n" + self.text


class _Block(NamedTuple):
    """A piece of text, the headings it stands under, and the places of these sections."""

    trail: tuple[str, ...]
    places: tuple[Place, ...]
    text: str


def fingerprint(text: str) -> str:
    """What names an embedded text: equal texts have equal vectors, in any document."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def cut(markdown: str) -> list[Passage]:
    """Cut a document's body into passages, in reading order.

    Args:
        markdown: the body, without frontmatter.

    Returns:
        The passages; none where the body holds no prose.
    """
    blocks = list(_blocks(markdown))
    if not any(block.text for block in blocks):
        return []
    ends = [*_ends(blocks), len(blocks)]
    return [
        _joined(blocks[start:end], _following(blocks, end)) for start, end in pairwise((0, *ends))
    ]


def _ends(blocks: Sequence[_Block]) -> Iterator[int]:
    """Where the passages end: before these blocks."""
    size, trail = 0, tuple[str, ...]()
    for at, block in enumerate(blocks):
        if not block.text:
            continue
        is_full = size > 0 and size + len(block.text) > MAX_CHARACTERS
        if is_full or (block.trail != trail and size >= MIN_CHARACTERS):
            yield at
            size = 0
        trail = _shared(trail, block.trail) if size else block.trail
        size += len(block.text) + 1


def _following(blocks: Sequence[_Block], end: int) -> str:
    """How the section of the block before an end goes on after it."""
    last, said = blocks[end - 1], ""
    for block in blocks[end:]:
        is_apart = (block.trail, block.places) != (last.trail, last.places)
        if is_apart or len(said) > MAX_FOLLOWING:
            break
        said += "\n" * bool(said) + block.text
    if len(said) <= MAX_FOLLOWING:
        return said
    ends = [match.start() for match in _WHOLE.finditer(said, 0, MAX_FOLLOWING + 1)]
    return said[: ends[-1]] if ends else ""


def _joined(held: Sequence[_Block], following: str) -> Passage:
    """Blocks as one passage, under the headings that those with a text have in common."""
    trail, *others = [block.trail for block in held if block.text]
    for other in others:
        trail = _shared(trail, other)
    under = dict.fromkeys(
        heading for block in held for heading in block.trail[len(_shared(trail, block.trail)) :]
    )
    common, *more = [block.places for block in held if block.text]
    for one in more:
        common = _shared(common, one)
    starts: dict[Place, int] = {}
    text = ""
    for block in held:
        text += "\n" if text and block.text else ""
        for place in block.places[len(_shared(common, block.places)) :]:
            starts.setdefault(place, len(text))
        text += block.text
    own = common[-1] if common else None
    within = tuple(starts), tuple(starts.values())
    return Passage(trail, text, tuple(under), own, *within, following)


def _blocks(markdown: str) -> Iterator[_Block]:
    """Every block of at most MAX_CHARACTERS characters with the headings it stands under.

    A heading with nothing under it, not even a section, has an empty block.
    """
    markdown = one_newline(markdown)
    defined = labels(markdown)
    above, outlined = outline(markdown)
    for text in _pieces(above, defined):
        yield _Block((), (), text)
    levels: list[int] = []
    trail, places = tuple[str, ...](), tuple[Place, ...]()
    for at, one in enumerate(outlined):
        depth = sum(level < one.head.level for level in levels)
        levels = [*levels[:depth], one.head.level]
        trail = (*trail[:depth], one.title[:_MAX_HEADING])
        places = (*places[:depth], one.place)
        is_empty = True
        for text in _pieces(one.text, defined):
            is_empty = False
            yield _Block(trail, places, text)
        following = outlined[at + 1].head.level if at + 1 < len(outlined) else 0
        if is_empty and following <= one.head.level:
            yield _Block(trail, places, "")


def _pieces(markdown: str, defined: Set[str]) -> Iterator[str]:
    """What a section says, without its heading, in pieces of at most MAX_CHARACTERS characters."""
    for run, is_code in runs(markdown):
        if is_code:
            yield from _split_code(run)
            continue
        for line in plain(run, defined).split("\n"):
            if line.strip():
                yield from _split(line)


def _split_code(code: str) -> Iterator[str]:
    """Code in pieces of at most MAX_CHARACTERS characters, cut between lines where it can be."""
    piece = ""
    for line in code.split("\n"):
        for start in range(0, len(line) or 1, MAX_CHARACTERS):
            part = line[start : start + MAX_CHARACTERS]
            if len(piece) + len(part) >= MAX_CHARACTERS and piece.strip():
                yield piece.strip("\n")
                piece = ""
            piece = f"{piece}\n{part}" if piece.strip() else part
    if piece.strip():
        yield piece


def _split(line: str) -> Iterator[str]:
    """One line in pieces of at most MAX_CHARACTERS characters, cut between sentences or words."""
    piece = ""
    for sentence in _SENTENCE_END.split(line):
        for part in _words(sentence):
            if piece and len(piece) + len(part) + 1 > MAX_CHARACTERS:
                yield piece
                piece = part
            else:
                piece = f"{piece} {part}" if piece else part
    if piece:
        yield piece


def _words(sentence: str) -> Iterator[str]:
    start = 0
    while len(sentence) - start > MAX_CHARACTERS:
        space = sentence.rfind(" ", start + 1, start + MAX_CHARACTERS)
        end = space if space > 0 else start + MAX_CHARACTERS
        yield sentence[start:end]
        start = end + (space > 0)
    if rest := sentence[start:].lstrip():
        yield rest


def _shared(one: tuple[_T, ...], other: tuple[_T, ...]) -> tuple[_T, ...]:
    """What two places have in common, from the outermost on."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
