"""Pages whose text is drawn sideways, as wide tables are, with their letters turned upright."""

from __future__ import annotations

from typing import Any

from pdfplumber.page import Page

Letter = dict[str, Any]


def upright_letters(page: Page) -> list[Letter] | None:
    """The letters of a page, as they stand when it is turned; None where most stand upright.

    Args:
        page: what is looked at.
    """
    upward = [one for one in page.chars if _slope(one) > 0]
    downward = [one for one in page.chars if _slope(one) < 0]
    if 2 * max(len(upward), len(downward)) <= len(page.chars):
        return None
    if len(upward) >= len(downward):
        height = page.height
        return [
            _turned(one, (height - one["bottom"], height - one["top"]), (one["x0"], one["x1"]))
            for one in upward
        ]
    width = page.width
    return [
        _turned(one, (one["top"], one["bottom"]), (width - one["x1"], width - one["x0"]))
        for one in downward
    ]


def _slope(letter: Letter) -> float:
    """Above zero where a line goes straight up, below where it goes down, else zero."""
    across, up, *_ = letter["matrix"]
    return float(up) if abs(across) < 0.01 * abs(up) else 0


def _turned(letter: Letter, across: tuple[float, float], down: tuple[float, float]) -> Letter:
    (x0, x1), (top, bottom) = across, down
    place = {"x0": x0, "x1": x1, "top": top, "bottom": bottom, "doctop": top}
    return {**letter, **place, "size": bottom - top, "upright": True}
