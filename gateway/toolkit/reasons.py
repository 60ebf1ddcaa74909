"""Why something failed, in a line for an admin."""

from __future__ import annotations

from typing import Any

from gateway.contract.backend_errors import is_outage

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


def log_fields(error: BaseException) -> dict[str, Any]:
    """What a line of the log has of a failure, as keywords.

    A database that is away has its reason: it is nobody's fault here, and a traceback of each who
    met it would bury that. Anything else has its traceback.

    Args:
        error: why something failed.
    """
    if is_outage(error):
        return {"reason": said_by(error).partition("\n")[0]}
    return {"exc_info": error}
