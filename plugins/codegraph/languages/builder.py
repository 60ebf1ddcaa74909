"""The facts of one file under construction: scopes, definitions, local names.

Go, Java and Rust are lowered with it. Their locals have block scope, which facts do not have:
:class:`Locals` renames a local that shadows another, or that ends with its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gateway.toolkit.counts import counted
from plugins.codegraph.facts import (
    Bind,
    Definition,
    Expr,
    FileFacts,
    Many,
    Name,
)
from plugins.codegraph.languages.uses import ScopeBuilder, UsesBuilder
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 180
"""The maximum nesting of syntax within one definition; recursion would overflow the stack."""
MAX_DOC_LENGTH = 2_000
MAX_SIGNATURE_LENGTH = 500
_SPACE = re.compile(r"\s+")


class Locals:
    """The local names that are visible at the current position, with their names in the facts.

    As a context manager it is one block: on exit, its declarations are removed, and the names that
    they shadowed are visible again.

    Args:
        always: rename every local, for languages where a local and a function (Java) or a module
            (Rust) of the same name are different things.
    """

    def __init__(self, *, always: bool = False) -> None:
        self._always = always
        self._names: dict[str, str] = {}
        self._log: list[tuple[str, str | None]] = []
        self._marks: list[int] = []
        self._taken: set[str] = set()
        self._given: set[str] = set()
        self._count = 0

    def clear(self) -> None:
        """Start a new top-level body; does nothing inside another body."""
        if self._marks:
            return
        self._names.clear()
        self._log.clear()
        self._taken.clear()
        self._given.clear()

    def __enter__(self) -> None:
        self._marks.append(len(self._log))

    def __exit__(self, *_: object) -> None:
        mark = self._marks.pop()
        while len(self._log) > mark:
            name, before = self._log.pop()
            if before is None:
                self._names.pop(name, None)
            else:
                self._names[name] = before

    def declare(self, name: str) -> str:
        """Declare a local; returns its name in the facts."""
        given = name
        if self._always or len(self._marks) > 1 or name in self._taken:
            self._count += 1
            given = f"{name}#{self._count}"
        self._taken.add(name)
        self._given.add(given)
        self.hide(name, given)
        return given

    def is_local(self, name: str) -> bool:
        """Whether a name is a declared local at this position, and not hidden by anything else."""
        return self._names.get(name, "") in self._given

    def hide(self, name: str, given: str = "") -> None:
        """Map ``name`` to ``given``, or to itself: a local class's member shadows a local."""
        self._log.append((name, self._names.get(name)))
        self._names[name] = given or name

    def forget(self, name: str) -> None:
        """Treat a name as no local until the block ends."""
        if name in self._names:
            self._log.append((name, self._names.pop(name)))

    def look(self, name: str) -> str:
        """The name in the facts for ``name`` at this position."""
        found = self._names.get(name)
        if found is None:
            self._taken.add(name)
            return name
        return found

    def fresh(self, stem: str) -> str:
        """A new name that cannot occur in source text."""
        self._count += 1
        return f"#{stem}{self._count}"

    def __contains__(self, name: str) -> bool:
        return name in self._names


