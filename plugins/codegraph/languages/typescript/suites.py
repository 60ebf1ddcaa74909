"""Lowers tests: ``describe``, ``it`` and ``test`` blocks become definitions with their titles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Arg, Call, Expr, Inner, Name
from plugins.codegraph.languages.typescript import functions
from plugins.codegraph.languages.typescript.lowerer import FUNCTIONS, Lowerer, last_line
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_PATH = re.compile(
    r"(\.(test|spec|e2e|cy)\.[cm]?[jt]sx?$)|((^|/)(__tests__|tests?|specs?|e2e|cypress)/)", re.I
)
_FRAMEWORKS = re.compile(
    rb"""['"](vitest|@jest/globals|node:test|mocha|ava|tap|bun:test|@playwright/test)['"]"""
)
_GROUPS = frozenset({"describe", "suite", "context"})
_TESTS = frozenset({"it", "test", "specify", "fit", "xit", "bench"})


def holds_tests(path: str, source: bytes) -> bool:
    """Whether a file contains tests, by its name or by the framework that it imports."""
    return _PATH.search(path) is not None or _FRAMEWORKS.search(source) is not None


def _word(low: Lowerer, function: Node) -> str:
    """The base name of a call: ``it`` of ``it``, ``it.only``, ``it.each(rows)``."""
    node: Node | None = function
    for _ in range(4):
        if node is None or node.type == "identifier":
            break
        node = node.child_by_field_name("object") or node.child_by_field_name("function")
    return low.text(node) if node is not None and node.type == "identifier" else ""


def is_suite(low: Lowerer, function: Node, given: Node | None) -> bool:
    """Whether a call is a test or a group of tests: it has a title and a function."""
    if not low.tests or given is None or given.type != "arguments":
        return False
    if _word(low, function) not in _GROUPS | _TESTS:
        return False
    inside = given.named_children
    return (
        len(inside) > 1
        and inside[0].type in ("string", "template_string")
        and any(each.type in FUNCTIONS for each in inside[1:])
    )


def suite(low: Lowerer, node: Node, function: Node, given: Node | None) -> Expr | None:
    """Lower a test to a function named by its title; a group's title prefixes those within."""
    inside = given.named_children if given is not None else []
    title = " ".join(low.text(inside[0])[1:-1].split())[:120]
    args: list[Arg] = []
    for each in inside[1:]:
        if each.type not in FUNCTIONS:
            args.append(Arg(low.expr(each)))
        elif _word(low, function) in _GROUPS:
            scope = functions.lower(low, each)
            scope.prefix = f"{low.scope.prefix}{title} > "
            args.append(Arg(Inner(scope.number)))
        else:
            definition = functions.define(low, each, EntityKind.FUNCTION, title, around=node)
            low.builder.definitions[definition].test = True
            args.append(Arg(Inner(functions.lower(low, each, definition).number)))
    return Call(low.expr(function) or Name("it"), tuple(args), last_line(function))
