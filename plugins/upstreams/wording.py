"""Sentences for an admin, who reads them in a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.contract import near


def visible(text: str) -> str:
    """A text in which no character moves the cursor, breaks the line or hides.

    Args:
        text: as a server wrote it.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def no_such(what: str, name: str, valid: Sequence[str]) -> str:
    """The sentence for a name that nothing has, with what is near it."""
    nearest = near(name, valid)
    hint = f" Did you mean {', '.join(nearest)}?" if nearest else ""
    return f"There is no {what} {name!r}.{hint}"
