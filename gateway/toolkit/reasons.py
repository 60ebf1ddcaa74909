"""Why something failed, in a line for an admin."""

from __future__ import annotations

_OURS = frozenset({"auth", "gateway", "plugins"})
"""The packages whose errors are written for people: who must act, what is wrong, what to do."""


def said_by(error: BaseException) -> str:
    """What an error says, with its kind where that is of somebody else and says more than it.

    Args:
        error: why something failed.
    """
    said, kind = str(error), type(error)
    ours = kind.__module__.partition(".")[0] in _OURS
    return said if ours and said else f"{kind.__name__}: {said}"
