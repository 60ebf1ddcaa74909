"""How each client is told of many tools: the table of ``portal.yaml``, then the shipped rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gateway.config.tools import ClientRow, Mode

SHIPPED = (
    # It loads what it needs by itself, but for tools with `_meta["anthropic/alwaysLoad"]`.
    ClientRow(client="claude-code*", mode="deferred"),
    # It puts tools into groups by itself where there are many.
    ClientRow(client="visual studio code*", mode="full"),
    # Who looks with it wants to see what there is.
    ClientRow(client="*inspector*", mode="full"),
    # The portal's own command line and testing kit.
    ClientRow(client="porch", mode="full"),
    ClientRow(client="*", mode="search"),
)
"""Rows that hold where none of the admin's fits; the last fits everybody."""
_GROUPS = ("extensions", "experimental")
_MAX_NAME_CHARACTERS = 200


class ClientTable:
    """Says how a client is told of tools that are over the budget.

    Args:
        rows: the admin's, which come before the shipped ones.
    """

    def __init__(self, rows: Sequence[ClientRow] = ()) -> None:
        self._rows = [
            (row.client.casefold(), row.capability, row.mode) for row in (*rows, *SHIPPED)
        ]

    def mode(self, info: Any, capabilities: Any) -> Mode:
        """The mode of a client.

        Args:
            info: its ``clientInfo`` as it came in; one that says no name has none.
            capabilities: what it declares.
        """
        name = info.get("name") if isinstance(info, Mapping) else None
        folded = name[:_MAX_NAME_CHARACTERS].casefold() if isinstance(name, str) else ""
        declared = _declared(capabilities)
        for pattern, capability, mode in self._rows:
            if fnmatchcase(folded, pattern) and (capability is None or capability in declared):
                return mode
        return "search"  # not reached: the last row fits everybody


def _declared(capabilities: Any) -> set[str]:
    if not isinstance(capabilities, Mapping):
        return set()
    groups = (capabilities.get(group) for group in _GROUPS)
    within = (name for group in groups if isinstance(group, Mapping) for name in group)
    return {*capabilities, *within}
