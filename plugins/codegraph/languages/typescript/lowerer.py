"""The walk over one syntax tree: what is being lowered, and where names are bound.

Function and class bodies wait in a queue, and nested blocks on a stack, so that no input makes
this recurse deeply; only expressions nest, to :data:`DEEPEST`, and what lies deeper is lowered
as an expression of its own: its calls count, its value is unknown.

Blocks have no scope in the facts. A ``let`` or ``const`` in a nested block is therefore bound
under a name of its own, ``x@2``; so is a name that ``instanceof`` narrows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Bind, Expr, Import, Many, Name
from plugins.codegraph.languages.typescript.builder import FactsBuilder, ScopeBuilder

if TYPE_CHECKING:
    from tree_sitter import Node

    Handler = Callable[["Lowerer", Node], Expr | None]
    _Work = tuple[ScopeBuilder, dict[str, str], bytes, Callable[[], None]]

MAX_DEPTH = 90
"""How many expressions within each other are followed."""

RENAMED = "@"
"""What stands between a block's own name and its number."""

EXPRESSIONS: dict[str, Handler] = {}
"""How each kind of expression is lowered, by its name in the grammar."""

STATEMENTS: dict[str, Callable[[Lowerer, Node], None]] = {}
"""How each kind of statement is lowered."""

FUNCTIONS = frozenset(
    {
        "arrow_function",
        "function_expression",
        "generator_function",
        "function",
        "function_declaration",
    }
)
CLASSES = frozenset({"class", "class_declaration", "abstract_class_declaration"})


def hoisted(nodes: list[Node]) -> list[Node]:
    """Functions first, as they are when the file runs; comments stay before what they are of."""
    first: list[Node] = []
    rest: list[Node] = []
    comments: list[Node] = []
    for node in nodes:
        if node.type == "comment":
            comments.append(node)
            continue
        into = first if node.type == "function_declaration" else rest
        into += [*comments, node]
        comments = []
    return first + rest


