"""One way in which a language names an entity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """One way to name an entity.

    Attributes:
        language: the language.
        what: what it is, for people.
        text: the lines.
        sort: what the graph says of it: a reference's sort, an edge's kind, or ``unresolved``.
        entity: the entity's name.
    """

    language: str
    what: str
    text: str
    sort: str
    entity: str = "target"


def ways_of(language: str, entity: str, ways: Mapping[str, tuple[str, str]]) -> list[Way]:
    return [Way(language, f"{entity} {what}", *way, entity) for what, way in ways.items()]
