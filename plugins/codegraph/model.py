"""What the graph holds: entities, the edges between them, and what is known to be missing.

The seed's model (kap10, "Phase 1", ArangoDB collections) with its identity hash joined by NUL, so
that a colon in a path cannot make two entities one.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

import msgspec

_SEPARATOR = "\0"


class EntityKind(StrEnum):
    """What an entity is."""

    FILE = "file"
    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    VARIABLE = "variable"


class EdgeKind(StrEnum):
    """How one entity relates to another."""

    CONTAINS = "contains"
    CALLS = "calls"
    IMPORTS = "imports"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"


class Strategy(StrEnum):
    """How an edge was found. An edge without one of these does not exist: nothing is guessed."""

    SYNTAX = "syntax"
    """It stands in the text: a file contains its functions."""
    SCOPE = "scope"
    """The name is bound in a scope around the place, in the same file or package."""
    IMPORT = "import"
    """The name was imported, also through re-exports and aliases."""
    SELF = "self"
    """A member of the class around the place: ``self``, ``this``, ``super``."""
    DECLARED = "declared"
    """A member of a type that an annotation or a declaration states."""
    INFERRED = "inferred"
    """A member of a type that follows from what was assigned, returned or passed."""
    SCIP = "scip"
    """A SCIP indexer says so."""


CONFIDENCE = {
    Strategy.SYNTAX: 1.0,
    Strategy.SCIP: 1.0,
    Strategy.SCOPE: 0.98,
    Strategy.IMPORT: 0.98,
    Strategy.SELF: 0.95,
    Strategy.DECLARED: 0.95,
    Strategy.INFERRED: 0.9,
}
"""How often an edge of each strategy is right, at least: measured by the benchmark."""


class Entity(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing in the code.

    Attributes:
        key: its identity, a signed 64-bit number (:func:`entity_key`); 16 hexadecimal digits for
            people (:func:`shown_key`).
        kind: what it is.
        name: its own name; a file's is its base name.
        qualified: its name within the file, such as ``Outer.method``; a file's is its path.
        path: the file, from the repository's root, with ``/``.
        language: such as ``python``; ``""`` for a file of no known language.
        line: the first line, from 1, decorators and comments left out.
        end_line: the last line.
        signature: one line: parameters and result as they are written, or "".
        doc: the docstring or doc comment, at most 2,000 characters.
        exported: whether other files may use it, by the language's own rule.
        parent: the key of what contains it, or None for a file.
        test: whether it is a test, by the language's own conventions.
    """

    key: int
    kind: EntityKind
    name: str
    qualified: str
    path: str
    language: str
    line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    exported: bool = True
    parent: int | None = None
    test: bool = False


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One relation, from ``source`` to ``target``.

    Attributes:
        kind: how they relate.
        source, target: the entities' keys.
        path: the file that says so: the source's own.
        line: the first line that says so.
        strategy: how it was found.
        sites: how many places say so.
    """

    kind: EdgeKind
    source: int
    target: int
    path: str
    line: int
    strategy: Strategy
    sites: int = 1


class Unresolved(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Calls in one file by one name, whose target is not known: they may be anyone's.

    A call that is known to leave the repository is not among them.

    Attributes:
        path: the file.
        name: the last part of what is called: ``take`` of ``x.take()``.
        line: the first such call.
        sites: how many.
    """

    path: str
    name: str
    line: int
    sites: int = 1


class Mention(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Occurrences of one name in one file that no definition and no edge accounts for.

    Attributes:
        path: the file.
        name: the name.
        line: the first of them.
        sites: how many.
    """

    path: str
    name: str
    line: int
    sites: int = 1


class FileReport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What became of one file of the repository.

    Attributes:
        path: from the repository's root, with ``/``.
        digest: the SHA-256 of its bytes, 64 hexadecimal digits, or "" where it was not read.
        language: the language whose module read it, or "".
        lines: how many lines it has.
        size: its bytes.
        problem: why it is not, or not wholly, in the graph; "" where it is.
        skipped: whether nothing of it is in the graph.
        secrets: what was taken out of it, in words with the lines; "" for nothing.
    """

    path: str
    digest: str
    language: str
    lines: int
    size: int
    problem: str = ""
    skipped: bool = False
    secrets: str = ""


def entity_key(
    repo: str, path: str, kind: EntityKind, qualified: str, signature: str, ordinal: int = 0
) -> int:
    """The identity of an entity: what it is and where, not what is in it.

    Args:
        repo: the repository's id.
        path: the file, from the repository's root.
        kind: what it is.
        qualified: its name within the file.
        signature: its signature.
        ordinal: which one of several that are the same in all of these, from 0.

    Returns:
        The first 8 bytes of the SHA-256 of the parts joined by NUL, as a signed number, since
        that is what a database holds in one column.
    """
    parts = [repo, path, kind.value, qualified, signature]
    if ordinal:
        parts.append(str(ordinal))
    digest = hashlib.sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def shown_key(key: int) -> str:
    """A key as people and agents see it: 16 hexadecimal digits, as the seed has it."""
    return f"{key & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def parse_key(shown: str) -> int:
    """The key of 16 hexadecimal digits.

    Raises:
        ValueError: it is not that.
    """
    if len(shown) != 16:
        raise ValueError("a key has 16 hexadecimal digits")
    return int.from_bytes(bytes.fromhex(shown), "big", signed=True)
