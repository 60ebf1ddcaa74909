"""The state of an unfinished answer, signed (MCP 2026-07-28, SEP-2322).

A ``requestState`` comes back from the client, so it is an attacker's to write: what leaves the
portal is bound to the person, to the method, item and arguments, and to ten minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

from auth import Caller
from gateway.contract import ToolFailed

BAD_STATE = "bad_request_state"

LIFETIME = 600
"""Seconds in which an answer may be continued."""


class StateSigner:
    """Signs and checks request states.

    Args:
        key: the same on every replica.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, state: str, caller: Caller, purpose: str) -> str:
        """Sign a plugin's state for one caller and one purpose: a digest of what is asked."""
        payload = f"{int(time.time()) + LIFETIME}.{state}".encode()
        encoded = base64.urlsafe_b64encode(payload).decode()
        return f"{encoded}.{self._sign(encoded, caller, purpose)}"

    def open(self, sealed: str, caller: Caller, purpose: str) -> str:
        """The plugin's state.

        Raises:
            ToolFailed: the state is not ours, another caller's, for something else, or old.
        """
        encoded, _, signature = sealed.partition(".")
        expected = self._sign(encoded, caller, purpose)
        if not hmac.compare_digest(expected.encode(), signature.encode()):
            raise ToolFailed(BAD_STATE, "requestState is not valid here. Start again.")
        until, _, state = base64.urlsafe_b64decode(encoded).decode().partition(".")
        if time.time() > int(until):
            raise ToolFailed(BAD_STATE, "requestState has expired. Start again.")
        return state

    def _sign(self, encoded: str, caller: Caller, purpose: str) -> str:
        text = "\0".join(("mcp-state", caller.person or "", purpose, encoded))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
