"""What the entries of lists say of the server behind them, in their ``_meta``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.contract import SOURCE_MARK
from plugins.upstreams.catalogue.entries import Entry
from plugins.upstreams.servers.server import Server

Mark = Mapping[str, Any]
"""What is said of a server; empty where there is nothing to say."""


def marked(entry: Entry, mark: Mark) -> Entry:
    """An entry as lists show it: with what its callers may want to know before they call.

    Args:
        entry: it, as the server or ``portal.yaml`` says it.
        mark: what is said of the server.
    """
    if not mark:
        return entry
    return {**entry, "_meta": {**(entry.get("_meta") or {}), SOURCE_MARK: mark}}


def mark_of(server: Server) -> Mark:
    """That a server is down, since when; and that callers need accounts of their own there."""
    mark: dict[str, Any] = {}
    if server.state.is_down:
        mark |= {"state": "down", "since": server.state.since.isoformat(timespec="seconds")}
    if server.config.is_personal:
        mark["account"] = "own"
    return {"name": server.name, **mark} if mark else {}
