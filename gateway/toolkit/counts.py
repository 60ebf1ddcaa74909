"""Numbers of things, as they are said."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: object, one: str, several: str = "") -> str:
    """A number and what it counts: ``1 caller``, ``2,000 callers``, ``3 people``.

    Args:
        count: how many there are.
        one: the word for one of them.
        several: the word for more, where it is not ``one`` with an s.

    Returns:
        What is said; "" of what is no whole number, as a template may ask for what is not there.
    """
    if not isinstance(count, int):
        return ""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