class FactsBuilder(UsesBuilder):
    """The facts of one file under construction.

    Attributes:
        scope: the scope that is being filled.
        at: its number.
        owner: the number of the enclosing definition, -1 for the file.
        counted: how many calls and inline functions were lowered so far; an expression that leaves
            it unchanged contains nothing that the linker needs to visit.
    """

    language = ""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__()
        self.path = path
        self.source = source
        self.scopes: list[ScopeBuilder] = [ScopeBuilder("file", -1, -1)]
        self.definitions: list[Definition] = []
        self.scope = self.scopes[0]
        self.at = 0
        self.owner = -1
        self.counted = 0
        self.depth = 0
        self.too_deep = 0
        self.locals = Locals()
        self.package = ""
        self.doc = ""
        self.generated = False

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def text_of(self, node: Node, field: str) -> str:
        """The source text of a node's field, or "" where it has none."""
        part = node.child_by_field_name(field)
        return self.text(part) if part is not None else ""

    def deeper(self, node: Node) -> bool:
        """Whether a node is nested too deeply to be lowered; the first such line is reported."""
        if self.depth < MAX_DEPTH:
            return False
        self.too_deep = self.too_deep or node.start_point[0] + 1
        return True

    def define(  # noqa: PLR0913 - a definition is made of these, and all but three have defaults
        self,
        kind: EntityKind,
        name: str,
        node: Node,
        *,
        signature: str = "",
        doc: tuple[str, int] | None = None,
        exported: bool = True,
        test: bool = False,
        qualified: str = "",
        parent: int | None = None,
    ) -> int:
        """Add a definition; returns its number."""
        owner = self.owner if parent is None else parent
        if not qualified:
            qualified = f"{self.definitions[owner].qualified}.{name}" if owner >= 0 else name
        self.definitions.append(
            Definition(
                kind,
                name,
                qualified,
                node.start_point[0] + 1,
                node.end_point[0] + 1,
                doc[1] if doc else node.start_byte,
                node.end_byte,
                one_line(signature),
                doc[0] if doc else "",
                exported,
                owner,
                test,
            )
        )
        return len(self.definitions) - 1

    @contextmanager
    def within(self, kind: str, definition: int = -1, name: str = "") -> Iterator[int]:
        """Open a scope within the current one until the context exits; yields its number."""
        before = (self.scope, self.at, self.owner)
        self.scope = ScopeBuilder(kind, definition, self.at, name)
        self.at = len(self.scopes)
        self.scopes.append(self.scope)
        if definition >= 0:
            self.owner = definition
        yield self.at
        self.scope, self.at, self.owner = before

    def typevar(self, name: str, bound: Expr | None = None) -> None:
        """Add a type parameter to the scope."""
        self.scope.modifiers.append(f"typevar:{name}")
        if bound is not None:
            self.scope.binds.append(Bind(Name(f"{name}:bound"), None, bound))

    def many(self, items: Iterable[Expr | None], kind: str = "") -> Expr | None:
        """An expression that only groups others for their calls."""
        return Many(tuple(item for item in items if item is not None), kind)

    def facts(self, root: Node) -> FileFacts:
        """The finished facts, after the tree was lowered."""
        lines = self.source.count(b"\n") + (not self.source.endswith(b"\n") and bool(self.source))
        return FileFacts(
            self.language,
            lines,
            self.package,
            self.doc,
            tuple(self.definitions),
            tuple(scope.frozen() for scope in self.scopes),
            problem_of(root, self.too_deep),
            self.generated,
            locals=self.locals_found(),
        )


def children(node: Node | None, field: str = "") -> list[Node]:
    """The named children of a node, or of one of its fields; empty where it is absent."""
    if node is not None and field:
        node = node.child_by_field_name(field)
    return node.named_children if node is not None else []


def one_line(text: str) -> str:
    """Text on one line, truncated to ``MAX_SIGNATURE_LENGTH`` characters."""
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= MAX_SIGNATURE_LENGTH else text[: MAX_SIGNATURE_LENGTH - 1] + "…"


def problem_of(root: Node, too_deep: int) -> str:
    """A description of what could not be parsed; "" where everything was."""
    problems = []
    if root.has_error:
        count, first = _errors(root)
        problems.append(f"{counted(count, 'syntax error')}, the first in line {first}")
    if too_deep:
        problems.append(f"nested deeper than {MAX_DEPTH} levels in line {too_deep}")
    return "; ".join(problems)


def _errors(root: Node) -> tuple[int, int]:
    count, first = 0, 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            count += 1
            line = node.start_point[0] + 1
            first = min(first or line, line)
            continue
        stack.extend(child for child in node.children if child.has_error or child.is_missing)
    return max(count, 1), max(first, 1)
