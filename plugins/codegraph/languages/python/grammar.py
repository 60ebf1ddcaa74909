"""The parser, made once a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser


@cache
def parser() -> Parser:
    """Tree-sitter's parser for Python."""
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))
