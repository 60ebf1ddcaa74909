"""Kinds and strategies as the small integers stored in rows. A number is never reused."""

from __future__ import annotations

from collections.abc import Collection

from plugins.codegraph.model import CONFIDENCE, EdgeKind, EntityKind, Strategy

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
STRATEGY_CODES = {
    Strategy.SYNTAX: 0,
    Strategy.SCOPE: 1,
    Strategy.IMPORT: 2,
    Strategy.SELF: 3,
    Strategy.DECLARED: 4,
    Strategy.INFERRED: 5,
    Strategy.SCIP: 6,
}
ENTITY_KINDS = {code: kind for kind, code in ENTITY_CODES.items()}
EDGE_KINDS = {code: kind for kind, code in EDGE_CODES.items()}
STRATEGIES = {code: strategy for strategy, code in STRATEGY_CODES.items()}

LAYER_BITS = 28
"""A layer has at most 2^28 entities; there can be 2^35 layers."""


def entity_codes(kinds: Collection[EntityKind]) -> list[int]:
    """The numbers of entity kinds."""
    return sorted(ENTITY_CODES[kind] for kind in kinds)


def edge_codes(kinds: EdgeKind | Collection[EdgeKind]) -> tuple[int, ...]:
    """The numbers of one or several edge kinds."""
    # A kind is a string, thus a collection too (of letters).
    return (
        (EDGE_CODES[kinds],)
        if isinstance(kinds, EdgeKind)
        else tuple(sorted(EDGE_CODES[kind] for kind in kinds))
    )


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
