"""One page of a PDF as lines and tables, in reading order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from pdfplumber.page import Page
from pdfplumber.utils.text import extract_words

from plugins.knowledge.notes.converter.pdf_columns import Box, in_columns
from plugins.knowledge.notes.converter.pdf_direction import (
    in_reading_order,
    is_from_right,
    split_as_seen,
)
from plugins.knowledge.notes.converter.pdf_sideways import upright_letters

MAX_DRAWN = 2_000
"""With more lines and rectangles a page is a drawing, in which no table is looked for."""
CELL_GAP = 1.1
"""So many times the size of its letters lie at least between two cells of a line."""
MIN_ROWS = 3
"""So many lines with cells below each other are a table that nobody drew."""

_MARKER = re.compile(r"[•◦▪‣·*\u2013-]|\(?\w{1,3}[.)]|\[\d{1,3}\]")
"""What begins an item of a list, and is no cell though a gap follows."""
_UNKNOWN = re.compile(r"\(cid:\d{1,6}\)")
Word: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of a line that stand together; ``x0`` and ``x1``: where they begin and end."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text.

    Attributes:
        box: where it stands.
        size: of most of its letters.
        cells: its words, in as many parts as have wide gaps between them.
    """

    box: Box
    size: float
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(_as_read([cell.text for cell in self.cells]))


@dataclass(frozen=True, slots=True)
class Table:
    """A table, by its rows; ``box``: where it stands."""

    box: Box
    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = Line | Table


def blocks_of(page: Page) -> list[Block]:
    """The lines and the tables of a page."""
    if _is_doubled(page):
        page = page.dedupe_chars()
    split_as_seen(page.chars)
    turned = upright_letters(page)
    tables = list(_drawn_tables(page)) if turned is None else []
    letters = page.chars if turned is None else turned
    words = extract_words(letters, x_tolerance_ratio=0.15, extra_attrs=["size"])
    upright = [word for word in words if word["upright"]] or words
    free = [word for word in upright if not any(_is_in(word, table.box) for table in tables)]
    parts: list[tuple[Box, Table | Word]] = [(table.box, table) for table in tables]
    parts += [(_box(word), word) for word in free]
    found: list[Block] = []
    from_right = is_from_right("".join(word["text"] for word in free))
    for column in in_columns(parts, from_right=from_right):
        set_apart = [one for one in column if isinstance(one, Table)]
        lines = _lines([one for one in column if not isinstance(one, Table)])
        found += _with_tables(sorted([*set_apart, *lines], key=lambda block: block.box.top))
    return found


def _is_doubled(page: Page) -> bool:
    """Whether letters are drawn twice at one place, as what is to look bold often is."""
    places = {(one["text"], round(one["x0"]), round(one["top"])) for one in page.chars}
    return len(places) < len(page.chars)


def _drawn_tables(page: Page) -> Iterator[Table]:
    """The tables with a grid; a frame around a text is none."""
    if not 0 < len(page.lines) + len(page.rects) + len(page.curves) <= MAX_DRAWN:
        return
    for table in page.find_tables():
        rows = [[_tidy(cell or "") for cell in row] for row in table.extract()]
        rows = [row for row in rows if any(row)]
        filled = sum(bool(cell) for row in rows for cell in row)
        cells = sum(map(len, rows))
        if len(rows) > 1 and len(rows[0]) > 1 and filled * 2 >= cells:
            left, top, right, bottom = table.bbox
            yield _table(Box(left, right, top, bottom), rows)


def _table(box: Box, rows: Sequence[Sequence[str]]) -> Table:
    """A table; one in a script from the right has its first column on the right."""
    turned = is_from_right("".join(cell for row in rows for cell in row))
    return Table(box, tuple(tuple(row[::-1] if turned else row) for row in rows))


def _lines(words: Sequence[Word]) -> list[Line]:
    """The lines that words stand on, from the top."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=_middle):
        if rows and _middle(word) - _middle(rows[-1][0]) <= 0.4 * (word["bottom"] - word["top"]):
            rows[-1].append(word)
        else:
            rows.append([word])
    made = (_line(sorted(row, key=lambda word: word["x0"])) for row in rows)
    return [line for line in made if line.cells]


def _line(words: Sequence[Word]) -> Line:
    sizes = Counter[float]()
    for word in words:
        sizes[round(word["size"] * 2) / 2] += len(word["text"])
    size = sizes.most_common(1)[0][0]
    groups = [[words[0]]]
    for before, word in pairwise(words):
        apart = word["x0"] - before["x1"] > CELL_GAP * size
        marker = len(groups[-1]) == 1 and _MARKER.fullmatch(before["text"])
        if apart and not (marker and len(groups) == 1):
            groups.append([])
        groups[-1].append(word)
    cells = (
        Cell(_tidy(" ".join(word["text"] for word in group)), group[0]["x0"], group[-1]["x1"])
        for group in groups
    )
    box = Box(
        words[0]["x0"],
        max(word["x1"] for word in words),
        min(word["top"] for word in words),
        max(word["bottom"] for word in words),
    )
    return Line(box, size, tuple(cell for cell in cells if cell.text))


def _with_tables(blocks: Sequence[Block]) -> Iterator[Block]:
    """The same, where lines with cells below each other are tables."""
    held: list[Line] = []
    for block in blocks:
        if isinstance(block, Line) and len(block.cells) > 1 and _fits(held, block):
            held.append(block)
            continue
        yield from _settled(held)
        held = [block] if isinstance(block, Line) and len(block.cells) > 1 else []
        if not held:
            yield block
    yield from _settled(held)


def _fits(held: Sequence[Line], line: Line) -> bool:
    """Whether a line has its cells below those of the lines above, and is not far from them."""
    if not held:
        return True
    if len(held[0].cells) != len(line.cells):
        return False
    if line.box.top - held[-1].box.bottom > 2 * line.size:
        return False
    rows = [*(one.cells for one in held), line.cells]
    columns = list(zip(*rows, strict=True))
    return all(
        max(cell.x1 for cell in left) < min(cell.x0 for cell in right)
        for left, right in pairwise(columns)
    )


def _settled(held: Sequence[Line]) -> Iterator[Block]:
    """Lines as a table, or as they are where they are too few."""
    if len(held) < MIN_ROWS:
        yield from held
        return
    first, last = held[0].box, held[-1].box
    rows = [[cell.text for cell in line.cells] for line in held]
    yield _table(replace(first, bottom=last.bottom), rows)


def _box(word: Word) -> Box:
    return Box(word["x0"], word["x1"], word["top"], word["bottom"])


def _middle(word: Word) -> float:
    return float(word["top"] + word["bottom"]) / 2


def _is_in(word: Word, box: Box) -> bool:
    across = (word["x0"] + word["x1"]) / 2
    return box.left <= across <= box.right and box.top <= _middle(word) <= box.bottom


def _as_read(cells: Sequence[str]) -> Sequence[str]:
    """The cells of a line from the left, in the order in which they are read."""
    return cells[::-1] if is_from_right("".join(cells)) else cells


def _tidy(seen: str) -> str:
    """What is seen in a cell, line by line, as it is read."""
    lines = map(in_reading_order, _UNKNOWN.sub("", seen).splitlines())
    return " ".join(" ".join(lines).split())
