"""Which occurrences of a symbol are calls: a SCIP index has the place of a symbol, but not its
use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plugins.codegraph.scip.index import Document

_CALL = re.compile(r"\s*(?:\?\.\s*)?(?:<[^<>()=;{}]*(?:<[^<>()]*>[^<>()=;{}]*)*>)?\s*\(")
_TEMPLATE = re.compile(r"\s*`")
_NEW = re.compile(r"\bnew\s+(?:[\w$]+\s*\.\s*)*$")
_DECORATOR = re.compile(r"^\s*@(?:[\w$]+\s*\.\s*)*$")
_COMPONENT = re.compile(r"(?:^|[^\w$])<(?:[\w$]+\.)*$")
_DECLARES = re.compile(r"(?:\bfunction\s*\*?|\bdef|\bclass|\bimport|\bfrom)\s+$")
_METHOD = re.compile(r"\s*\([^()]*\)[^;{}()\n]*\{[^\n}]*\n")
_WORDS = frozenset({"async", "get", "set", "static"})
_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


@dataclass(frozen=True, slots=True)
class Site:
    """A call: the called symbol, and the line of its name, from 1."""

    symbol: str
    line: int
    name: str
    opens: bool = False
    """Whether the line begins with it, like a method definition in an object literal."""


def calls(document: Document, source: bytes) -> Iterator[Site]:
    """The calls among a document's occurrences.

    Args:
        document: the file in the index.
        source: the file's bytes, identical to what the indexer read.
    """
    lines = source.decode("utf-8", "replace").split("\n")
    script = document.path.endswith(_SCRIPTS)
    for each in document.occurrences:
        if each.defines or each.line >= len(lines):
            continue
        text = lines[each.line]
        start, end = each.start, each.end
        if not text.isascii():
            start, end = _column(text, start, document.utf8), _column(text, end, document.utf8)
        before, after = text[:start], text[end:]
        if each.line + 1 < len(lines):
            after += "\n" + lines[each.line + 1][:200]
        if _is_call(before, after, script=script):
            yield Site(each.symbol, each.line + 1, text[start:end], _opens(before))


def _is_call(before: str, after: str, *, script: bool) -> bool:
    if _DECLARES.search(before) or (_METHOD.match(after) and _opens(before)):
        return False
    if not script:
        return after.lstrip(" ").startswith("(") or _DECORATOR.match(before) is not None
    if _CALL.match(after) or _NEW.search(before):
        return True
    if _TEMPLATE.match(after) or _DECORATOR.match(before):
        return True
    return _COMPONENT.search(before) is not None and after[:1] in (" ", ">", "/", "\n", "")


def _opens(before: str) -> bool:
    """Whether only method modifiers precede."""
    return not before.strip(" \t*") or before.strip() in _WORDS


def _column(text: str, column: int, utf8: bool) -> int:
    """A column in characters, from one in bytes (``utf8``) or UTF-16 units."""
    encoding, unit = ("utf-8", 1) if utf8 else ("utf-16-le", 2)
    return len(text.encode(encoding, "surrogatepass")[: column * unit].decode(encoding, "ignore"))
