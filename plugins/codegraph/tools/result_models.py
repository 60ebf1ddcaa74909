"""The result models of entities and edges."""

from __future__ import annotations

from pydantic import Field

from gateway.contract import ToolResult
from plugins.codegraph.model import Entity, EntityKind, Strategy, shown_key
from plugins.codegraph.store.graph import Reached

MAX_PURPOSE_LENGTH = 160
"""The most characters of a one-line purpose."""
MAX_SIGNATURE_LENGTH = 300
"""The most characters of a signature."""


class Ref(ToolResult):
    """One entity in as few words as possible."""

    key: str = Field(description="Its key, which every tool takes as a name.")
    name: str = Field(description="Its qualified name within the file.")
    kind: EntityKind
    file: str
    line: int

    @classmethod
    def of(cls, entity: Entity) -> Ref:
        """The model of an entity."""
        return Ref(**_entity_fields(entity))


class Brief(Ref):
    """One entity in brief."""

    signature: str | None = None
    purpose: str | None = Field(None, description="The first line of its documentation.")
    test: bool | None = Field(None, description="true: it is a test.")

    @classmethod
    def of(cls, entity: Entity) -> Brief:
        """The model of an entity."""
        return Brief(**brief(entity))


class Edge(Brief):
    """An entity that a walk along edges came to."""

    depth: int = Field(description="By how many steps it was reached.")
    via: str | None = Field(None, description="The name one step before, where depth is above 1.")
    through: str | None = Field(
        None,
        description="What the code calls, where something else runs: the method that this one "
        "overrides (of the classes that are constructed, it is one that can run), or the route "
        "that is requested (GET /users/*).",
    )
    repo: str | None = Field(
        None, description="The repository it is in, where that is another one than asked about."
    )
    at: str = Field(description="Where the code says so: file:line.")
    sites: int = Field(description="How many places say so.")
    strategy: Strategy = Field(description="How the edge was found.")
    confidence: float = Field(description="How often such an edge is right, at least.")


class Linked(ToolResult):
    """A caller or a callee, listed beside something else."""

    name: str
    file: str
    line: int
    at: str = Field(description="Where the call is: file:line.")
    strategy: Strategy
    confidence: float

    @classmethod
    def of(cls, reached: Reached) -> Linked:
        """The model of a neighbour."""
        return cls(
            name=reached.entity.qualified,
            file=reached.entity.path,
            line=reached.entity.line,
            at=f"{reached.path}:{reached.line}",
            strategy=reached.strategy,
            confidence=reached.confidence,
        )


class Body(ToolResult):
    """What is shown of an entity where there are few."""

    end_line: int
    language: str
    source: str | None = Field(None, description="Its text as it was indexed.")
    source_cut: bool | None = Field(
        None, description="true: the text is longer; read it with get_function or get_class."
    )
    callers: list[Linked] | None = None
    callees: list[Linked] | None = None
    caller_count: int | None = None
    callee_count: int | None = None
    members: list[str] | None = Field(None, description="A class's methods and fields.")
    bases: list[str] | None = Field(None, description="What a class extends and implements.")


class WholeEdge(Body, Edge):
    """An entity that was reached, whole."""


class Scored(Brief):
    """An entity that a search found."""

    score: float = Field(description="Compares within this answer only.")
    container: str | None = Field(None, description="The class or function it is in.")
    caller_count: int | None = None
    callee_count: int | None = None


class WholeScored(Body, Scored):
    """An entity that a search found, whole."""


def edge(reached: Reached, via: Entity | None = None) -> Edge:
    """The model of a reached entity; ``via`` is the entity one step before."""
    return Edge(
        **brief(reached.entity),
        depth=reached.depth,
        via=via.qualified if via is not None and reached.depth > 1 else None,
        at=f"{reached.path}:{reached.line}",
        sites=reached.sites,
        strategy=reached.strategy,
        confidence=reached.confidence,
    )


def purpose(doc: str) -> str | None:
    """The first line of a documentation text, or None."""
    first = next((line.strip() for line in doc.splitlines() if line.strip()), "")
    return cut(first, MAX_PURPOSE_LENGTH) or None


def cut(text: str, most: int) -> str:
    """A text truncated to at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def _entity_fields(entity: Entity) -> dict[str, object]:
    return {
        "key": shown_key(entity.key),
        "name": entity.qualified,
        "kind": entity.kind,
        "file": entity.path,
        "line": entity.line,
    }


def brief(entity: Entity) -> dict[str, object]:
    """The fields of ``Brief`` for an entity."""
    return {
        **_entity_fields(entity),
        "signature": cut(entity.signature, MAX_SIGNATURE_LENGTH) or None,
        "purpose": purpose(entity.doc),
        "test": True if entity.test else None,
    }
