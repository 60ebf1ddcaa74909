"""An entity in one state of the code: what it is, and digests of its text to compare it by.

kap10 compares the hashes of identities (phase 5, "Entity Hash Comparison"); to tell a rename from
something that went and something that came, the text counts too.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from plugins.codegraph.model import Entity, EntityKind

_WORD = re.compile(r"\w+")
_NAME = "\0"
"""Stands for an entity's own name in its text, so that a renamed one has the same."""
_MARKS = ("@", "#", "//", "/*", "*")
"""How a line above an entity begins that belongs to it: decorators, attributes, comments."""


class Version(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entity in one state of the code.

    Attributes:
        entity: what it is.
        own: a digest of its own lines, without those of what it contains.
        shape: the same, without its own name.
        whole: the same as the shape, with what it contains.
        weight, whole_weight: the number of words in either: what is short is alike by chance.
        first: its first line, with what stands above it and belongs to it.
    """

    entity: Entity
    own: bytes
    shape: bytes
    whole: bytes
    weight: int
    whole_weight: int
    first: int


def versions(text: str, entities: Sequence[Entity]) -> list[Version]:
    """The entities of one file, with the digests of their text.

    Args:
        text: the file's text, as it was indexed.
        entities: all of its entities, the file itself included.
    """
    lines = text.split("\n")
    inner = _contained(entities)
    firsts = _firsts(lines, entities)
    return [_version(lines, each, inner[each.key], firsts) for each in entities]


def without_text(entity: Entity, digest: str) -> Version:
    """A file as its digest alone tells it."""
    key = _digest(digest)
    return Version(entity, key, key, key, len(digest), len(digest), entity.line)


def _contained(entities: Sequence[Entity]) -> Mapping[int, Sequence[Entity]]:
    inner: defaultdict[int, list[Entity]] = defaultdict(list)
    for each in entities:
        if each.parent is not None:
            inner[each.parent].append(each)
    return inner


def _firsts(lines: Sequence[str], entities: Sequence[Entity]) -> dict[int, int]:
    """By key, the first line of each, with decorators and comments directly above it."""
    things = [each for each in entities if each.kind is not EntityKind.FILE]
    starts = {each.line for each in things}
    taken = starts | {each.end_line for each in things}
    found = {each.key: each.line for each in things}
    for each in things:
        for at in _above(lines, each.line, taken):
            if lines[at - 1].lstrip().startswith(_MARKS):
                found[each.key] = at
    return found


def _above(lines: Sequence[str], line: int, taken: Collection[int]) -> Iterator[int]:
    """The lines directly above a line, upwards, to the next empty one or other entity."""
    if line > len(lines):
        return
    indent = _indent(lines[line - 1])
    for at in range(line - 1, 0, -1):
        if at in taken or not lines[at - 1].strip() or _indent(lines[at - 1]) < indent:
            return
        yield at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _version(
    lines: Sequence[str], entity: Entity, inner: Sequence[Entity], firsts: Mapping[int, int]
) -> Version:
    is_file = entity.kind is EntityKind.FILE
    first, last = (1, len(lines)) if is_file else (firsts[entity.key], entity.end_line)
    hidden = {at for each in inner for at in range(firsts[each.key], each.end_line + 1)}
    if not is_file:
        hidden.discard(entity.line)  # where all of it stands in one line
    span = range(first, min(last, len(lines)) + 1)
    own = _plain(lines[at - 1] for at in span if at not in hidden)
    whole = own if not inner else _plain(lines[at - 1] for at in span)
    name = None if is_file else re.compile(rf"\b{re.escape(entity.name)}\b")
    shape = own if name is None else name.sub(_NAME, own)
    full = whole if name is None else name.sub(_NAME, whole)
    return Version(
        entity,
        _digest(own),
        _digest(shape),
        _digest(full),
        len(_WORD.findall(shape)),
        len(_WORD.findall(full)),
        first,
    )


def _plain(lines: Iterator[str]) -> str:
    """Lines without what never matters: empty ones, the ends, and how deep all of them stand."""
    return textwrap.dedent("\n".join(line.rstrip() for line in lines if line.strip()))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
