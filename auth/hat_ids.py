"""Hat ids of Hats Protocol: 256-bit numbers, which people write as paths such as ``30.3.1``.

The high 32 bits are the tree; fourteen levels of 16 bits follow, the most significant first.
Children count from 1, and below the last level that is used every bit is 0.
"""

from __future__ import annotations

import re

LEVELS = 14
"""Levels below a tree's top hat."""

_TREE_BITS = 32
_LEVEL_BITS = 16
_TREE_SHIFT = LEVELS * _LEVEL_BITS
_MAX_TREE = 2**_TREE_BITS - 1
_MAX_CHILD = 2**_LEVEL_BITS - 1

_HEX = re.compile(r"0x[0-9a-fA-F]{64}")
_NUMBER = re.compile(r"[1-9][0-9]*")


def parse(text: str) -> int:
    """Read a hat id.

    Args:
        text: a path (``30.3.1``; a number alone is a tree's top hat), ``0x`` and the 64
            hexadecimal digits of the id, or the id in decimal.

    Returns:
        The id.

    Raises:
        ValueError: it is none of these, or no hat can have this id.
    """
    if text[:2] in {"0x", "0X"}:
        if not _HEX.fullmatch(text):
            raise ValueError("a hat id in hexadecimal is 0x and 64 digits")
        return _checked(int(text, 16))
    if _NUMBER.fullmatch(text) and len(text) > len(str(_MAX_TREE)):
        # A path of one number ends where trees do, and ids begin far above that.
        return _checked(int(text) if len(text) < 80 else -1)
    return _of_path(text)


def path(hat: int) -> str:
    """The path of a hat id, such as ``30.3.1``.

    Raises:
        ValueError: no hat can have this id.
    """
    return ".".join(map(str, _parts(_checked(hat))))


def tree(hat: int) -> int:
    """The tree that a hat belongs to; a tree linked below another keeps its own number."""
    return hat >> _TREE_SHIFT


def _of_path(text: str) -> int:
    written = text.split(".")
    if not all(map(_NUMBER.fullmatch, written)):
        raise ValueError("must be a hat's path, such as 30.3.1, or its id as 0x and 64 digits")
    if len(written) > LEVELS + 1:
        raise ValueError(f"a hat's path has at most {LEVELS} levels below its tree")
    if any(len(part) > len(str(_MAX_TREE)) for part in written):
        raise ValueError(f"no tree is above {_MAX_TREE}, and no level above {_MAX_CHILD}")
    top, *below = map(int, written)
    if top > _MAX_TREE:
        raise ValueError(f"no tree is above {_MAX_TREE}")
    if any(part > _MAX_CHILD for part in below):
        raise ValueError(f"no level of a hat's path is above {_MAX_CHILD}")
    shifts = range(_TREE_SHIFT - _LEVEL_BITS, -1, -_LEVEL_BITS)
    return (top << _TREE_SHIFT) + sum(part << at for part, at in zip(below, shifts, strict=False))


def _parts(hat: int) -> list[int]:
    """The numbers of a path, without the unused levels at its end."""
    shifts = range(_TREE_SHIFT - _LEVEL_BITS, -1, -_LEVEL_BITS)
    parts = [hat >> _TREE_SHIFT, *((hat >> at) & _MAX_CHILD for at in shifts)]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return parts


def _checked(hat: int) -> int:
    if not 0 < hat < 2**256 or 0 in _parts(hat):
        raise ValueError("no hat can have this id: its tree, or a level above a used one, is 0")
    return hat
