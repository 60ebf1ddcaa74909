"""PDF as Markdown: its headings by the size of their letters, its tables, and its pages.

A page that does not begin with a heading of its own begins with one that says which page it is, so
that whatever is found can be cited by its page.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pdfplumber

from plugins.knowledge.notes.converter.pdf_page import Block, Line, Table, blocks_of
from plugins.knowledge.notes.converter.properties import Properties

HEADING_RATIO = 1.15
"""So many times the size of most letters are those of a heading."""
MAX_HEADING_CHARACTERS = 200
MAX_LEVELS = 4
PARAGRAPH_GAP = 0.55
"""So many times the size of its letters lie above the line that begins a paragraph."""
MIN_REPEATED = 3
"""What stands at the top or bottom of so many pages, and of half of them, is no text of them."""
_EDGES = ((0, 1), (0, 1), (-1, -2), (-1, -2))
"""Where such lines stand on a page, and what is beside them; two at each end are looked at."""

_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad]$")
_SPACED = re.compile(r"(#{1,6}|\d{1,9}[.)])[ ]")
_SPECIAL = re.compile(r">|```|~~~|\+\+\+|[=-]{2,}\s*$")
"""Where a line begins that Markdown would take for something else than text."""
_LEADER = re.compile(r"(?:\. ?){4}")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the sizes of letters mean in one document.

    Attributes:
        body: the size of most of them.
        title: the lines that name the whole.
        levels: the level of the other headings of each larger size.
    """

    body: float
    title: frozenset[Block]
    levels: Mapping[float, int]

    def level(self, block: Block) -> int | None:
        """The level of a heading; None of what is none."""
        if not isinstance(block, Line) or not _may_be_heading(block, self.body):
            return None
        return 1 if block in self.title else self.levels.get(block.size)


def convert(data: bytes) -> str:
    """Make Markdown of a document; its information names title, date and author."""
    with pdfplumber.open(io.BytesIO(data)) as file:
        properties = _properties(file.metadata)
        pages: list[Sequence[Block]] = []
        for page in file.pages:
            pages.append(blocks_of(page))
            page.close()
    sizes = _sizes(pages)
    pages = _without_furniture(pages, sizes)
    return properties.with_text("\n\n".join(_parts(pages, sizes)))


def _properties(said: Mapping[str, object]) -> Properties:
    def text(name: str) -> str:
        value = said.get(name)
        if not isinstance(value, str):
            return ""
        try:  # many programs write UTF-8 where another encoding is meant
            return value.encode("latin-1").decode()
        except UnicodeError:
            return value

    date = text("ModDate") or text("CreationDate")
    return Properties(text("Title"), date, text("Lang"), text("Author").split(";"))


def _may_be_heading(line: Line, body: float) -> bool:
    is_large = line.size >= HEADING_RATIO * body and len(line.text) <= MAX_HEADING_CHARACTERS
    is_entry = _LEADER.search(line.text) is not None  # of a table of contents
    return is_large and not is_entry and any(map(str.isalpha, line.text))


def _sizes(pages: Sequence[Sequence[Block]]) -> Sizes:
    blocks = [block for page in pages for block in page]
    letters = Counter[float]()
    for block in blocks:
        if isinstance(block, Line):
            letters[block.size] += len(block.text)
    if not letters:
        return Sizes(0, frozenset(), {})
    body = letters.most_common(1)[0][0]
    larger = [one for one in blocks if isinstance(one, Line) and _may_be_heading(one, body)]
    title = _title(blocks, larger)
    sizes = sorted({line.size for line in larger[len(title) :]}, reverse=True)
    levels = {size: min(2 + at, MAX_LEVELS) for at, size in enumerate(sizes)}
    return Sizes(body, frozenset(title), levels)


