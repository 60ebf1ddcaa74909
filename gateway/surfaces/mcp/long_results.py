"""What items return that is long, as an MCP result in pieces (``gateway/pipeline/json_chunks.py``).

The result is written by ``results.py`` with holes where what is long belongs; those are filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any

import mcp_types as mcp
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.contract import BriefResult, Relayed
from gateway.pipeline.json_chunks import as_base64, as_text, json_pieces
from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.mcp.redaction_report import reported, with_report
from gateway.surfaces.mcp.results import (
    Era,
    prompt_shape,
    read_bytes,
    resource_result,
    structured,
    tool_result,
)

_HOLE = f"here belongs {token_hex(16)}"
"""What stands in a result for what is long; nobody else knows it."""
_WRITTEN = to_json(_HOLE)


def tool_pieces(value: Any, redactions: Sequence[Redaction], era: Era) -> Iterator[bytes]:
    """A tool's return value as a ``CallToolResult``, with the report on its arguments."""
    if isinstance(value, str):
        return _filled(tool_result(_HOLE, era), redactions, json_pieces(value))
    if isinstance(value, mcp.Result):
        return json_pieces(reported(_shaped(value, era), redactions))
    if isinstance(value, Relayed):
        return json_pieces(reported(era.shaped_relayed(value.result), redactions))
    if isinstance(value, BaseModel | Mapping):
        if isinstance(value, BriefResult):
            written = structured(_WRITTEN, era, value.brief())
            return _filled(written, redactions, json_pieces(value))
        written = structured(_WRITTEN, era, _HOLE)
        return _filled(written, redactions, as_text(json_pieces(value)), json_pieces(value))
    content = {"content": [_dump(block) for block in value]}
    return json_pieces(reported(_sendable(era, "tools/call", content), redactions))


def prompt_pieces(
    value: Any, redactions: Sequence[Redaction], summary: str, era: Era
) -> Iterator[bytes]:
    """A prompt's return value as a ``GetPromptResult``, likewise."""
    if isinstance(value, Relayed):
        return json_pieces(reported(era.shaped_relayed(value.result), redactions))
    shape = prompt_shape(value, summary)
    return json_pieces(reported(_sendable(era, "prompts/get", shape), redactions))


def resource_pieces(
    value: Any, redactions: Sequence[Redaction], uri: str, mime_type: str, era: Era
) -> Iterator[bytes]:
    """What a resource read as a ``ReadResourceResult``, likewise."""
    if isinstance(value, bytes):
        written = read_bytes(_HOLE, uri, mime_type, era)
        return _filled(written, redactions, as_base64(value))
    if isinstance(value, Relayed | mcp.ReadResourceResult):
        return iter((with_report(resource_result(value, uri, mime_type, era), redactions),))
    text = as_text(json_pieces(value)) if isinstance(value, BaseModel) else json_pieces(value)
    return _filled(resource_result(_HOLE, uri, mime_type, era), redactions, text)


def _filled(
    written: bytes, redactions: Sequence[Redaction], *fillings: Iterator[bytes]
) -> Iterator[bytes]:
    """A written result with its holes filled, in order."""
    before, *parts = with_report(written, redactions).split(_WRITTEN)
    yield before
    for filling, after in zip(fillings, parts, strict=True):
        yield from filling
        yield after


def _shaped(value: mcp.Result, era: Era) -> Mapping[str, Any]:
    held = getattr(value, "structured_content", None)
    if held is None:
        return _sendable(era, "tools/call", _dump(value))
    data = _dump(value.model_copy(update={"structured_content": None}))
    return {**_sendable(era, "tools/call", data), "structuredContent": held}


def _sendable(era: Era, method: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return era.shaped(method, value)
    except UNSENDABLE:
        return era.shaped(method, sendable(value))


def _dump(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
