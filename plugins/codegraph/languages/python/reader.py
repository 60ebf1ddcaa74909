"""The base of all Python lowering: nested expressions and literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from plugins.codegraph.facts import AS_TYPE, PLAIN, Expr
from plugins.codegraph.languages.builder import FactsBuilder
from plugins.codegraph.languages.python.annotations import Reading, annotation
from plugins.codegraph.languages.python.flow import Flow

if TYPE_CHECKING:
    from tree_sitter import Node


MAX_DEPTH = 160
"""The maximum nesting of expressions that is lowered."""
_PASSING = frozenset(
    {"identifier", "attribute", "call", "parenthesized_expression", "tuple", "boolean_operator"}
    | {"conditional_expression"}
)
"""The expressions whose last names are used as they are themselves."""


class Reader(FactsBuilder):
    """Lowers nodes into the current scope."""

    language = "python"
    kinds: ClassVar[dict[str, Callable[[Any, Node], Expr | None]]]
    """The method that lowers an expression, by node kind."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._numbers = 0
        self.flow = Flow(True, None, self.number)

    def number(self) -> int:
        """A new number."""
        self._numbers += 1
        return self._numbers

    def expr(self, node: Node | None) -> Expr | None:
        """Lower an expression."""
        if node is None:
            return None
        work = self.kinds.get(node.type)
        if work is None:
            return None
        if self.depth >= MAX_DEPTH:
            self.deeper_than(node)
            return None
        self.depth += 1
        using = self.using
        if using is not PLAIN and node.type not in _PASSING:
            self.using = PLAIN
        found = work(self, node)
        self.using = using
        self.depth -= 1
        return found

    def deeper_than(self, node: Node) -> None:
        """Report that the syntax is nested too deeply from this node on."""
        self.too_deep = self.too_deep or node.start_point[0] + 1

    def exprs(self, nodes: list[Node]) -> tuple[Expr | None, ...]:
        """Lower several expressions."""
        return tuple([self.expr(each) for each in nodes])

    def run(self, node: Node | None) -> None:
        """Lower an expression for its calls alone."""
        before = self.counted
        found = self.expr(node)
        if self.counted != before:
            self.scope.calls.append(found)

    def annotation(self, node: Node | None) -> Expr | None:
        """Lower a type annotation."""
        return annotation(Reading(self.source, self._noted_type), node)

    def _noted_type(self, of: Expr, start: int, line: int) -> None:
        self.note(self.scope, of, start, line, AS_TYPE)

    def literal_text(self, node: Node) -> str | None:
        """The text of a plain string or number, or None."""
        if node.type == "integer":
            return self.text(node)
        if node.type == "unary_operator":
            text = self.text(node)
            return text if text[1:].isdigit() and text[0] == "-" else None
        if node.type != "string":
            return None
        parts = node.named_children
        if any(each.type == "interpolation" for each in parts):
            return None
        return "".join(self.text(each) for each in parts if each.type == "string_content")


def real(node: Node) -> list[Node]:
    """The named children of a node without comments."""
    return [each for each in node.named_children if each.type != "comment"]
