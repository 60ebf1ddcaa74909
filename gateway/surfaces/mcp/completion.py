"""``completion/complete``: values for a prompt's argument or a template's variable."""

from __future__ import annotations

from gateway.contract import Prompt, ResourceTemplate
from gateway.items import Item
from gateway.surfaces.mcp.request import Request

MOST = 100
"""Values in one answer (MCP: completion)."""


async def complete(item: Item, request: Request) -> bytes:
    """The values that the item's completer offers; none where it has no completer."""
    declared = item.declared
    completers = declared.complete if isinstance(declared, Prompt | ResourceTemplate) else {}
    argument = request.params["argument"]
    others = (request.params.get("context") or {}).get("arguments") or {}
    completer = completers.get(argument["name"])
    values = list(await completer(argument["value"], others, request.caller)) if completer else []
    completion = {"values": values[:MOST], "total": len(values), "hasMore": len(values) > MOST}
    return request.era.result("completion/complete", {"completion": completion})
