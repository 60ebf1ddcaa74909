"""The JSON-RPC envelope: what is checked before a method runs, and the errors of the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as mcp
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic_core import from_json, to_json

from gateway.pipeline.json_chunks import B, around
from gateway.surfaces.http.request_context import doubled
from gateway.toolkit.mcp_names import HEADER_MISMATCH
from gateway.toolkit.mirrored_headers import NAMED, decode

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
CANCELLED = -32800

_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}

_REQUIRED = dict.fromkeys((mcp.PROTOCOL_VERSION_META_KEY, mcp.CLIENT_CAPABILITIES_META_KEY))
"""What each request's ``_meta`` has, in the order in which errors name it."""
_ONCE = ("mcp-protocol-version", "mcp-method", "mcp-name")


class WireError(Exception):
    """A JSON-RPC error.

    Args:
        code: the JSON-RPC error code.
        message: what is wrong.
        data: JSON values for the client's program.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def status(self) -> int:
        """The HTTP status that goes with the code on the 2026-07-28 wire."""
        return _STATUS.get(self.code, 200)

    def body(self, request_id: Any) -> bytes:
        """The JSON-RPC error response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return to_json({"jsonrpc": "2.0", "id": request_id, "error": error})


def success(request_id: Any, result: B) -> B:
    """The JSON-RPC response around a result that is JSON already."""
    head = b'{"jsonrpc":"2.0","id":' + to_json(request_id) + b',"result":'
    return around(head, result, b"}")


def parse(body: bytes) -> dict[str, Any]:
    """Decode a POST body to one JSON-RPC message.

    Raises:
        WireError: it is not JSON, or not a single JSON-RPC 2.0 message.
    """
    try:
        message = from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError):
        raise WireError(PARSE_ERROR, "The body is not JSON.") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message.")
    return message


def is_request(message: Mapping[str, Any]) -> bool:
    """Whether the message is a request, rather than a notification or a response.

    Raises:
        WireError: it has a method, but its id or params are not what JSON-RPC allows.
    """
    if "method" not in message:
        return False
    if not isinstance(message["method"], str):
        raise WireError(INVALID_REQUEST, "`method` must be a string.")
    if not isinstance(message.get("params", {}), dict):
        raise WireError(INVALID_REQUEST, "`params` must be an object.")
    if "id" not in message:
        return False
    if isinstance(message["id"], bool) or not isinstance(message["id"], str | int):
        raise WireError(INVALID_REQUEST, "`id` must be a string or an integer.")
    return True


def check_modern(
    message: Mapping[str, Any], headers: Mapping[str, str], raw: list[tuple[bytes, bytes]]
) -> Mapping[str, Any]:
    """Check a 2026-07-28 request's ``_meta`` and the headers that mirror its body.

    Args:
        message: the decoded request.
        headers: its headers, names in lower case.
        raw: the same as they came in, where a doubled header still shows.

    Returns:
        The request's ``_meta``.

    Raises:
        WireError: with the code and in the order that the specification gives.
    """
    if len(headers) < len(raw):
        for name in doubled(headers, raw):
            if name in _ONCE:
                raise WireError(HEADER_MISMATCH, f"The header {name} appears more than once.")
    meta = message.get("params", {}).get("_meta")
    if not isinstance(meta, dict) or not _REQUIRED.keys() <= meta.keys():
        missing = [key for key in _REQUIRED if not isinstance(meta, dict) or key not in meta]
        sent = headers.get("mcp-protocol-version")
        if sent not in MODERN_PROTOCOL_VERSIONS:  # a legacy client at a version of its own
            raise unsupported_version(sent)
        raise WireError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    version = meta[mcp.PROTOCOL_VERSION_META_KEY]
    _check_mirrors(message, headers, version)
    if version not in MODERN_PROTOCOL_VERSIONS:
        raise unsupported_version(version)
    return meta


def unknown_method(method: str) -> WireError:
    """The error for a method that is not served."""
    return WireError(METHOD_NOT_FOUND, f"Unknown method: {method[:100]}")


def unsupported_version(requested: Any) -> WireError:
    """The error for a protocol version that the portal does not speak."""
    # As server/discover says; the revisions before are reached by `initialize`, not by retrying.
    data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": requested}
    return WireError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _check_mirrors(message: Mapping[str, Any], headers: Mapping[str, str], version: Any) -> None:
    method = message["method"]
    if headers.get("mcp-protocol-version") != version:
        raise _mismatch("mcp-protocol-version", "the protocol version in _meta")
    if headers.get("mcp-method") != method:
        raise _mismatch("mcp-method", "the method")
    if key := NAMED.get(method):
        value, sent = message["params"].get(key), headers.get("mcp-name")
        if value is not None and (sent is None or decode(sent) != value):
            raise _mismatch("mcp-name", f"params.{key}")


def _mismatch(header: str, what: str) -> WireError:
    return WireError(HEADER_MISMATCH, f"The header {header} does not match {what}.")
