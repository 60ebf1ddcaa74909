"""``GET /admin/tool-costs``: what the tools of the caller's tier cost a client, in tokens."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from gateway.discovery.discovery import Discovery
from gateway.surfaces.http.request_context import context_of


class ToolCosts:
    """Answers what tools cost.

    Args:
        discovery: knows it.
    """

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery

    async def answer(self, request: Request) -> Any:
        """Each tool's cost, the dearest first, the cost of each mode, and the budget."""
        costs = await self._discovery.costs(context_of(request.scope).caller)
        return {
            "tools": [{"name": name, "tokens": tokens} for name, tokens in costs.tools],
            "modes": costs.modes,
            "budget": costs.budget,
        }
