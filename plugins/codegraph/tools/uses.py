"""The ways in which one entity uses another, as the tools name them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.graph import Reached


class By(StrEnum):
    """How an entity is used: by an edge of some kind, or by a reference of some sort."""

    CALLED = "called"
    IMPORTED = "imported"
    EXTENDED = "extended"
    IMPLEMENTED = "implemented"
    VALUE = "value"
    TYPE = "type"
    CONSTRUCTED = "constructed"
    READ = "read"
    WRITTEN = "written"
    RAISED = "raised"
    DECORATED = "decorated"
    MACRO = "macro"


KINDS: Mapping[By, EdgeKind] = MappingProxyType(
    {
        By.CALLED: EdgeKind.CALLS,
        By.IMPORTED: EdgeKind.IMPORTS,
        By.EXTENDED: EdgeKind.EXTENDS,
        By.IMPLEMENTED: EdgeKind.IMPLEMENTS,
    }
)
"""The edges that are no references; the other ways are called as the sorts of references are."""
USES = (EdgeKind.REFERENCES, *KINDS.values())
"""The edges whose source uses their target."""
_WAYS = {kind: by for by, kind in KINDS.items()}


def use_of(reached: Reached) -> By:
    """How the entity that was reached uses, or is used by, the one at the other end."""
    return _WAYS[reached.kind] if reached.sort is None else By(reached.sort.value)
