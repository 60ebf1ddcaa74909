"""Cursors: where a page ended, sealed for the one person, tool and arguments that may go on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from auth import Caller
from auth.sealer import BadSeal, Sealer
from gateway.contract.failures import ToolFailed

if TYPE_CHECKING:
    from gateway.catalog.items import Item

CURSOR_LIFETIME_SECONDS = 24 * 3600
"""Seconds for which a list can be gone on with."""
INVALID = "invalid_cursor"
_REFUSED = (
    "This cursor is not good here: it was given with other arguments, to somebody else, or more "
    "than a day ago. Ask again without a cursor."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended.

    Attributes:
        key: what the last result on it is known by.
        offset: how many results stood up to it, that one included.
    """

    key: Any
    offset: int


class Cursors:
    """Seals places into cursors that are good for one person, one tool and its other arguments.

    Args:
        sealer: makes what no client can.
    """

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def seal(self, place: Place, purpose: str) -> str:
        """A cursor that leads to a place, for one purpose (:func:`purpose_of`)."""
        return self._sealer.seal({"p": [place.key, place.offset]}, CURSOR_LIFETIME_SECONDS, purpose)

    def open(self, cursor: Any, purpose: str) -> Place | None:
        """The place that a cursor leads to; None where there is no cursor.

        Raises:
            ToolFailed: it is not ours, or for another person, tool or other arguments, or old.
        """
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str):
            raise ToolFailed(INVALID, _REFUSED)
        try:
            return Place(*self._sealer.open(cursor, purpose)["p"])
        except BadSeal:
            raise ToolFailed(INVALID, _REFUSED) from None


def purpose_of(item: Item, args: Any, caller: Caller) -> str:
    """What a cursor is good for: this person, this tool, these other arguments."""
    asked = json.dumps(to_jsonable_python(args, fallback=str), sort_keys=True)
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{caller.person or ''}\0{item.key}\0{digest}"
