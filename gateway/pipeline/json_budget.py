"""Make one JSON value fit into some bytes, without a cut inside of a value or a character."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_json

ELLIPSIS = "…"
MIN_STRING_BYTES = 80
"""Bytes of a string that is left whole while there is anything longer."""


def size(value: Any) -> int:
    """The bytes of a value's JSON."""
    return len(to_json(value, inf_nan_mode="null"))


def shorten(value: Any, limit: int) -> Any:
    """A value whose JSON has at most ``limit`` bytes, as far as cutting can bring it there.

    The longest strings are cut first, each to the same length; where that is not enough, the
    longest lists; and then strings again, down to nothing.

    Args:
        value: JSON values.
        limit: bytes.
    """
    texts = _fit(lambda most: _cut(value, most, None), MIN_STRING_BYTES, limit, limit)
    if size(texts) <= limit:
        return texts
    lists = _fit(lambda most: _cut(value, MIN_STRING_BYTES, most), 1, limit, limit)
    if size(lists) <= limit:
        return lists
    return _fit(lambda most: _cut(value, most, 1), 0, MIN_STRING_BYTES, limit)


def _fit(cut: Callable[[int], Any], least: int, most: int, limit: int) -> Any:
    """The largest cut between two that fits; the least one where none does."""
    while least < most:
        middle = (least + most + 1) // 2
        if size(cut(middle)) <= limit:
            least = middle
        else:
            most = middle - 1
    return cut(least)


def _cut(value: Any, text: int, items: int | None) -> Any:
    if isinstance(value, str):
        return _cut_text(value, text)
    if isinstance(value, Mapping):
        return {key: _cut(each, text, items) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(each, text, items) for each in value[:items]]
    return value


def _cut_text(value: str, most: int) -> str:
    if len(value) * 4 <= most:
        return value
    whole = value.encode()
    if len(whole) <= most:
        return value
    room = most - len(ELLIPSIS.encode())
    return whole[:room].decode("utf-8", "ignore") + ELLIPSIS if room > 0 else ""
