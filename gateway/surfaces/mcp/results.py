"""What items return, as the bytes of an MCP result."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as mcp
from mcp_types import methods
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.contract import BriefResult, ToolFailed
from gateway.errors import wire
from gateway.pipeline.json_text import UNSENDABLE, sendable

LIST_TTL_MS = 60_000
"""How long a client may keep a list; a change is also announced."""


class Era:
    """What differs between the results of the two eras.

    Args:
        version: the protocol revision that results are written in.
        server: the portal's ``serverInfo``, for 2026-07-28's ``_meta``.
    """

    def __init__(self, version: str, server: Mapping[str, Any]) -> None:
        self.version = version
        self.modern = version not in mcp.version.HANDSHAKE_PROTOCOL_VERSIONS
        meta = {mcp.SERVER_INFO_META_KEY: dict(server)}
        self._tail = (
            b',"resultType":"complete","_meta":' + to_json(meta) + b"}" if self.modern else b"}"
        )
        self._meta = meta

    def close(self, unfinished: bytes) -> bytes:
        """Finish a result object that was written without its closing brace."""
        return unfinished + self._tail

    def result(self, method: str, value: Mapping[str, Any]) -> bytes:
        """Write a result in this era's shape: unknown keys dropped, its own keys added."""
        try:
            return self._serialized(method, value)
        except UNSENDABLE:
            return self._serialized(method, sendable(value))

    def _serialized(self, method: str, value: Mapping[str, Any]) -> bytes:
        data = dict(value)
        if self.modern:
            data.setdefault("resultType", "complete")
            data["_meta"] = {**data.get("_meta", {}), **self._meta}
        return _json(methods.serialize_server_result(method, self.version, data))


def tool_result(value: Any, era: Era) -> bytes:
    """A tool's return value as a ``CallToolResult``.

    Args:
        value: a pydantic model or a mapping (structured content, with its JSON as text), a
            string, content blocks, a ``CallToolResult`` or an ``InputRequiredResult``.
        era: the shape to write.
    """
    if isinstance(value, BaseModel) and not isinstance(value, mcp.Result):
        json = value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_none=True)
        return _structured(json, era, value.brief() if isinstance(value, BriefResult) else None)
    if isinstance(value, str):
        return era.close(b'{"content":[{"type":"text","text":' + to_json(value) + b"}]")
    if isinstance(value, mcp.Result):
        return era.result("tools/call", _dump(value))
    if isinstance(value, Mapping):
        return _structured(_json(value), era)
    return era.result("tools/call", {"content": [_dump(block) for block in value]})


def _structured(json: bytes, era: Era, text: str | None = None) -> bytes:
    return era.close(
        b'{"content":[{"type":"text","text":'
        + to_json(json.decode() if text is None else sendable(text))
        + b'}],"structuredContent":'
        + json
    )


def tool_failure(failed: ToolFailed, request_id: str, era: Era) -> bytes:
    """An error as a result that the model reads: the sentence, then the error as JSON."""
    error = wire(failed.code, failed.message, failed.details, request_id)
    return era.close(
        b'{"content":[{"type":"text","text":'
        + to_json(failed.message)
        + b'},{"type":"text","text":'
        + to_json(_json(error).decode())
        + b'}],"isError":true'
    )


def prompt_result(value: Any, summary: str, era: Era) -> bytes:
    """A prompt's return value as a ``GetPromptResult``: a string is one user message."""
    if isinstance(value, mcp.Result):
        return era.result("prompts/get", _dump(value))
    if isinstance(value, str):
        content = {"type": "text", "text": value}
        messages: list[Any] = [{"role": "user", "content": content}]
    else:
        messages = [_dump(message) for message in value]
    return era.result("prompts/get", {"description": summary, "messages": messages})


def resource_result(value: Any, uri: str, mime_type: str, era: Era) -> bytes:
    """What a resource read as a ``ReadResourceResult``: text, base64, or a model's JSON."""
    if isinstance(value, mcp.ReadResourceResult):
        return era.result("resources/read", _cached(_dump(value), value.ttl_ms or 0))
    content: dict[str, Any] = {"uri": uri, "mimeType": mime_type}
    if isinstance(value, bytes):
        content["blob"] = base64.b64encode(value).decode()
    elif isinstance(value, BaseModel):
        content["text"] = value.model_dump_json(by_alias=True, exclude_none=True, indent=2)
    else:
        content["text"] = value
    return era.result("resources/read", _cached({"contents": [content]}, 0))


def list_result(
    method: str, key: str, entries: Sequence[Any], cursor: str | None, era: Era
) -> bytes:
    """One page of a list."""
    page: dict[str, Any] = {key: list(entries)}
    if cursor is not None:
        page["nextCursor"] = cursor
    return era.result(method, _cached(page, LIST_TTL_MS))


def _cached(value: dict[str, Any], ttl_ms: int) -> dict[str, Any]:
    # Lists and reads differ by tier, so no one may replay them to another caller.
    return value | {"ttlMs": ttl_ms, "cacheScope": "private"}


def _json(value: Any) -> bytes:
    # JSON has no NaN and no infinities.
    return to_json(value, inf_nan_mode="null")


def _dump(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
