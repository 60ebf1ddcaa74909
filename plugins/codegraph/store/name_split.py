"""Names split into words: ``getUserByID2`` is get, user, by, id and 2."""

from __future__ import annotations

import re

from plugins.codegraph.model import Entity, EntityKind

MAX_WORDS = 40
"""The most words of one name; only paths have more."""
_ASCII = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_RUNS = re.compile(r"[^\W\d_]+|\d+")


def split(name: str) -> list[str]:
    """The words of a name, in lower case, split at case changes, digits and other characters."""
    if name.isascii():
        return [word.lower() for word in _ASCII.findall(name)]
    return [word.lower() for run in _RUNS.findall(name) for word in _humps(run)]


def _humps(run: str) -> list[str]:
    """A run of letters, split before each capital that begins a word."""
    starts = [
        at
        for at in range(1, len(run))
        if run[at].isupper()
        and (run[at - 1].islower() or (at + 1 < len(run) and run[at + 1].islower()))
    ]
    return [run[start:end] for start, end in zip([0, *starts], [*starts, None], strict=True)]


def words_of(entity: Entity) -> str:
    """The words by which an entity is found: of its name, or of a file's whole path."""
    name = entity.path if entity.kind is EntityKind.FILE else entity.name
    return " ".join(split(name)[:MAX_WORDS])
