"""What another MCP server wrote, and a plugin hands on as it stands.

Nothing of it is parsed into models and written anew: a field that this portal does not know is
still there for a client that does. Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.contract.failures import ToolFailed

SOURCE_MARK = "porch/server"
"""The key of an entry's ``_meta`` for how its source is now. Lists show it, and clients are not
told when it alone changes: a source that comes and goes must not have everybody list again."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a declaration comes from that another server made.

    Attributes:
        key: what ``tiers.yaml`` and the records call it, whatever clients do: the server's name
            and its own, such as ``github/search_code``.
        entry: it in the server's list, as JSON values. Lists show it as it is, with the
            declaration's name or URI in place of the server's.
    """

    key: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Relayed:
    """A result of another server: of ``tools/call``, ``prompts/get``, ``resources/read`` or
    ``completion/complete``.

    Attributes:
        result: the result object as it came in, in either era.
    """

    result: Mapping[str, Any]


class RelayedError(ToolFailed):
    """A JSON-RPC error of another server, which the client gets with its code and data.

    Args:
        number: JSON-RPC's code, such as -32602.
        message: the server's sentence.
        data: its data, if any.
    """

    def __init__(self, number: int, message: str, data: Any = None) -> None:
        details = data if isinstance(data, Mapping) else {} if data is None else {"data": data}
        super().__init__("upstream_error", message, details)
        self.number = number
