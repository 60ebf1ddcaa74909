"""Where the names of a file occur, noted while it is lowered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plugins.codegraph.facts import (
    PLAIN,
    Bind,
    Expr,
    Import,
    Inner,
    Literal,
    Name,
    Param,
    Scope,
    Super,
    Use,
)
from plugins.codegraph.walk import parts_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_USE_NODES = 12
"""The most members, calls and subscripts of an expression whose last name is a use of its own."""


@dataclass(slots=True)
class ScopeBuilder:
    """A mutable :class:`~plugins.codegraph.facts.Scope`."""

    kind: str
    definition: int
    parent: int
    name: str = ""
    params: list[Param] = field(default_factory=list)
    returns: Expr | None = None
    receiver: Expr | None = None
    bases: list[Expr | None] = field(default_factory=list)
    implements: list[Expr | None] = field(default_factory=list)
    decorators: list[Expr | None] = field(default_factory=list)
    modifiers: list[str] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    binds: list[Bind] = field(default_factory=list)
    results: list[Expr | None] = field(default_factory=list)
    calls: list[Expr | None] = field(default_factory=list)
    yields: list[Expr | None] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)

    def frozen(self) -> Scope:
        """The scope as facts."""
        values: dict[str, Any] = {}
        for name in Scope.__struct_fields__:
            value = getattr(self, name)
            values[name] = tuple(value) if isinstance(value, list) else value
        return Scope(**values)


class UsesBuilder:
    """Where names occur in one file: uses of what may be entities, and local variables.

    Attributes:
        scope: the scope that is being filled.
        row: what is added to a node's row for its line; more than 1 in a text within the file.
        base: where that text begins in the file, in bytes.
        quiet: whether the text is a comment, whose names are no uses.
        using: what the syntax around says of the use of the expression that is being lowered
            (:class:`~plugins.codegraph.facts.Use`).
    """

    scope: ScopeBuilder
    row = 1
    base = 0
    quiet = False

    def __init__(self) -> None:
        self.using = PLAIN
        self._at: set[int] = set()
        self._locals: list[tuple[str, int]] = []

    def expr(self, node: Node | None) -> Expr | None:
        """Lower an expression."""
        raise NotImplementedError

    def text(self, node: Node) -> str:
        """The source text of a node."""
        raise NotImplementedError

    def used(self, node: Node | None, how: str) -> Expr | None:
        """Lower an expression whose names are used in this way (``facts.Use.how``)."""
        using, self.using = self.using, how
        found = self.expr(node)
        self.using = using
        return found

    def noted(self, of: Expr, name: Node, how: str | None = None) -> Expr:
        """Note a use that ends with this name; returns the expression."""
        line = name.start_point[0] + self.row
        self.note(self.scope, of, self.base + name.start_byte, line, how)
        return of

    def noted_local(self, name: Node) -> str:
        """Note an occurrence of a local variable; returns its name."""
        text = self.text(name)
        self.note_local(text, self.base + name.start_byte, name.start_point[0] + self.row)
        return text

    def note(
        self, scope: ScopeBuilder, of: Expr, start: int, line: int, how: str | None = None
    ) -> None:
        """Note a use, once for each place; what is too large to be written twice is left out.

        Args:
            scope: where it stands.
            of: the name or member.
            start: the byte offset of the name.
            line: its line.
            how: how it is used; None for what the syntax around says.
        """
        if not self.quiet and start not in self._at and (type(of) is Name or is_small(of)):
            self._at.add(start)
            scope.uses.append(Use(of, line, self.using if how is None else how))

    def note_local(self, name: str, start: int, line: int) -> None:
        """Note an occurrence of a local variable, once for each place."""
        if start not in self._at:
            self._at.add(start)
            self._locals.append((name, line))

    def locals_found(self) -> tuple[tuple[str, int], ...]:
        """The occurrences of local variables."""
        return tuple(self._locals)


def is_small(expr: Expr) -> bool:
    """Whether an expression has at most ``MAX_USE_NODES`` nodes, so that it may be kept twice."""
    left = MAX_USE_NODES
    todo: list[Expr | None] = [expr]
    while todo:
        each = todo.pop()
        kind = type(each)
        if each is None or kind is Name or kind is Super or kind is Literal:
            continue
        left -= 1
        if not left or kind is Inner:
            return False
        todo += parts_of(each)
    return True
