"""Which names a question may mean, and which are like one that is not there."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from posixpath import splitext

from plugins.codegraph.model import Entity, EntityKind, parse_key

_SEPARATORS = re.compile(r"::|[.#/:]")
_KEY = re.compile(r"[0-9a-f]{16}")
_ALIKE = 0.5
"""How much of two names must be the same, at least."""
_COMPARED = 60
"""How many candidates are compared letter by letter."""


def own_names(name: str) -> list[str]:
    """The own names that an entity may have, of which this is the whole name or its end."""
    names = {name, name.rpartition("/")[2], _SEPARATORS.split(name)[-1]}
    return sorted(names - {""})


def key_of(name: str) -> int | None:
    """The key that a name is, or None where it is none."""
    return parse_key(name) if _KEY.fullmatch(name) else None


def means(entity: Entity, name: str) -> bool:
    """Whether a name may mean an entity: it is its name, its qualified name or the end of it."""
    if name in (entity.name, entity.qualified):
        return True
    if entity.kind is EntityKind.FILE:
        return entity.path.endswith(f"/{name.lstrip('/')}")
    path = splitext(entity.path)[0]
    whole = _SEPARATORS.sub(".", f"{path}.{entity.qualified}")
    return f".{whole}".endswith(f".{_SEPARATORS.sub('.', name)}")


def in_file(entity: Entity, file: str) -> bool:
    """Whether an entity is in a file, of which the path or the end of it is given."""
    file = file.removeprefix("./")
    return entity.path == file or entity.path.endswith(f"/{file.lstrip('/')}")


def most_similar(name: str, names: Sequence[str], limit: int) -> list[str]:
    """The names that are most like one, the likest first.

    Args:
        name: what was asked for; of a qualified name its last part counts.
        names: those that there are.
        limit: how many are wanted.
    """
    wanted = own_names(name)[-1] if "/" in name else _SEPARATORS.split(name)[-1]
    low = wanted.lower()
    grams = _grams(low)
    shared = ((_overlap(grams, low, each.lower()), each) for each in names)
    best = heapq.nlargest(_COMPARED, (pair for pair in shared if pair[0] > 0))
    scored = [(_ratio(low, each.lower()), each) for _, each in best]
    chosen = sorted(
        (pair for pair in scored if pair[0] >= _ALIKE), key=lambda pair: (-pair[0], pair[1])
    )
    return [each for _, each in chosen[:limit]]


def ordered(found: Iterable[Entity], names: Collection[str]) -> list[Entity]:
    """Entities in the order of their names, and where these are the same, by place."""
    rank = {name: at for at, name in enumerate(names)}
    return sorted(found, key=lambda each: (rank[each.name], each.path, each.line, each.key))


def _grams(text: str) -> list[str]:
    size = 2 if len(text) < 5 else 3
    return [text[at : at + size] for at in range(max(1, len(text) - size + 1))]


def _overlap(grams: Sequence[str], low: str, other: str) -> float:
    """How much of a name another has; a long one that has it all by chance counts less."""
    hits = sum(gram in other for gram in grams)
    return hits / (len(grams) + abs(len(low) - len(other)) / 4)


def _ratio(low: str, other: str) -> float:
    ratio = SequenceMatcher(None, low, other, autojunk=False).ratio()
    # What begins with the word, or ends with it, is what somebody cut short.
    return max(ratio, 0.8) if low and (other.startswith(low) or other.endswith(low)) else ratio
