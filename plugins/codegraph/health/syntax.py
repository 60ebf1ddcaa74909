"""What the syntax tree of a file says: branches by line, and what kind each import is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from plugins.codegraph.health.syntax_tables import BRANCHES, FUNCTIONS, IMPORTS
from plugins.codegraph.languages import base
from plugins.codegraph.languages.typescript import grammar

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_SCRIPTS = frozenset({"typescript", "javascript"})
MAX_BYTES = 1_000_000
"""A larger file is generated, and is not measured."""


class ImportTime(IntEnum):
    """When an import loads the other file; the lowest is the strongest."""

    LOADING = 0
    """When the file itself is loaded."""
    LATER = 1
    """When a function runs."""
    NEVER = 2
    """It is for types only."""


def branch_lines(language: str, path: str, source: bytes) -> list[int]:
    """The line of each branch of a file, from 1.

    Args:
        language: one of :data:`BRANCHES`.
        path: the file, whose ending may choose the grammar.
        source: its text.
    """
    root, query = _tree(language, path, source, BRANCHES)
    return [] if query is None else [node.start_point[0] + 1 for node in _nodes(query, root)]


def import_times(language: str, path: str, source: bytes) -> Mapping[int, ImportTime]:
    """When the import of each line loads the other file, by each line that it takes.

    An import that is missing loads it at once.

    Args:
        language: the file's.
        path: the file.
        source: its text.
    """
    root, query = _tree(language, path, source, IMPORTS)
    found: dict[int, ImportTime] = {}
    for node in () if query is None else _nodes(query, root):
        time = _time(node, language)
        for line in range(node.start_point[0] + 1, node.end_point[0] + 2):
            found[line] = min(time, found.get(line, ImportTime.NEVER))
    return found


def _time(node: Node, language: str) -> ImportTime:
    if language in _SCRIPTS:
        return ImportTime.NEVER if _is_for_types(node) else ImportTime.LOADING
    inner, around = node, node.parent
    while around is not None:
        if around.type in FUNCTIONS:
            return ImportTime.LATER
        if around.type == "if_statement" and inner == around.child_by_field_name("consequence"):
            condition = around.child_by_field_name("condition")
            if condition is not None and (condition.text or b"").endswith(b"TYPE_CHECKING"):
                return ImportTime.NEVER
        inner, around = around, around.parent
    return ImportTime.LOADING


def _is_for_types(node: Node) -> bool:
    """Whether a statement of TypeScript imports types only: as a whole, or name by name."""
    if any(each.type == "type" for each in node.children):
        return True
    names = [each for each in _below(node) if each.type in ("import_specifier", "export_specifier")]
    whole = any(each.type in ("namespace_import", "identifier") for each in _clause(node))
    return bool(names) and not whole and all(each.children[0].type == "type" for each in names)


def _clause(node: Node) -> Sequence[Node]:
    clause = next((each for each in node.children if each.type == "import_clause"), None)
    return () if clause is None else clause.children


def _below(node: Node) -> Iterator[Node]:
    todo = [node]
    while todo:
        each = todo.pop()
        yield each
        todo += each.children


def _tree(
    language: str, path: str, source: bytes, wanted: Mapping[str, tuple[str, ...]]
) -> tuple[Any, Query | None]:
    if language not in wanted or len(source) > MAX_BYTES:
        return None, None
    name = grammar.grammar_of(path, source) if language in _SCRIPTS else language
    return _parser(name).parse(source).root_node, _query(name, wanted[language])


@cache
def _parser(name: str) -> Parser:
    return grammar.parser(name) if name in ("ts", "tsx", "js") else base.parser(name)


@cache
def _query(name: str, kinds: tuple[str, ...]) -> Query:
    """A query that finds some kinds of nodes."""
    from tree_sitter import Query

    language = _parser(name).language
    if language is None:
        raise RuntimeError(f"The parser of {name} has no grammar.")
    each = (f"({kind})" if kind[0].isalpha() else f'"{kind}"' for kind in kinds)
    return Query(language, f"[{' '.join(each)}] @found")


def _nodes(query: Query, root: Node) -> list[Node]:
    from tree_sitter import QueryCursor

    return QueryCursor(query).captures(root).get("found", [])
