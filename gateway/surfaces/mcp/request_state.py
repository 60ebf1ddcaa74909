"""The state of an unfinished answer, sealed (MCP 2026-07-28, SEP-2322).

A ``requestState`` comes back from the client, so it is an attacker's to write: what leaves the
portal is bound to the person, to the method, item and arguments, and to ten minutes.
"""

from __future__ import annotations

from auth import Caller
from auth.sealer import BadSeal, Sealer
from gateway.contract import ToolFailed

BAD_STATE = "bad_request_state"

STATE_LIFETIME_SECONDS = 600
"""Seconds in which an answer may be continued."""


class StateSigner:
    """Signs and checks request states.

    Args:
        key: the same on every replica.
    """

    def __init__(self, key: bytes) -> None:
        self._sealer = Sealer(key, "mcp-state")

    def seal(self, state: str, caller: Caller, purpose: str, lifetime: float | None = None) -> str:
        """Sign a state for one caller and one purpose, such as a digest of what is asked.

        Args:
            state: what is to come back.
            caller: the only one from whom it is taken.
            purpose: the only one for which it is taken.
            lifetime: seconds; by default those of an answer.
        """
        seconds = STATE_LIFETIME_SECONDS if lifetime is None else lifetime
        return self._sealer.seal({"state": state}, seconds, _whose(caller, purpose))

    def open(self, sealed: str, caller: Caller, purpose: str) -> str:
        """The plugin's state.

        Raises:
            ToolFailed: the state is not ours, another caller's, for something else, or old.
        """
        try:
            return str(self._sealer.open(sealed, _whose(caller, purpose))["state"])
        except BadSeal as bad:
            message = f"requestState is not valid here. {bad} Start again."
            raise ToolFailed(BAD_STATE, message) from None


def _whose(caller: Caller, purpose: str) -> str:
    return f"{caller.person or ''}\0{purpose}"
