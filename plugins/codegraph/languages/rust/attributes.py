"""The doc comment and attributes above an item."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.codegraph.languages.builder import MAX_DOC_LENGTH

if TYPE_CHECKING:
    from tree_sitter import Node

    from plugins.codegraph.languages.builder import FactsBuilder

_MARKS = re.compile(r"^[ \t]*(//[/!]|/\*[*!]|\*(?!/)) ?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_TEST = re.compile(r"#\[\s*((\w+::)*(test|bench|rstest|test_case|proptest|quickcheck))\b")
_DERIVE = re.compile(r"derive\s*\(([^)]*)\)")
_WORD = re.compile(r"\w+")
_PATH = re.compile(r'#\[\s*path\s*=\s*"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Attributes:
    """The doc comment and attributes of an item.

    Attributes:
        doc: its doc comment, and the byte offset where the item begins with its comments and
            attributes.
        test: whether an attribute marks it as a test.
        path: the file named by ``#[path]``.
        derived: the traits that ``#[derive]`` implements.
    """

    doc: tuple[str, int] | None = None
    test: bool = False
    path: str = ""
    derived: tuple[str, ...] = ()


_NOTHING = Attributes()


def attributes(builder: FactsBuilder, node: Node) -> tuple[list[tuple[Node, Attributes]], str]:
    """The items in a node, each with its attributes, and the node's own inner doc comment."""
    found: list[tuple[Node, Attributes]] = []
    inner: list[str] = []
    over: list[Node] = []
    for child in node.children:
        kind = child.type
        if not child.is_named:
            continue
        if kind in ("line_comment", "block_comment"):
            text = builder.text(child)
            if text.startswith(("//!", "/*!")):
                inner.append(text)
            elif text.startswith(("///", "/**")):
                over.append(child)
        elif kind == "attribute_item":
            over.append(child)
        elif kind != "inner_attribute_item":
            found.append((child, _above(builder, over) if over else _NOTHING))
            over = []
    return found, _cleaned("".join(inner))


def _above(builder: FactsBuilder, over: list[Node]) -> Attributes:
    docs = [builder.text(each) for each in over if each.type != "attribute_item"]
    attributes = "\n".join(builder.text(each) for each in over if each.type == "attribute_item")
    path = _PATH.search(attributes)
    return Attributes(
        (_cleaned("".join(docs)), over[0].start_byte),
        _TEST.search(attributes) is not None,
        path.group(1) if path else "",
        tuple(word for each in _DERIVE.findall(attributes) for word in _WORD.findall(each)),
    )


def _cleaned(text: str) -> str:
    return _MARKS.sub("", text).strip()[:MAX_DOC_LENGTH]
