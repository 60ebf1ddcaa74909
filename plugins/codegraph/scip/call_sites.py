"""Which occurrences of a symbol are calls. An index says where a symbol stands, not what for."""

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
    """A call: the symbol that is called and the line, from 1, where its name stands."""

    symbol: str
    line: int
    name: str
    opens: bool = False
    """Whether the line begins with it, as that of a method in an object does."""


def calls(document: Document, source: bytes) -> Iterator[Site]:
    """The calls among a document's occurrences.

    Args:
        document: as the indexer saw the file.
        source: the file's bytes, the same as the indexer's.
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
    """Whether nothing but a method's own words stands before."""
    return not before.strip(" \t*") or before.strip() in _WORDS


def _column(text: str, column: int, utf8: bool) -> int:
    """A column in characters, given one in bytes or in UTF-16 units."""
    encoding, unit = ("utf-8", 1) if utf8 else ("utf-16-le", 2)
    return len(text.encode(encoding, "surrogatepass")[: column * unit].decode(encoding, "ignore"))
