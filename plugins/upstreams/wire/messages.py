"""JSON-RPC messages as JSON values: decoded once, and looked at no further than needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json

from plugins.upstreams.wire.errors import NotMcp, RpcError

Message = dict[str, Any]

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603


def encode(message: Mapping[str, Any]) -> bytes:
    """A message as JSON."""
    return to_json(message)


def decode(data: bytes | bytearray) -> Message:
    """JSON as a message.

    Raises:
        NotMcp: it is none.
    """
    try:
        message = from_json(data, allow_inf_nan=False)
    except (ValueError, RecursionError):
        raise NotMcp("The server answered with something that is not JSON.") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise NotMcp("The server answered with JSON that is not a JSON-RPC 2.0 message.")
    return message


def is_response(message: Message) -> bool:
    """Whether it answers a request, rather than being one or a notification."""
    return "method" not in message


def result_of(message: Message) -> Mapping[str, Any]:
    """The result in a response.

    Raises:
        RpcError: it is an error.
        NotMcp: it is neither.
    """
    result = message.get("result")
    if isinstance(result, dict) and "error" not in message:
        return result
    error = message.get("error")
    if not isinstance(error, dict) or "result" in message:
        raise NotMcp("The server answered with neither a result object nor an error.")
    code, text = error.get("code"), error.get("message")
    if isinstance(code, bool) or not isinstance(code, int) or not isinstance(text, str):
        raise NotMcp("The server answered with an error without a code and a message.")
    raise RpcError(code, text, error.get("data"))


def request(request_id: int, method: str, params: Mapping[str, Any]) -> Message:
    """A request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: Mapping[str, Any]) -> Message:
    """A notification; empty parameters are left out, as old servers expect."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    return {**message, "params": params} if params else message


def answer(request_id: Any, result: Mapping[str, Any]) -> Message:
    """The answer to what a server asked."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def refusal(request_id: Any, error: RpcError) -> Message:
    """The error to what a server asked."""
    body: Message = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}
