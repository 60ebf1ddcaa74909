"""A SCIP index as plain data: documents, and the occurrences of symbols in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from plugins.codegraph.scip.protobuf import BrokenIndex, fields, numbers

DEFINITION = 1
IMPORT = 2
_LOCAL = "local "


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a symbol; lines and columns count from 0."""

    symbol: str
    line: int
    start: int
    end: int
    roles: int = 0

    @property
    def defines(self) -> bool:
        """Whether it is the symbol's definition."""
        return bool(self.roles & DEFINITION)


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the index.

    Attributes:
        path: relative to the indexed directory, with ``/``.
        occurrences: in the order of the file.
        parents: by symbol, the symbols that it implements or extends.
        utf8: whether columns count bytes; if not, they count UTF-16 units.
    """

    path: str
    occurrences: tuple[Occurrence, ...] = ()
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    utf8: bool = False


def decoded(data: bytes) -> list[Document]:
    """The documents of an index.

    Raises:
        BrokenIndex: the data is truncated or not an index.
    """
    return [_document(_bytes(value)) for number, value in fields(data) if number == 2]


def _document(data: bytes) -> Document:
    path, utf8 = "", False
    occurrences: list[Occurrence] = []
    parents: dict[str, tuple[str, ...]] = {}
    for number, value in fields(data):
        if number == 1:
            path = _text(value).replace("\\", "/")
        elif number == 2:
            occurrences.append(_occurrence(_bytes(value)))
        elif number == 3:
            symbol, above = _information(_bytes(value))
            if above:
                parents[_own(symbol, path)] = above
        elif number == 6:
            utf8 = value == 1
    own = tuple(
        Occurrence(_own(each.symbol, path), each.line, each.start, each.end, each.roles)
        for each in occurrences
    )
    return Document(path, own, parents, utf8)


def _own(symbol: str, path: str) -> str:
    """A symbol that is unique in the index: local symbols are qualified by their file."""
    return f"{path} {symbol}" if symbol.startswith(_LOCAL) else symbol


def _occurrence(data: bytes) -> Occurrence:
    place: list[int] = []
    symbol, roles = "", 0
    for number, value in fields(data):
        if number == 1:
            place += numbers(value) if isinstance(value, bytes) else [value]
        elif number == 2:
            symbol = _text(value)
        elif number == 3 and isinstance(value, int):
            roles = value
    if len(place) not in (3, 4):
        raise BrokenIndex(f"a range has {len(place)} numbers")
    return Occurrence(symbol, place[0], place[1], place[-1], roles)


def _information(data: bytes) -> tuple[str, tuple[str, ...]]:
    symbol = ""
    above: list[str] = []
    for number, value in fields(data):
        if number == 1:
            symbol = _text(value)
        elif number == 4:
            related = dict(fields(_bytes(value)))
            if related.get(3):
                above.append(_text(related.get(1, b"")))
    return symbol, tuple(above)


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise BrokenIndex("a number stands where a message belongs")
    return value


def _text(value: int | bytes) -> str:
    return _bytes(value).decode("utf-8", "replace")
