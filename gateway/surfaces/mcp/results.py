"""What items return, as the bytes of an MCP result."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import mcp_types as mcp
from mcp_types import methods
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.catalog.items import Verbatim
from gateway.contract import BriefResult, Relayed, ToolFailed
from gateway.errors import wire
from gateway.pipeline.json_text import UNSENDABLE, sendable

_HOP_BY_HOP = frozenset(
    {
        mcp.SERVER_INFO_META_KEY,
        mcp.PROTOCOL_VERSION_META_KEY,
        mcp.CLIENT_INFO_META_KEY,
        mcp.CLIENT_CAPABILITIES_META_KEY,
        mcp.LOG_LEVEL_META_KEY,
        "io.modelcontextprotocol/subscriptionId",
    }
)
"""Keys of ``_meta`` that are between one client and one server, and go no further."""
_MODERN_FIELDS = frozenset({"resultType", "ttlMs", "cacheScope"})
"""Fields of results that no revision before 2026-07-28 has."""

_Finish = Callable[[Mapping[str, Any]], Mapping[str, Any]]

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

    def result(self, method: str, value: Mapping[str, Any], finish: _Finish | None = None) -> bytes:
        """Write a result in this era's shape: unknown keys dropped, its own keys added.

        Args:
            method: whose result it is.
            value: the result.
            finish: puts into the result what is not to lose any key.
        """
        try:
            return _json(self.shaped(method, value, finish))
        except UNSENDABLE:
            return _json(self.shaped(method, sendable(value), finish))

    def shaped(
        self, method: str, value: Mapping[str, Any], finish: _Finish | None = None
    ) -> Mapping[str, Any]:
        """What :meth:`result` writes, before it is written."""
        data = dict(value)
        if self.modern:
            data.setdefault("resultType", "complete")
            data["_meta"] = {**data.get("_meta", {}), **self._meta}
        written = methods.serialize_server_result(method, self.version, data)
        return finish(written) if finish else written

    def written(self, value: Mapping[str, Any], kind: str = "complete") -> bytes:
        """Write a result that the specification's revisions do not know, such as an extension's.

        Args:
            value: the result.
            kind: its ``resultType``.
        """
        return _json({"resultType": kind, **value, "_meta": self._meta})

    def relayed(self, result: Mapping[str, Any], **over: Any) -> bytes:
        """Write another server's result in this era's shape; what it does not know stays.

        Args:
            result: the result, as it came in.
            over: fields that are put in place of the server's.
        """
        return _json(self.shaped_relayed(result, **over))

    def shaped_relayed(self, result: Mapping[str, Any], **over: Any) -> Mapping[str, Any]:
        """What :meth:`relayed` writes, before it is written."""
        meta = {k: v for k, v in (result.get("_meta") or {}).items() if k not in _HOP_BY_HOP}
        data = {k: v for k, v in result.items() if k not in _MODERN_FIELDS and k != "_meta"} | over
        if self.modern:
            data["resultType"] = result.get("resultType", "complete")
            meta |= self._meta
        elif not isinstance(data.get("structuredContent", {}), Mapping):
            del data["structuredContent"]
        return data | {"_meta": meta} if meta else data

    def listed(self, entry: Verbatim) -> Mapping[str, Any]:
        """An entry of another server's list: older clients refuse a list over such a schema."""
        output = entry.get("outputSchema")
        if self.modern or output is None or _describes_object(output):
            return entry
        return {key: value for key, value in entry.items() if key != "outputSchema"}


def _describes_object(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "object"


def tool_result(value: Any, era: Era) -> bytes:
    """A tool's return value as a ``CallToolResult``.

    Args:
        value: a pydantic model or a mapping (structured content, with its JSON as text), a
            string, content blocks, a ``CallToolResult`` or an ``InputRequiredResult``.
        era: the shape to write.
    """
    if isinstance(value, Relayed):
        return era.relayed(value.result)
    if isinstance(value, BaseModel) and not isinstance(value, mcp.Result):
        json = value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_none=True)
        return structured(json, era, value.brief() if isinstance(value, BriefResult) else None)
    if isinstance(value, str):
        return era.close(b'{"content":[{"type":"text","text":' + to_json(value) + b"}]")
    if isinstance(value, mcp.Result):
        return era.result("tools/call", _dump(value))
    if isinstance(value, Mapping):
        return structured(_json(value), era)
    return era.result("tools/call", {"content": [_dump(block) for block in value]})


def structured(json: bytes, era: Era, text: str | None = None) -> bytes:
    """Structured content that is JSON already, with a text beside it: by default its JSON."""
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
    if isinstance(value, Relayed):
        return era.relayed(value.result)
    return era.result("prompts/get", prompt_shape(value, summary))


def prompt_shape(value: Any, summary: str) -> dict[str, Any]:
    """What a prompt of the portal's own returned, as JSON values."""
    if isinstance(value, mcp.Result):
        return _dump(value)
    if isinstance(value, str):
        content = {"type": "text", "text": value}
        messages: list[Any] = [{"role": "user", "content": content}]
    else:
        messages = [_dump(message) for message in value]
    return {"description": summary, "messages": messages}


def resource_result(value: Any, uri: str, mime_type: str, era: Era) -> bytes:
    """What a resource read as a ``ReadResourceResult``: text, base64, or a model's JSON."""
    if isinstance(value, Relayed):
        ttl_ms = value.result.get("ttlMs", 0)
        return era.relayed(value.result, **(_cached({}, ttl_ms) if era.modern else {}))
    if isinstance(value, mcp.ReadResourceResult):
        return era.result("resources/read", _cached(_dump(value), value.ttl_ms or 0))
    if isinstance(value, bytes):
        return read_bytes(base64.b64encode(value).decode(), uri, mime_type, era)
    content: dict[str, Any] = {"uri": uri, "mimeType": mime_type}
    if isinstance(value, BaseModel):
        content["text"] = value.model_dump_json(by_alias=True, exclude_none=True, indent=2)
    else:
        content["text"] = value
    return era.result("resources/read", _cached({"contents": [content]}, 0))


def read_bytes(base64: str, uri: str, mime_type: str, era: Era) -> bytes:
    """What a resource read that is no text."""
    content = {"uri": uri, "mimeType": mime_type, "blob": base64}
    return era.result("resources/read", _cached({"contents": [content]}, 0))


def list_result(
    method: str, key: str, entries: Sequence[Any], cursor: str | None, era: Era
) -> bytes:
    """One page of a list: the portal's own entries in the era's shape, others' as they are."""
    own = [each for each in entries if not isinstance(each, Verbatim)]
    page: dict[str, Any] = {key: own}
    if cursor is not None:
        page["nextCursor"] = cursor
    return era.result(method, _cached(page, LIST_TTL_MS), partial(_among, key, entries, era))


def _among(
    key: str, entries: Sequence[Any], era: Era, written: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A list's result with the entries of other servers where they belong."""
    own = iter(written[key])
    every = [era.listed(each) if isinstance(each, Verbatim) else next(own) for each in entries]
    return {**written, key: every}


def _cached(value: dict[str, Any], ttl_ms: int) -> dict[str, Any]:
    # Lists and reads differ by tier, so no one may replay them to another caller.
    return value | {"ttlMs": ttl_ms, "cacheScope": "private"}


def _json(value: Any) -> bytes:
    # JSON has no NaN and no infinities.
    return to_json(value, inf_nan_mode="null")


def _dump(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
