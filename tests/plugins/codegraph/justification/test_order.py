"""The order in which entities are judged."""

from __future__ import annotations

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.order import components
from plugins.codegraph.model import Entity, EntityKind


def columns(*edges: tuple[int, int]) -> Columns:
    """A graph of functions that are numbered."""
    made = Columns()
    for key in sorted({key for edge in edges for key in edge}):
        made.add(Entity(key, EntityKind.FUNCTION, f"f{key}", f"f{key}", "a.py", "python", 1, 2))
    made.link(edges)
    return made


def test_leaves_come_first_and_a_circle_is_one() -> None:
    found = [set(group) for group in components(columns((0, 1), (1, 2), (2, 1), (2, 3)))]
    assert found == [{3}, {1, 2}, {0}]
