"""YAML, read without trust and written so that it reads the same again.

A file is read event by event: plain values only, no tags, no aliases (which can blow up without
bound), no deep nesting, no key twice. A plain word is a number only if it is written as JSON
writes that number: ``1.10``, ``007``, ``no`` and dates stay the text that they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from plugins.workflows.files.nodes import MAX_DEPTH, Broken, Listing, Mapping, Node, Scalar, add

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = re.compile(r"(?:~|null|Null|NULL)?")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")
_UNSEEN = re.compile(r"[\x85\u2028\u2029\ufeff]|[ \t](?=\n)|[ \t]\Z|\A[ \t\n]")


def read(text: str, first_line: int = 1) -> Node | None:
    """Read one YAML document; None where there is nothing in it.

    Args:
        text: with line feeds as its line ends.
        first_line: the line of the file on which the text begins.

    Raises:
        Broken: it is not YAML of the kind that is read here.
    """
    root: Node | None = None
    nested: list[_Open] = []
    for event, line in _events(text, first_line):
        if isinstance(event, yaml.CollectionStartEvent):
            if len(nested) >= MAX_DEPTH:
                raise Broken(line, f"nested more than {MAX_DEPTH} levels deep")
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            nested.append(_Open(Mapping(line) if is_mapping else Listing(line)))
            continue
        ended = isinstance(event, yaml.CollectionEndEvent)
        node = nested.pop().node if ended else _scalar(event, line)
        if nested:
            nested[-1].take(node)
        else:
            root = node
    return None if isinstance(root, Scalar) and root.value is None else root


class _Open:
    """A mapping or list whose end has not been read; ``key`` waits for its value."""

    def __init__(self, node: Mapping | Listing) -> None:
        self.node = node
        self.key: Scalar | None = None

    def take(self, node: Node) -> None:
        if isinstance(self.node, Listing):
            self.node.items.append(node)
        elif self.key is not None:
            add(self.node, self.key.text, node, self.key.line)
            self.key = None
        elif isinstance(node, Scalar):
            self.key = node
        else:
            raise Broken(node.line, "a key must be plain text; put quotes around {...} and [...]")


def _events(text: str, first_line: int) -> Iterator[tuple[Any, int]]:
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            line = first_line + (event.start_mark.line if event.start_mark else 0)
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise Broken(line, "a second YAML document begins here")
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                _refuse_marks(event, line)
                yield event, line
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = first_line + (mark.line if mark else 0)
        raise Broken(at, f"broken YAML: {_reason(error)}") from error
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", "it cannot be read")
        raise Broken(first_line, f"broken YAML: {reason}") from error


def _refuse_marks(event: yaml.Event, line: int) -> None:
    if getattr(event, "anchor", None):
        raise Broken(line, "anchors (&) and aliases (*) are not read; use quotes")
    if tag := getattr(event, "tag", None):
        raise Broken(line, f"the tag {tag} is not read; use quotes")


def _reason(error: yaml.MarkedYAMLError) -> str:
    """What the parser says, with a hint for the slip behind most of its complaints."""
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if "mapping values are not allowed" in said:
        return f"{said}; put quotes around a text that holds a colon"
    return said


def _scalar(event: yaml.ScalarEvent, line: int) -> Scalar:
    is_plain = not event.style
    return Scalar(line, event.value, _value(event.value) if is_plain else event.value)


def _value(written: str) -> str | int | float | bool | None:
    if _NULL.fullmatch(written):
        return None
    if _TRUE.fullmatch(written) or _FALSE.fullmatch(written):
        return written[0] in "tT"
    if _INTEGER.fullmatch(written):
        return int(written)
    if _DECIMAL.fullmatch(written) and repr(float(written)) == written:
        return float(written)
    return written


def write(values: Any) -> str:
    """JSON values as YAML that :func:`read` gives back exactly.

    Lines are not folded and keys keep their order, so that a change of one value is a change of
    its lines alone.
    """
    return yaml.dump(
        values,
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=float("inf"),
    )


class _Dumper(yaml.SafeDumper):
    """Quotes what any reader of YAML could take for something else than text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write what is there twice out twice."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _UNSEEN.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _decimal(dumper: yaml.SafeDumper, number: float) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:float", repr(number))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _decimal)
# What reads as a number here must not be written plain where it is a text.
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _DECIMAL, list("-0123456789"))
