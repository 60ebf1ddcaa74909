"""The traversal of one syntax tree: its state, name bindings, and dispatch by node kind.

Function and class bodies wait in a queue, and nested blocks on a stack, so that no input causes
deep recursion; only expressions nest, up to :data:`MAX_DEPTH`. Anything deeper is lowered as a
separate expression: its calls count, its value is unknown.

Blocks have no scope in the facts. A ``let`` or ``const`` in a nested block is therefore renamed
to ``x@2``; so is a name that ``instanceof`` narrows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from plugins.codegraph.facts import PLAIN, Attr, Bind, Expr, Import, Many, Name
from plugins.codegraph.languages.typescript.builder import FactsBuilder, ScopeBuilder
from plugins.codegraph.languages.typescript.written import (
    RENAMED,
    RUNS_OTHERS,
    SOMETIMES,
    WrittenMembers,
)
from plugins.codegraph.languages.uses import UsesBuilder

if TYPE_CHECKING:
    from tree_sitter import Node

    Handler = Callable[["Lowerer", Node], Expr | None]
    _Work = tuple[ScopeBuilder, dict[str, str], bytes, Callable[[], None]]

MAX_DEPTH = 90
"""The maximum nesting of expressions."""

EXPRESSIONS: dict[str, Handler] = {}
"""The handler of each expression kind, by its name in the grammar."""

STATEMENTS: dict[str, Callable[[Lowerer, Node], None]] = {}
"""The handler of each statement kind, by its name in the grammar."""

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
    """Functions first, as at run time; comments stay in front of what they document."""
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


class Lowerer(UsesBuilder):
    """One file being lowered.

    Attributes:
        builder: the facts so far.
        file: the file's own scope.
        scope: the scope that is being filled.
        env: the new names of names that an enclosing block renames.
        definitions: those of the new names that are functions and classes.
        calls: how many calls, and member reads (they may be accessors), were lowered; an
            expression that raises it contains some.
        doc: the raw doc comment before the current statement or member, or "".
        start: the byte offset where the next definition begins if that is before its node, or -1.
        expected: the contextual type of the current function or object; it types parameters that
            declare no type.
        exported: the file's own names that it exports.
        module: whether it has imports or exports at all.
        tests: whether the file contains tests.
        constructors: the names of functions that are used as classes.
        classes: class scopes, by the number of the enclosing scope and name.
        defining: whether the names that a pattern binds are definitions.
        implemented: the functions that already have a definition, by scope and name.
        written: the members that certainly hold what was last written to them.
    """

    scope: ScopeBuilder

    def __init__(
        self,
        source: bytes,
        *,
        javascript: bool,
        tests: bool = False,
        constructors: set[str] | None = None,
    ) -> None:
        """Start with the file's own scope."""
        super().__init__()
        self.source = source
        self.javascript = javascript
        self.tests = tests
        self.builder = FactsBuilder()
        self.file = self.builder.scope("file", -1, None)
        self.scope = self.file
        self.env: dict[str, str] = {}
        self.definitions: set[str] = set()
        self.calls = 0
        self.doc = ""
        self.start = -1
        self.expected: Expr | None = None
        self.defining = False
        self.exported: set[str] = set()
        self.module = False
        self.implemented: set[tuple[int, str]] = set()
        self.constructors = constructors or set()
        self.classes: dict[tuple[int, str], ScopeBuilder] = {}
        self._depth = 0
        self._fresh = 0
        self.written = WrittenMembers(self.fresh)
        self._queue: deque[_Work] = deque()
        self._stack: list[tuple[Node, dict[str, str], str, int]] = []
        self._lists = 0

    # -- text and names ---------------------------------------------------------------------

    def text(self, node: Node) -> str:
        """The text of a node; invalid UTF-8 becomes replacement characters."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def named(self, name: str) -> Name:
        """A reference to a name at this point, after renaming."""
        return Name(self.env.get(name, name)) if self.env else Name(name)

    def value(self, node: Node) -> Name:
        """A use of a bare name at this point; one that is renamed is a local variable, unless its
        block defines it as a function or a class."""
        found = self.named(self.text(node))
        if RENAMED in found.id[1:] and found.id not in self.definitions:
            self.noted_local(node)
        else:
            self.noted(found, node)
        return found

    def fresh(self, name: str) -> str:
        """A renamed form of ``name`` that is unique in the file."""
        self._fresh += 1
        return f"{name}{RENAMED}{self._fresh}"

    # -- bodies -----------------------------------------------------------------------------

    def later(self, scope: ScopeBuilder, work: Callable[[], None]) -> None:
        """Queue ``work`` to fill ``scope`` later, with the renamings in force here."""
        self._queue.append((scope, self.env, self.source, work))

    def run(self) -> None:
        """Fill all queued scopes."""
        while self._queue:
            self.scope, self.env, self.source, work = self._queue.popleft()
            self.doc, self._depth = "", 0
            self.written.forget()
            work()

    def statements(self, nodes: list[Node]) -> None:
        """Lower statements and everything nested in them, in the order of the text."""
        outer, self._stack = self._stack, []
        env = self.env
        if not self.javascript:
            self._note_implemented(nodes)
        self.push(hoisted(nodes) if self.constructors else nodes)
        while self._stack:
            node, self.env, self.doc, batch = self._stack.pop()
            self.written.within(batch)
            handler = STATEMENTS.get(node.type)
            if handler is not None:
                handler(self, node)
            else:
                self.effect(node)
        self.env, self._stack = env, outer

    def _note_implemented(self, nodes: list[Node]) -> None:
        """Record which functions have a body here: their overloads are no definitions."""
        for node in nodes:
            inside: Node | None = node
            if node.type == "export_statement":
                inside = node.child_by_field_name("declaration")
            if inside is not None and inside.type in _IMPLEMENTED:
                named = inside.child_by_field_name("name")
                if named is not None:
                    self.implemented.add((self.scope.number, self.text(named)))

    def push(self, nodes: list[Node]) -> None:
        """Schedule these statements next, each with the doc comment before it."""
        batch: list[tuple[Node, dict[str, str], str, int]] = []
        doc = ""
        self._lists += 1
        for node in nodes:
            kind = node.type
            if kind == "comment":
                doc = self.comment(node)
            elif node.is_named:
                batch.append((node, self.env, doc, self._lists))
                doc = ""
        self._stack.extend(reversed(batch))

    def comment(self, node: Node) -> str:
        """The text of a doc comment, or "" for any other comment."""
        start = node.start_byte
        if self.source[start : start + 3] != b"/**":
            return ""
        return self.text(node)

    def documented(self, nodes: list[Node]) -> Iterator[tuple[Node, str]]:
        """The named nodes other than comments, each with the doc comment before it."""
        doc = ""
        for node in nodes:
            if node.type == "comment":
                doc = self.comment(node)
            elif node.is_named:
                yield node, doc
                doc = ""

    # -- expressions ------------------------------------------------------------------------

    def expr(self, node: Node | None) -> Expr | None:
        """Lower an expression; None where its value is unknown."""
        if node is None:
            return None
        handler = EXPRESSIONS.get(node.type)
        if handler is None:
            return self._unknown(node)
        if self._depth >= MAX_DEPTH:
            self._postpone(node)
            return None
        self._depth += 1
        using = self.using
        kind = node.type
        if using is not PLAIN and kind not in _PASSING:
            self.using = PLAIN
        if kind in SOMETIMES:
            self.written.forget()
        try:
            return handler(self, node)
        finally:
            self.using = using
            self._depth -= 1
            if kind in RUNS_OTHERS:
                self.written.forget()

    def _unknown(self, node: Node) -> Expr | None:
        """Lower an expression of unknown kind, such as one with syntax errors: its calls count."""
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
        """Lower a value whose contextual type is ``expected``."""
        self.expected = expected if node is not None and node.type in _TYPED_BY_USE else None
        value = self.expr(node)
        self.expected = None
        return value

    def effect(self, node: Node | None) -> None:
        """Lower an expression whose value is unused."""
        before = self.calls
        value = self.expr(node)
        if self.calls != before and not _is_assignment(node):
            self.scope.calls.append(value)

    def keep(self, value: Expr | None, before: int) -> None:
        """Add an expression to the scope's calls if it has any (``before`` is the earlier
        ``calls``)."""
        if self.calls != before and value is not None:
            self.scope.calls.append(value)

    def bind(self, target: Expr, value: Expr | None, line: int, type: Expr | None = None) -> None:
        """Add an assignment to the current scope."""
        self.scope.binds.append(Bind(target, value, type, line))

    # -- modules ----------------------------------------------------------------------------

    def whole(self, module: str, line: int, scope: ScopeBuilder | None = None) -> Name:
        """Import a module used within an expression; returns the name it is bound to."""
        alias = f"import({module})"
        where = scope or self.file
        if not any(known.alias == alias for known in where.imports):
            where.imports.append(Import(alias, module, line=line))
        return Name(alias)

    def export(self, name: str, local: str, line: int) -> None:
        """Record that the file exports its own ``local`` as ``name``."""
        self.module = True
        self.exported.add(local)
        self.file.imports.append(Import("", "", symbol=local, exported=name, line=line))


_PASSING = frozenset(
    {"identifier", "member_expression", "nested_identifier", "parenthesized_expression"}
    | {"call_expression", "new_expression", "non_null_expression", "subscript_expression"}
)
"""The expressions whose last names are used as they are themselves."""
_IMPLEMENTED = frozenset({"function_declaration", "generator_function_declaration"})
_TYPED_BY_USE = frozenset({"arrow_function", "function_expression", "object"})
_SILENT = frozenset({"string", "comment", "regex", "type_annotation", "type_arguments"})


def _is_assignment(node: Node | None) -> bool:
    """Whether this is an assignment, whose value its binding already records."""
    while node is not None and node.type == "parenthesized_expression":
        node = child_at(node)
    return node is not None and node.type == "assignment_expression"


def member(of: Expr | None, name: str) -> Attr:
    """``of.name``."""
    return Attr(of, name)


def child_at(node: Node, place: int = 0) -> Node | None:
    """The named child at an index, or None if there are fewer."""
    return node.named_child(place) if place < node.named_child_count else None


def line_of(node: Node) -> int:
    """The line where a node begins, from 1."""
    return node.start_point.row + 1


def last_line(node: Node) -> int:
    """The line where a node ends, from 1."""
    return node.end_point.row + 1