class Lowerer:
    """One file being lowered.

    Attributes:
        builder: what was found so far.
        file: the file's own scope.
        scope: the scope that is being filled.
        env: the new names of names that a block around binds anew.
        calls: how many calls were lowered, and members read, which may be accessors; more after an
            expression than before: it has some.
        doc: the doc comment before the statement or member at hand, as it stands, or "".
        start: where the text of the next definition begins, where that is before itself, or -1.
        expected: the type that the function or object at hand should have, where that is stated
            by what it is given to; it types the parameters that state none.
        exported: the file's own names that it exports.
        module: whether it has imports or exports at all.
        tests: whether the file holds tests.
        constructors: the names of functions that are used as classes.
        classes: the scopes of classes by the scope around them and their names.
        implemented: the functions that have their definition, by scope and name.
    """

    def __init__(
        self,
        source: bytes,
        *,
        javascript: bool,
        tests: bool = False,
        constructors: set[str] | None = None,
    ) -> None:
        """Start with the file's own scope."""
        self.source = source
        self.javascript = javascript
        self.tests = tests
        self.builder = FactsBuilder()
        self.file = self.builder.scope("file", -1, None)
        self.scope = self.file
        self.env: dict[str, str] = {}
        self.calls = 0
        self.doc = ""
        self.start = -1
        self.expected: Expr | None = None
        self.exported: set[str] = set()
        self.module = False
        self.implemented: set[tuple[int, str]] = set()
        self.constructors = constructors or set()
        self.classes: dict[tuple[int, str], ScopeBuilder] = {}
        self._depth = 0
        self._fresh = 0
        self._queue: deque[_Work] = deque()
        self._stack: list[tuple[Node, dict[str, str], str]] = []

    # -- text and names ---------------------------------------------------------------------

    def text(self, node: Node) -> str:
        """The text of a node; bytes that are no UTF-8 become replacement characters."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def named(self, name: str) -> Name:
        """A name as it is looked up here, after the renaming of blocks."""
        return Name(self.env.get(name, name)) if self.env else Name(name)

    def fresh(self, name: str) -> str:
        """A name like no other of the file."""
        self._fresh += 1
        return f"{name}{RENAMED}{self._fresh}"

    # -- bodies -----------------------------------------------------------------------------

    def later(self, scope: ScopeBuilder, work: Callable[[], None]) -> None:
        """Fill ``scope`` after what is at hand, with the names that are in force here."""
        self._queue.append((scope, self.env, self.source, work))

    def run(self) -> None:
        """Fill all scopes that wait."""
        while self._queue:
            self.scope, self.env, self.source, work = self._queue.popleft()
            self.doc, self._depth = "", 0
            work()

    def statements(self, nodes: list[Node]) -> None:
        """Lower statements and all that is nested in them, in the order of the text."""
        outer, self._stack = self._stack, []
        env = self.env
        if not self.javascript:
            self._note_implemented(nodes)
        self.push(hoisted(nodes) if self.constructors else nodes)
        while self._stack:
            node, self.env, self.doc = self._stack.pop()
            handler = STATEMENTS.get(node.type)
            if handler is not None:
                handler(self, node)
            else:
                self.effect(node)
        self.env, self._stack = env, outer

    def _note_implemented(self, nodes: list[Node]) -> None:
        """Note which functions have a body here: their overloads are no definitions."""
        for node in nodes:
            inside: Node | None = node
            if node.type == "export_statement":
                inside = node.child_by_field_name("declaration")
            if inside is not None and inside.type in _IMPLEMENTED:
                named = inside.child_by_field_name("name")
                if named is not None:
                    self.implemented.add((self.scope.number, self.text(named)))

    def push(self, nodes: list[Node]) -> None:
        """Let these statements come next, each with the doc comment before it."""
        batch: list[tuple[Node, dict[str, str], str]] = []
        doc = ""
        for node in nodes:
            kind = node.type
            if kind == "comment":
                doc = self.comment(node)
            elif node.is_named:
                batch.append((node, self.env, doc))
                doc = ""
        self._stack.extend(reversed(batch))

    def comment(self, node: Node) -> str:
        """The text of a doc comment, or "" where it is another comment."""
        start = node.start_byte
        if self.source[start : start + 3] != b"/**":
            return ""
        return self.text(node)

    def documented(self, nodes: list[Node]) -> Iterator[tuple[Node, str]]:
        """The named nodes without comments, each with the doc comment before it."""
        doc = ""
        for node in nodes:
            if node.type == "comment":
                doc = self.comment(node)
            elif node.is_named:
                yield node, doc
                doc = ""

    # -- expressions ------------------------------------------------------------------------

    def expr(self, node: Node | None) -> Expr | None:
        """Lower an expression; None where nothing is known of its value."""
        if node is None:
            return None
        handler = EXPRESSIONS.get(node.type)
        if handler is None:
            return self._unknown(node)
        if self._depth >= MAX_DEPTH:
            self._postpone(node)
            return None
        self._depth += 1
        try:
            return handler(self, node)
        finally:
            self._depth -= 1

    def _unknown(self, node: Node) -> Expr | None:
        """An expression of a kind that is not known, such as a broken one: its calls count."""
        if not node.named_child_count or node.type in _SILENT:
            return None
        if self._depth >= MAX_DEPTH:
            self._postpone(node)
            return None
        self._depth += 1
        items = tuple(self.expr(child) for child in node.named_children)
        self._depth -= 1
        return Many(items) if any(item is not None for item in items) else None

    def _postpone(self, node: Node) -> None:
        scope = self.scope

        def work() -> None:
            self.effect(node)

        self.later(scope, work)

    def given(self, node: Node | None, expected: Expr | None) -> Expr | None:
        """Lower a value that is given to something of a stated type."""
        self.expected = expected if node is not None and node.type in _TYPED_BY_USE else None
        value = self.expr(node)
        self.expected = None
        return value

    def effect(self, node: Node | None) -> None:
        """Lower an expression whose value nobody uses."""
        before = self.calls
        value = self.expr(node)
        if self.calls != before and not _is_assignment(node):
            self.scope.calls.append(value)

    def keep(self, value: Expr | None, before: int) -> None:
        """Keep an expression of which only the calls matter, if it has any."""
        if self.calls != before and value is not None:
            self.scope.calls.append(value)

    def bind(self, target: Expr, value: Expr | None, line: int, type: Expr | None = None) -> None:
        """Something is given a value in the scope at hand."""
        self.scope.binds.append(Bind(target, value, type, line))

    # -- modules ----------------------------------------------------------------------------

    def whole(self, module: str, line: int, scope: ScopeBuilder | None = None) -> Name:
        """A name for a module that is imported in the midst of an expression."""
        alias = f"import({module})"
        where = scope or self.file
        if not any(known.alias == alias for known in where.imports):
            where.imports.append(Import(alias, module, line=line))
        return Name(alias)

    def export(self, name: str, local: str, line: int) -> None:
        """The file exports its own ``local`` as ``name``."""
        self.module = True
        self.exported.add(local)
        self.file.imports.append(Import("", "", symbol=local, exported=name, line=line))


_IMPLEMENTED = frozenset({"function_declaration", "generator_function_declaration"})
_TYPED_BY_USE = frozenset({"arrow_function", "function_expression", "object"})
_SILENT = frozenset({"string", "comment", "regex", "type_annotation", "type_arguments"})


def _is_assignment(node: Node | None) -> bool:
    """Whether this is an assignment, whose value is in the facts by what it binds."""
    while node is not None and node.type == "parenthesized_expression":
        node = child_at(node)
    return node is not None and node.type == "assignment_expression"


def member(of: Expr | None, name: str) -> Attr:
    """``of.name``."""
    return Attr(of, name)


def child_at(node: Node, place: int = 0) -> Node | None:
    """A named child, or None where a node has fewer."""
    return node.named_child(place) if place < node.named_child_count else None


def line_of(node: Node) -> int:
    """The line in which a node begins, from 1."""
    return node.start_point.row + 1


def last_line(node: Node) -> int:
    """The line in which a node ends, from 1."""
    return node.end_point.row + 1
