"""What of a request's ``_meta`` is for who answers it, and not for this hop alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gateway.scrubbing.contents import size_of

MAX_META_BYTES = 8 * 1024
"""About how large a caller's ``_meta`` may be that is handed on; nothing of a larger one is."""
_TRACE = frozenset({"traceparent", "tracestate"})
"""The trace context that goes on (SEP-414); ``baggage`` may say who somebody is, and does not."""
_HOP = frozenset({"progressToken", "baggage"})
_RESERVED = re.compile(r"[^/]*\b(?:modelcontextprotocol|mcp)\b[^/]*/", re.I)
"""Prefixes that MCP keeps for itself: they are between one client and one server."""
_OWN = "porch/"
_CREDENTIAL = re.compile(
    r"authori[sz]ation|cookie|credential|passw|secret|(?:^|[^a-z])(?:auth|jwt|bearer)(?:$|[^a-z])"
    r"|(?:access|refresh|api|id|session|bearer|o?auth)[-_.]?(?:token|key)|(?:^|[-_./])token$",
    re.I,
)


def handed_on(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a ``_meta`` that a plugin may hand on to a server of others.

    Args:
        meta: as the caller wrote it.

    Returns:
        It without what is of this hop, of the portal, or called like a credential; nothing where
        it is too large. The values may still hold secrets.
    """
    kept = {key: _without_credentials(value) for key, value in meta.items() if _goes_on(key)}
    return kept if kept and size_of(kept, MAX_META_BYTES) <= MAX_META_BYTES else {}


def _goes_on(key: str) -> bool:
    if key in _TRACE:
        return True
    is_hop = key in _HOP or key.startswith(_OWN) or _RESERVED.match(key) is not None
    return not is_hop and _CREDENTIAL.search(key) is None


def _without_credentials(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _without_credentials(each)
            for key, each in value.items()
            if _CREDENTIAL.search(key) is None
        }
    if isinstance(value, list):
        return [_without_credentials(each) for each in value]
    return value
