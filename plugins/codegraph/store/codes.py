"""Kinds and strategies as the small integers stored in rows. A number is never reused."""

from __future__ import annotations

from collections.abc import Collection

from plugins.codegraph.model import CONFIDENCE, EdgeKind, EntityKind, Sort, Strategy

ENTITY_CODES = {
    EntityKind.FILE: 0,
    EntityKind.FUNCTION: 1,
    EntityKind.METHOD: 2,
    EntityKind.CLASS: 3,
    EntityKind.INTERFACE: 4,
    EntityKind.VARIABLE: 5,
}
EDGE_CODES = {
    EdgeKind.CONTAINS: 0,
    EdgeKind.CALLS: 1,
    EdgeKind.IMPORTS: 2,
    EdgeKind.EXTENDS: 3,
    EdgeKind.IMPLEMENTS: 4,
}
SORT_CODES = {
    Sort.VALUE: 16,
    Sort.TYPE: 17,
    Sort.CONSTRUCTED: 18,
    Sort.READ: 19,
    Sort.WRITTEN: 20,
    Sort.RAISED: 21,
    Sort.DECORATED: 22,
    Sort.MACRO: 23,
}
"""A reference is stored under its sort, among the numbers of the kinds: the key of an edge stays
as it is, and two sorts between the same two entities are two rows."""
STRATEGY_CODES = {
    Strategy.SYNTAX: 0,
    Strategy.SCOPE: 1,
    Strategy.IMPORT: 2,
    Strategy.SELF: 3,
    Strategy.DECLARED: 4,
    Strategy.INFERRED: 5,
    Strategy.SCIP: 6,
    Strategy.URL: 7,
}
ENTITY_KINDS = {code: kind for kind, code in ENTITY_CODES.items()}
EDGE_KINDS = {code: kind for kind, code in EDGE_CODES.items()} | dict.fromkeys(
    SORT_CODES.values(), EdgeKind.REFERENCES
)
SORTS = {code: sort for sort, code in SORT_CODES.items()}
STRATEGIES = {code: strategy for strategy, code in STRATEGY_CODES.items()}

LAYER_BITS = 28
"""A layer has at most 2^28 entities; there can be 2^35 layers."""


def entity_codes(kinds: Collection[EntityKind]) -> list[int]:
    """The numbers of entity kinds."""
    return sorted(ENTITY_CODES[kind] for kind in kinds)


def edge_code(kind: EdgeKind, sort: Sort | None) -> int:
    """The number of an edge's kind, or of a reference's sort."""
    return EDGE_CODES[kind] if sort is None else SORT_CODES[sort]


def edge_codes(
    kinds: EdgeKind | Collection[EdgeKind], sorts: Collection[Sort] = ()
) -> tuple[int, ...]:
    """The numbers of one or several edge kinds; of references only these sorts, or all if empty."""
    # A kind is a string, thus a collection too (of letters).
    wanted = (kinds,) if isinstance(kinds, EdgeKind) else kinds
    found = {EDGE_CODES[kind] for kind in wanted if kind is not EdgeKind.REFERENCES}
    if EdgeKind.REFERENCES in wanted:
        found |= {SORT_CODES[sort] for sort in sorts or Sort}
    return tuple(sorted(found))


def sure_codes(least: float) -> tuple[int, ...] | None:
    """The strategies with at least this confidence, or None for all of them."""
    every = STRATEGY_CODES.items()
    sure = tuple(code for strategy, code in every if CONFIDENCE[strategy] >= least)
    return None if len(sure) == len(STRATEGY_CODES) else sure


def first_id(layer: int) -> int:
    """The lowest entity row id of a layer."""
    return layer << LAYER_BITS


def end_id(layer: int) -> int:
    """The end (exclusive) of a layer's entity row ids."""
    return (layer + 1) << LAYER_BITS
