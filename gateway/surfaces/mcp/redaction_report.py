"""Tells an MCP caller what was taken out of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from gateway.scrubbing.report import META_KEY, listed, sentence
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.mcp.envelope import WireError


def with_report(result: bytes, redactions: Sequence[Redaction]) -> bytes:
    """A result that says what was redacted: in ``_meta``, and of a tool in a text block too.

    Structured content stays as it is. An error's JSON stays the last block.

    Args:
        result: a result as JSON; without redactions it is returned as it is.
        redactions: what was taken out.
    """
    if not redactions:
        return result
    return to_json(reported(from_json(result), redactions), inf_nan_mode="null")


def reported(result: Mapping[str, Any], redactions: Sequence[Redaction]) -> Mapping[str, Any]:
    """The same of a result that is not written yet."""
    if not redactions:
        return result
    value = dict(result)
    value["_meta"] = {**value.get("_meta", {}), META_KEY: listed(redactions)}
    content = value.get("content")
    if isinstance(content, list):
        place = len(content) - 1 if value.get("isError") and content else len(content)
        told = {"type": "text", "text": sentence(redactions)}
        value["content"] = [*content[:place], told, *content[place:]]
    return value


def error_with_report(error: WireError, redactions: Sequence[Redaction]) -> WireError:
    """The same of a JSON-RPC error, in its data."""
    if redactions and (error.data is None or isinstance(error.data, dict)):
        error.data = {**(error.data or {}), META_KEY: listed(redactions)}
    return error
