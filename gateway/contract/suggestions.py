"""The names that somebody may have meant. Plugins reach it through :mod:`gateway.contract`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.6
"""How alike two names are at least, from 0 to 1: difflib's own measure and default."""
MAX_CHARACTERS = 200
"""Characters of a name that are compared; what is longer is no slip of a key."""


def near(name: str, valid: Iterable[str], most: int = 3) -> list[str]:
    """The valid names that are most like one that is not, the likest first; capitals do not count.

    Args:
        name: what was asked for.
        valid: what there is, and may be known to whoever asked.
        most: how many at most.
    """
    folded: dict[str, str] = {}
    for each in sorted(valid):
        folded.setdefault(each.casefold()[:MAX_CHARACTERS], each)
    found = difflib.get_close_matches(name.casefold()[:MAX_CHARACTERS], folded, most, CUTOFF)
    return [folded[each] for each in found]


def unknown(name: str, valid: Iterable[str], what: str = "key") -> str:
    """The reason for a name that is not valid: with the nearest valid one, or all of them."""
    names = sorted(valid)
    listed = f"; valid: {', '.join(names)}" if names else ""
    return f"unknown {what}{nearest(name, names) or listed}"


def nearest(name: str, valid: Iterable[str]) -> str:
    """``; did you mean NAME?`` with the valid name nearest to this one, or nothing."""
    found = near(name, valid, 1)
    return f"; did you mean {found[0]}?" if found else ""
