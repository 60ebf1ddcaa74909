"""YAML frontmatter, read with line numbers and without trust.

Notes come from many hands. The YAML is read event by event: only plain values, no tags, no
aliases (which can blow up without bound), no deep nesting (which crashes recursive loaders), no
key twice. Dates and decimals stay text, as written, so that a title ``1.10`` remains one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import yaml

MAX_DEPTH = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE = re.compile(r"^---[ \t]*\n(?:(.*?)\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")


Severity: TypeAlias = Literal["error", "warning", "secret"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something a member should mend in a note.

    Attributes:
        path: the note.
        line: where, from 1.
        reason: what is wrong and what to do.
        severity: ``error``: the note, as it stands, is not served though it asks to be;
            ``warning``: it is, or does not ask; ``secret``: a secret that stands there is left out.
        once: whether it is told once for all the notes that have it.
    """

    path: str
    line: int
    reason: str
    severity: Severity = "error"
    once: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


def summed(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, and those that are told once at the first note that has them."""
    told = list(problems)
    repeated = Counter(one.reason for one in told if one.once)
    found: list[Problem] = []
    for one in told:
        others = repeated.pop(one.reason, 0) - 1 if one.once else 0
        if others > 0:
            found.append(replace(one, reason=f"{one.reason} (and in {others} more)"))
        elif others == 0:
            found.append(one)
    return found


class BrokenNote(ValueError):
    """A note that cannot be read at all.

    Args:
        line: where, from 1.
        reason: what is wrong and what to do.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a note says about itself.

    Attributes:
        fields: keys and JSON values, without those that are null or empty.
        lines: the line of each key, from 1.
        body: the markdown below.
        present: whether the note has frontmatter at all.
    """

    fields: dict[str, Any]
    lines: dict[str, int]
    body: str
    present: bool


def read(data: bytes) -> Frontmatter:
    """Split a note into its frontmatter and its body.

    A byte order mark and Windows line ends are dropped.

    Args:
        data: the file's bytes.

    Raises:
        BrokenNote: it is not UTF-8, or its frontmatter is not a mapping in plain YAML.
    """
    text = _decode(data)
    match = _FENCE.match(text)
    if match is None:
        if re.match(r"---[ \t]*\n", text):
            raise BrokenNote(1, "the frontmatter that begins here is never closed with ---")
        return Frontmatter({}, {}, text.strip("\n"), present=False)
    mapping = _mapping(match[1] or "")
    fields = {key: value for key, value in mapping.items.items() if value not in (None, "")}
    return Frontmatter(fields, mapping.lines, text[match.end() :].strip("\n"), present=True)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"not UTF-8 (byte 0x{data[error.start]:02X}); save the file as UTF-8"
        raise BrokenNote(line, reason) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(slots=True)
class _Mapping:
    """A mapping being read; ``key`` waits for its value."""

    items: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    key: str | None = None

    def add(self, value: Any, written: str | None, line: int) -> None:
        if self.key is not None:
            self.items[self.key] = value
            self.key = None
        elif written is None:
            raise BrokenNote(line, "a key must be plain text; put quotes around {{...}} and [...]")
        elif written in self.items:
            first = self.lines[written]
            raise BrokenNote(line, f"the key {written!r} is here twice (first on line {first})")
        else:
            self.key = written
            self.lines[written] = line


@dataclass(slots=True)
class _Sequence:
    """A list being read."""

    items: list[Any] = field(default_factory=list)

    def add(self, value: Any, written: str | None, line: int) -> None:
        self.items.append(value)


def _mapping(text: str) -> _Mapping:
    """Read the text of the frontmatter, which begins on the note's second line."""
    root: _Mapping | None = None
    nested: list[_Mapping | _Sequence] = []
    for event, line in _events(text):
        if isinstance(event, yaml.CollectionStartEvent):
            nested.append(_opened(event, line, len(nested)))
            root = root or _root(nested[0])
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = nested.pop()
            if nested:
                nested[-1].add(closed.items, None, line)
        elif nested:
            nested[-1].add(_value(event), event.value, line)
        elif _value(event) is not None:
            _root(None)
    return root or _Mapping()


def _root(outermost: _Mapping | _Sequence | None) -> _Mapping:
    if not isinstance(outermost, _Mapping):
        raise BrokenNote(2, "the frontmatter is not made of `key: value` lines")
    return outermost


def _opened(event: yaml.CollectionStartEvent, line: int, depth: int) -> _Mapping | _Sequence:
    if depth >= MAX_DEPTH:
        raise BrokenNote(line, f"nested more than {MAX_DEPTH} levels deep")
    return _Mapping() if isinstance(event, yaml.MappingStartEvent) else _Sequence()


def _events(text: str) -> Iterator[tuple[Any, int]]:
    """The events that carry values, each with its line in the note."""
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            line = event.start_mark.line + 2 if event.start_mark else 2
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise BrokenNote(line, "a second YAML document begins here")
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                _refuse_marks(event, line)
                yield event, line
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenNote(mark.line + 2 if mark else 1, f"broken YAML: {_reason(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 2
        raise BrokenNote(line, f"broken YAML: {error.reason}") from error


def _refuse_marks(event: yaml.Event, line: int) -> None:
    if getattr(event, "anchor", None):
        raise BrokenNote(line, "anchors (&) and aliases (*) are not read; use quotes")
    if tag := getattr(event, "tag", None):
        raise BrokenNote(line, f"the tag {tag} is not read; use quotes")


def _reason(error: yaml.MarkedYAMLError) -> str:
    """What the parser says, with a hint for the slip behind most of its complaints."""
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if "mapping values are not allowed" in said:
        return f"{said}; put quotes around a text that holds a colon"
    return said


def _value(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar: text, unless it is plain and reads as null, a truth or an integer."""
    written: str = event.value
    if event.style is not None and event.style != "":
        return written
    if written in _NULL:
        return None
    if written in _TRUE or written in _FALSE:
        return written in _TRUE
    return int(written) if _INTEGER.fullmatch(written) else written
