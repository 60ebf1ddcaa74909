"""Spans of model calls by OpenTelemetry's conventions for generative AI, without any content.

The names are those of the semantic conventions (``gen_ai.*``), which Langfuse and others read; what
has no name there begins with ``porch.``. Prompts and answers are never part of a span.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.services.models.records import CallEnd, CallStart

__all__ = ["after", "before", "span_name"]

Attributes = Mapping[str, str | int]


def span_name(call: CallStart) -> str:
    """As the conventions have it: the operation and the model."""
    return f"chat {call.model}"


def before(call: CallStart, kind: str) -> Attributes:
    """What is known before a call.

    Args:
        call: the call.
        kind: the provider's kind, as in ``portal.yaml``.
    """
    known = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.provider if kind == "compatible" else kind,
        "gen_ai.request.model": call.model,
        "porch.model_call": call.id,
        "porch.plugin": call.plugin,
        "porch.operation": call.operation,
        "porch.role": call.role,
    }
    return known | ({"porch.source": call.source} if call.source else {})


def after(end: CallEnd) -> Attributes:
    """What is known after it."""
    found: dict[str, str | int] = {"porch.outcome": end.outcome}
    if end.outcome != "ok":
        found["error.type"] = end.outcome
    if end.model:
        found["gen_ai.response.model"] = end.model
    if end.tokens:
        found |= {
            "gen_ai.usage.input_tokens": end.tokens.input,
            "gen_ai.usage.output_tokens": end.tokens.output,
            "gen_ai.usage.cache_read.input_tokens": end.tokens.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": end.tokens.cache_write,
        }
    if end.cost_nano_usd is not None:
        found["porch.cost_nano_usd"] = end.cost_nano_usd
    return found
