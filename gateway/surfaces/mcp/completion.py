"""``completion/complete``: values for a prompt's argument or a template's variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auth import Caller
from gateway.catalog.items import Item
from gateway.contract import Prompt, Relayed, ResourceTemplate
from gateway.surfaces.mcp.prompts import find
from gateway.surfaces.mcp.results import Era

MAX_VALUES = 100
"""Values in one answer (MCP: completion)."""


async def complete(item: Item, params: Mapping[str, Any], caller: Caller) -> list[str] | Relayed:
    """The values that the item's completer offers; none where it has no completer.

    Raises:
        ToolFailed: the item is a family that has no such prompt for this caller.
    """
    if item.kind == "family":
        item = await find(item, params["ref"]["name"], caller)
    declared = item.declared
    completers = declared.complete if isinstance(declared, Prompt | ResourceTemplate) else {}
    argument, context = params["argument"], params.get("context")
    # Revisions before 2025-06-18 know no context, so nothing has checked it there.
    others = context.get("arguments") if isinstance(context, Mapping) else None
    completer = completers.get(argument["name"])
    if completer is None:
        return []
    values = await completer(argument["value"], others or {}, caller)
    return values if isinstance(values, Relayed) else list(values)


def completion_result(values: Sequence[str] | Relayed, era: Era) -> bytes:
    """The values as a ``CompleteResult``."""
    if isinstance(values, Relayed):
        return era.relayed(values.result)
    completion = {
        "values": values[:MAX_VALUES],
        "total": len(values),
        "hasMore": len(values) > MAX_VALUES,
    }
    return era.result("completion/complete", {"completion": completion})
