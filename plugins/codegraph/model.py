"""The graph's data model: entities, the edges between them, and what is known to be missing.

It is the seed's model (kap10, "Phase 1", ArangoDB collections), except that the hashed parts of an
identity are joined by NUL, so that a colon in a path cannot make two entities collide.
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
    REFERENCES = "references"
    """Named for any other purpose than these; :class:`Sort` says which."""


class Sort(StrEnum):
    """What for an entity is named where it is not called, imported or extended."""

    VALUE = "value"
    """A function or class that is passed, stored, returned or compared."""
    TYPE = "type"
    """In an annotation, a declaration, a cast or a check of a type."""
    CONSTRUCTED = "constructed"
    """The class of which an object is made, whose ever the constructor that runs."""
    READ = "read"
    """A variable or field whose value is taken."""
    WRITTEN = "written"
    """A variable, field or element that is given a value."""
    RAISED = "raised"
    """Raised, thrown or caught."""
    DECORATED = "decorated"
    """Used as a decorator, an annotation or an attribute."""
    MACRO = "macro"
    """In the text that a macro is given, or in a template."""


class Strategy(StrEnum):
    """How an edge was found. An edge without one of these does not exist: nothing is guessed."""

    SYNTAX = "syntax"
    """Explicit in the syntax: a file contains its functions."""
    SCOPE = "scope"
    """The name is bound in an enclosing scope, in the same file or package."""
    IMPORT = "import"
    """The name was imported, possibly through re-exports and aliases."""
    SELF = "self"
    """A member of the enclosing class: ``self``, ``this``, ``super``."""
    DECLARED = "declared"
    """A member of a type from an annotation or declaration."""
    INFERRED = "inferred"
    """A member of a type inferred from what was assigned, returned or passed."""
    SCIP = "scip"
    """Reported by a SCIP indexer."""
    URL = "url"
    """The path that is requested fits a route; never stored (``tools/http_routes.py``)."""


CONFIDENCE = {
    Strategy.SYNTAX: 1.0,
    Strategy.SCIP: 1.0,
    Strategy.SCOPE: 0.98,
    Strategy.IMPORT: 0.98,
    Strategy.SELF: 0.95,
    Strategy.DECLARED: 0.95,
    Strategy.INFERRED: 0.9,
    Strategy.URL: 0.5,
}
"""The minimum precision of each strategy's edges, from 0 to 1, as measured by the benchmark; of a
URL it is an assumption, since a path does not say which host answers."""


class Entity(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing in the code.

    Attributes:
        key: its identity, a signed 64-bit number (:func:`entity_key`); shown to people as 16
            hexadecimal digits (:func:`shown_key`).
        kind: what it is.
        name: its own name; a file's is its base name.
        qualified: its name within the file, such as ``Outer.method``; a file's is its path.
        path: the file, relative to the repository's root, with ``/``.
        language: such as ``python``; ``""`` for a file of no known language.
        line: the first line, from 1, without decorators and comments.
        end_line: the last line.
        signature: one line: parameters and result as written, or "".
        doc: the docstring or doc comment, at most 2,000 characters.
        exported: whether other files may use it, by the language's own rule.
        parent: the key of the entity that contains it, or None for a file.
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
        path: the file of the source, where the edge stands in the code.
        line: its first line there.
        strategy: how it was found.
        sites: at how many places it stands.
        sort: of a reference, what for; None for other kinds.
    """

    kind: EdgeKind
    source: int
    target: int
    path: str
    line: int
    strategy: Strategy
    sites: int = 1
    sort: Sort | None = None


class Unresolved(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Calls in one file by one name whose target is unknown, so it may be any entity of that name.

    Calls known to leave the repository are not included.

    Attributes:
        path: the file.
        name: the last part of what is called: ``take`` of ``x.take()``.
        line: the first such call.
        sites: the number of calls.
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
        sites: the number of occurrences.
    """

    path: str
    name: str
    line: int
    sites: int = 1


class Endpoint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One end of HTTP in the code: a route that is served, or a request.

    Attributes:
        path: the file.
        line: where it stands.
        entity: the key of the function that serves the route or makes the request; of the file
            where that is no function of its own.
        serves: whether it is a route.
        method: the HTTP method, in capitals, or "" where any is meant or it is not known.
        template: the path with ``*`` for each part that is filled in, and ``**`` for a rest of
            any length: ``/users/*``.
        host: the host that a request names, or "".
    """

    path: str
    line: int
    entity: int
    serves: bool
    method: str
    template: str
    host: str = ""


class FileReport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How one file of the repository was indexed.

    Attributes:
        path: relative to the repository's root, with ``/``.
        digest: the SHA-256 of its bytes, 64 hexadecimal digits, or "" if it was not read.
        language: the language whose module parsed it, or "".
        lines: the number of lines.
        size: its size in bytes.
        problem: why it is missing from the graph, wholly or partly; or "".
        skipped: whether it is missing wholly.
        secrets: what was removed from it, in words with line numbers; or "".
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
    """The key of an entity: it depends on what and where it is, not on its content.

    Args:
        repo: the repository's id.
        path: the file, relative to the repository's root.
        kind: what it is.
        qualified: its name within the file.
        signature: its signature.
        ordinal: its number among those that are the same in all of these, from 0.

    Returns:
        The first 8 bytes of the SHA-256 of the parts joined by NUL, as a signed number, to fit a
        database's integer column.
    """
    parts = [repo, path, kind.value, qualified, signature]
    if ordinal:
        parts.append(str(ordinal))
    digest = hashlib.sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def shown_key(key: int) -> str:
    """A key as people and agents see it: 16 hexadecimal digits, as in the seed."""
    return f"{key & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def parse_key(shown: str) -> int:
    """The key from its 16 hexadecimal digits.

    Raises:
        ValueError: it is malformed.
    """
    if len(shown) != 16:
        raise ValueError("a key has 16 hexadecimal digits")
    return int.from_bytes(bytes.fromhex(shown), "big", signed=True)