def _title(blocks: Sequence[Block], headings: Sequence[Line]) -> Sequence[Line]:
    """The lines at the top that name the whole: the largest, and no chapter's.

    They are larger than all others, or another heading follows at once.
    """
    largest = max((line.size for line in headings), default=0)
    title: list[Line] = []
    for line in headings:
        if line.size != largest or (title and not _is_below(title[-1], line)):
            break
        title.append(line)
    if not title:
        return ()
    after = blocks[blocks.index(title[-1]) + 1 :][:1]
    others = headings[len(title) :]
    stands_alone = all(line.size < largest for line in others)
    return title if stands_alone or (others and after == [others[0]]) else ()


def _without_furniture(pages: Sequence[Sequence[Block]], sizes: Sizes) -> list[Sequence[Block]]:
    """The pages without what each of them repeats at its top and bottom, such as its number."""

    def key(page: Sequence[Block], at: int, beside: int) -> str:
        """What stands at an edge, with its numbers made one; an empty text where it goes on."""
        if len(page) < 2 or not isinstance(block := page[at], Line):
            return ""
        first, second = (page[beside], block) if at else (block, page[beside])
        if _goes_on(first, second, sizes):
            return ""
        return block.text if sizes.level(block) else _DIGITS.sub("0", block.text)

    found = list(pages)
    for at, beside in _EDGES:
        keys = [key(page, at, beside) for page in found]
        times = Counter(keys)
        least = max(MIN_REPEATED, len(pages) / 2)
        kept = slice(0, -1) if at else slice(1, None)
        found = [
            page[kept] if text and times[text] >= least else page
            for page, text in zip(found, keys, strict=True)
        ]
    return found


def _parts(pages: Sequence[Sequence[Block]], sizes: Sizes) -> Iterator[str]:
    """Headings, paragraphs and tables."""
    deepest = 1
    for number, page in enumerate(pages, 1):
        if page and len(pages) > 1 and sizes.level(page[0]) is None:
            yield f"{'#' * (deepest + 1)} Page {number}"
        for group in _groups(page, sizes):
            if isinstance(group[0], Table):
                yield _table(group[0].rows)
            elif level := sizes.level(group[0]):
                deepest = level
                yield f"{'#' * level} {' '.join(_texts(group))}"
            else:
                yield _paragraph(_texts(group))


def _groups(page: Sequence[Block], sizes: Sizes) -> Iterator[list[Block]]:
    """Tables by themselves, and the lines of each heading and paragraph together."""
    held: list[Block] = []
    for block in page:
        if held and not _goes_on(held[-1], block, sizes):
            yield held
            held = []
        held.append(block)
    if held:
        yield held


def _goes_on(before: Block, block: Block, sizes: Sizes) -> bool:
    if not (isinstance(before, Line) and isinstance(block, Line)):
        return False
    if sizes.level(before) != sizes.level(block):
        return False
    return _is_below(before, block)


def _is_below(before: Line, line: Line) -> bool:
    """Whether a line goes on where the one before it ends."""
    gap = line.box.top - before.box.bottom
    return -line.size < gap <= PARAGRAPH_GAP * line.size


def _texts(group: Iterable[Block]) -> list[str]:
    return [block.text for block in group if isinstance(block, Line)]


def _paragraph(lines: Sequence[str]) -> str:
    """The lines, with the words that a hyphen parts at their ends made whole."""
    joined: list[str] = []
    for line in lines:
        parted = bool(joined) and line[:1].islower() and _HYPHEN.search(joined[-1])
        if parted:
            joined[-1] = _HYPHEN.sub("", joined[-1]) + line
        else:
            joined.append(line)
    return "\n".join(_escaped(line) for line in joined)


def _escaped(line: str) -> str:
    """A line that means what it says: of a number in front Markdown would make a list.

    A space that does not break ends that, and shows nothing to readers, as a backslash does.
    """
    if found := _SPACED.match(line):
        return f"{found[1]}\u00a0{line[found.end() :]}"
    return f"\\{line}" if _SPECIAL.match(line) else line


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = max(map(len, rows))
    whole = [[*row, *[""] * (width - len(row))] for row in rows]
    written = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in whole]
    return "\n".join([written[0], "|" + " --- |" * width, *written[1:]])
