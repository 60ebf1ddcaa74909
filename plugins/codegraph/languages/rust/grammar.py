"""The parser of Rust, made when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser


@cache
def parser() -> Parser:
    """The parser. One serves a whole process: parsing holds the interpreter's lock."""
    import tree_sitter_rust
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_rust.language()))
