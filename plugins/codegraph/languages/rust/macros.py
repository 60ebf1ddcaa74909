"""Finds calls in the arguments of macros.

A macro's arguments are tokens. Where they parse as a list of expressions, they are parsed as the
arguments of a call, in a text of their own; where they do not, they are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plugins.codegraph.facts import IN_MACRO, Expr, Group, Literal, Name
from plugins.codegraph.languages.base import parser
from plugins.codegraph.languages.rust.builtins import KNOWN_MACROS, TEXT_MACROS, UNREAD_MACROS
from plugins.codegraph.languages.rust.control_flow import ControlFlow

if TYPE_CHECKING:
    from tree_sitter import Node

_FIRST = frozenset({"matches", "assert_matches"})
"""Macros whose further arguments are patterns."""
_HEAD = b"fn m(){m("
_MAX_NESTED = 8
_CAPTURED = re.compile(rb"\{([A-Za-z_]\w*)[:}]")


class Macros(ControlFlow):
    """Lowers macro invocations."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._nested = 0

    def macro(self, node: Node) -> Expr | None:
        """Lower the calls in a macro's arguments."""
        of = node.child_by_field_name("macro")
        name = self.text(of).rpartition("::")[2] if of is not None else ""
        tokens = node.named_children[-1] if node.named_child_count > 1 else None
        if name in UNREAD_MACROS or tokens is None or tokens.type != "token_tree":
            return None
        arguments = self.source[tokens.start_byte + 1 : tokens.end_byte - 1]
        found: Expr | None = None
        if b"(" in arguments or name == "vec":
            found = self._parsed(name, arguments, tokens)
        elif name in TEXT_MACROS:
            found = Literal("String")
        self.tokens(tokens)
        return found

    def tokens(self, tree: Node) -> None:
        """Note the names in a macro's tokens that have no place among its parsed arguments."""
        before = b""
        for token in leaves(tree):
            text = self.source[token.start_byte : token.end_byte]
            if token.type == "string_content":
                self._formatted(token)
            elif token.type == "identifier" and before not in (b".", b"$", b"::"):
                self._token(token)
            before = text

    def _token(self, token: Node) -> None:
        if self.locals.is_local(self.text(token)):
            self.noted_local(token)
        else:
            self.noted(Name(self.text(token)), token, IN_MACRO)

    def _formatted(self, token: Node) -> None:
        """Note the locals that a format string names: ``{name}``."""
        text = self.source[token.start_byte : token.end_byte]
        for found in _CAPTURED.finditer(text):
            name = found[1].decode("utf-8", "replace")
            if self.locals.is_local(name):
                start, row = token.start_byte + found.start(1), text.count(b"\n", 0, found.start())
                line = token.start_point[0] + row + self.row
                self.note_local(name, self.base + start, line)

    def _parsed(self, name: str, arguments: bytes, tokens: Node) -> Expr | None:
        if self._nested >= _MAX_NESTED:
            return None
        head = _HEAD + b"[" if name == "vec" else _HEAD
        text = head + arguments + (b"]);}" if name == "vec" else b");}")
        root = parser("rust").parse(text).root_node
        call = _call(root)
        if call is None or (root.has_error and name not in _FIRST):
            return None
        before = (self.source, self.row, self.base)
        # Rows and bytes of the new text count from the macro's.
        self.source, self.row = text, self.row + tokens.start_point[0]
        self.base += tokens.start_byte + 1 - len(head)
        self._nested += 1
        try:
            return self._values(name, call)
        finally:
            self._nested -= 1
            self.source, self.row, self.base = before

    def _values(self, name: str, call: Node) -> Expr | None:
        nodes = [child for child in call.named_children if "comment" not in child.type]
        if name == "vec":
            found = self.expr(nodes[0]) if nodes else None
            return found if isinstance(found, Group) else None
        if name in _FIRST:
            return self.calls_of(nodes[:1], "bool")
        if name == "dbg" and len(nodes) == 1:
            return self.expr(nodes[0])
        if name in KNOWN_MACROS:
            return self.calls_of(nodes, "String" if name in TEXT_MACROS else "")
        # The value of any other macro is unknown, but what looks like a call usually is one.
        return self.calls_of(nodes)


def leaves(node: Node) -> Iterator[Node]:
    """The tokens of a macro's arguments, in order."""
    stack = [node]
    while stack:
        each = stack.pop()
        if each.child_count:
            stack.extend(reversed(each.children))
        else:
            yield each


def _call(root: Node) -> Node | None:
    node: Node | None = root
    while node is not None:
        if node.type == "call_expression":
            return node.child_by_field_name("arguments")
        node = node.named_children[-1] if node.named_child_count else None
    return None
