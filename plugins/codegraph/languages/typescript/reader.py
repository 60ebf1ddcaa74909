"""Reads one file: from its bytes to its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.toolkit.counts import counted
from plugins.codegraph.facts import FileFacts, Scope
from plugins.codegraph.languages.typescript import (  # noqa: F401 (they fill the tables)
    expressions,
    grammar,
    jsdoc,
    modules,
    prototypes,
    statements,
    suites,
)
from plugins.codegraph.languages.typescript.lowerer import Lowerer

if TYPE_CHECKING:
    from tree_sitter import Node


def read(path: str, source: bytes) -> FileFacts:
    """The facts of one file; see :meth:`Language.parse`."""
    language = grammar.language_of(path)
    lines = source.count(b"\n") + bool(source and not source.endswith(b"\n"))
    if grammar.is_minified(source, lines):
        return FileFacts(
            language, lines, scopes=(Scope("file", -1, -1),), problem=_MINIFIED, generated=True
        )
    source = grammar.cleaned(source)
    parser = grammar.parser(grammar.grammar_of(path, source))
    root = parser.parse(source).root_node
    if root.has_error and language == "typescript":
        plainer = grammar.without_variance(source)
        root = parser.parse(plainer).root_node if plainer != source else root
    low = Lowerer(
        source,
        javascript=language == "javascript",
        tests=suites.holds_tests(path, source),
        constructors=prototypes.owners(source),
    )
    nodes = root.children
    _typedefs(low, nodes)
    low.statements(nodes)
    low.run()
    head = FileFacts(
        language,
        lines,
        doc=_header(low, nodes),
        problem=_problem(low, root),
        generated=grammar.is_generated(source),
        locals=low.locals_found(),
    )
    return low.builder.facts(head, low.exported if low.module else None)


_MINIFIED = "minified: its definitions are not in the graph"


def _typedefs(low: Lowerer, nodes: list[Node]) -> None:
    if not low.javascript or b"@typedef" not in low.source:
        return
    for node in nodes:
        if node.type == "comment":
            comment = low.comment(node)
            if "@typedef" in comment:
                jsdoc.typedefs(low, comment, node.start_point.row + 1)


def _header(low: Lowerer, nodes: list[Node]) -> str:
    """The comment at the top of the file, if it documents the file."""
    inside = [node for node in nodes[:3] if node.type != "hash_bang_line"]
    if len(inside) < 1 or inside[0].type != "comment":
        return ""
    text = low.comment(inside[0])
    about = "@file" in text or "@module" in text or "@packageDocumentation" in text
    gap = len(inside) > 1 and inside[1].start_point.row - inside[0].end_point.row > 1
    imports = len(inside) > 1 and inside[1].type == "import_statement"
    return jsdoc.cleaned(text) if about or gap or imports else ""


def _problem(low: Lowerer, root: Node) -> str:
    if not root.has_error:
        return ""
    count, line = grammar.first_errors(root)
    return f"{counted(count, 'syntax error')}, the first in line {line}"
