"""Matches names in questions to entities, and finds similar ones for unknown names."""

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
"""The minimum similarity of two names, from 0 to 1."""
_COMPARED = 60
"""How many candidates are compared letter by letter."""


def own_names(name: str) -> list[str]:
    """The own names of entities for which this may be the full name or its end."""
    names = {name, name.rpartition("/")[2], _SEPARATORS.split(name)[-1]}
    return sorted(names - {""})


def key_of(name: str) -> int | None:
    """The entity key that a name spells, or None."""
    return parse_key(name) if _KEY.fullmatch(name) else None


def means(entity: Entity, name: str) -> bool:
    """Whether a name may refer to an entity: it is its name, its qualified name or the end of
    that."""
    if name in (entity.name, entity.qualified):
        return True
    if entity.kind is EntityKind.FILE:
        return entity.path.endswith(f"/{name.lstrip('/')}")
    path = splitext(entity.path)[0]
    whole = _SEPARATORS.sub(".", f"{path}.{entity.qualified}")
    return f".{whole}".endswith(f".{_SEPARATORS.sub('.', name)}")


def in_file(entity: Entity, file: str) -> bool:
    """Whether an entity is in a file, given by its path or the end of it."""
    file = file.removeprefix("./")
    return entity.path == file or entity.path.endswith(f"/{file.lstrip('/')}")


def most_similar(name: str, names: Sequence[str], limit: int) -> list[str]:
    """The most similar names, most similar first.

    Args:
        name: the unknown name; of a qualified name, the last part counts.
        names: the existing names.
        limit: the most names to return.
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
    """Entities in the order of these names, then by place."""
    rank = {name: at for at, name in enumerate(names)}
    return sorted(found, key=lambda each: (rank[each.name], each.path, each.line, each.key))


def _grams(text: str) -> list[str]:
    size = 2 if len(text) < 5 else 3
    return [text[at : at + size] for at in range(max(1, len(text) - size + 1))]


def _overlap(grams: Sequence[str], low: str, other: str) -> float:
    """How much of a name's trigrams another has; a long one that contains them by chance counts
    less."""
    hits = sum(gram in other for gram in grams)
    return hits / (len(grams) + abs(len(low) - len(other)) / 4)


def _ratio(low: str, other: str) -> float:
    ratio = SequenceMatcher(None, low, other, autojunk=False).ratio()
    # A prefix or suffix is probably a shortened name.
    return max(ratio, 0.8) if low and (other.startswith(low) or other.endswith(low)) else ratio
