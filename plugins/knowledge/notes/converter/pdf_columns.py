"""Pages in two columns: the one on the left is read first, or that on the right in some scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

MIN_LINES = 8
"""So many lines have to stand on each side: fewer are a letterhead, or a table."""
MIN_WIDTH = 0.3
"""So much of the page's text has a line on each side to be wide: narrower ones are a table's."""
MAX_ACROSS = 0.25
"""The most lines, of all, that may stand across both columns, as titles do."""
_STEPS = 40
_LINE = 6.0
"""Words whose middles lie nearer, in points, are taken for one line."""

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Box:
    """Where something stands on a page, in points from its upper left corner."""

    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """How far from the upper edge its middle is."""
        return (self.top + self.bottom) / 2


def in_columns(
    parts: Sequence[tuple[Box, Part]], *, from_right: bool = False
) -> Iterator[list[Part]]:
    """What stands on a page, in groups that are read one after the other.

    Args:
        parts: words and tables, each with its place.
        from_right: whether the column on the right is read first.
    """
    lines = _by_line(parts)
    gutter = _gutter(lines)
    if gutter is None:
        yield [part for _, part in parts]
        return
    first: list[Part] = []
    second: list[Part] = []
    across: list[Part] = []
    for line in lines:
        if _crosses(line, gutter):
            yield from filter(None, (first, second))
            first, second = [], []
            across += [part for _, part in line]
            continue
        yield from filter(None, (across,))
        across = []
        for box, part in line:
            is_first = (box.right <= gutter) != from_right
            (first if is_first else second).append(part)
    yield from filter(None, (across, first, second))


def _by_line(parts: Sequence[tuple[Box, Part]]) -> list[list[tuple[Box, Part]]]:
    lines: list[list[tuple[Box, Part]]] = []
    for part in sorted(parts, key=lambda part: part[0].middle):
        if not lines or part[0].middle - lines[-1][0][0].middle > _LINE:
            lines.append([])
        lines[-1].append(part)
    return lines


def _crosses(line: Sequence[tuple[Box, Part]], gutter: float) -> bool:
    """Whether words stand over the gutter, or as near to each other as words of one text."""
    before = max((box.right for box, _ in line if box.left < gutter), default=float("-inf"))
    after = min((box.left for box, _ in line if box.left >= gutter), default=float("inf"))
    return before > gutter or after - before < _LINE


def _gutter(lines: Sequence[Sequence[tuple[Box, Part]]]) -> float | None:
    """Where two columns of text part, or None on a page that has but one."""
    boxes = [box for line in lines for box, _ in line]
    if len(lines) < MIN_LINES:
        return None
    begins, ends = min(box.left for box in boxes), max(box.right for box in boxes)
    places = [begins + (ends - begins) * (0.35 + 0.3 * step / _STEPS) for step in range(_STEPS + 1)]
    crossings = [sum(_crosses(line, place) for line in lines) for place in places]
    fewest = min(crossings)
    if fewest > MAX_ACROSS * len(lines):
        return None
    free = [place for place, many in zip(places, crossings, strict=True) if many == fewest]
    gutter = free[len(free) // 2]
    apart = [line for line in lines if not _crosses(line, gutter)]
    least = MIN_WIDTH * (ends - begins)
    sides = [[_width(line, gutter, on_left=side) for line in apart] for side in (True, False)]
    wide = [sum(width >= least for width in widths) for widths in sides]
    return gutter if min(wide) >= MIN_LINES else None


def _width(line: Sequence[tuple[Box, Part]], gutter: float, *, on_left: bool) -> float:
    """How wide the text of a line is on one side."""
    boxes = [box for box, _ in line if (box.right <= gutter) == on_left]
    return max(box.right for box in boxes) - min(box.left for box in boxes) if boxes else 0
