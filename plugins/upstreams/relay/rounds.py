"""A call in rounds: servers of 2026-07-28 answer what they need to know, and are asked again.

A client of the same revision goes through the rounds itself; the portal signs the state between
them and binds it to the caller. For one of the older era the portal asks and goes on (SEP-2322).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as mcp
from pydantic import ValidationError

from gateway.contract import Exchange, Relayed, ToolFailed

MAX_ROUNDS = 10
"""Rounds of questions in one call that the portal goes through for a client."""

Ask = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""``await ask(more)``: the server's result, with more parameters than the call itself has."""


async def through_rounds(ask: Ask, exchange: Exchange) -> Any:
    """What a server answers in the end, or what its client has to be asked first.

    Args:
        ask: asks the server.
        exchange: the call's.

    Raises:
        ToolFailed: the client cannot be asked what the server wants to know, or the server asks
            without end.
    """
    more = _resumed(exchange)
    for _ in range(MAX_ROUNDS):
        result = await ask(more)
        if result.get("resultType") != "input_required":
            return Relayed(result)
        if not exchange.can_ask:
            return required(result)
        more = {"inputResponses": await _answers(result, exchange)}
        if "requestState" in result:
            more["requestState"] = result["requestState"]
    raise ToolFailed("asks_without_end", f"The server asked {MAX_ROUNDS} times in one call.")


def _resumed(exchange: Exchange) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if exchange.request_state is not None:
        more["requestState"] = exchange.request_state
    if exchange.input_responses is not None:
        more["inputResponses"] = dict(exchange.input_responses)
    return more


def required(result: Mapping[str, Any]) -> mcp.InputRequiredResult:
    """What a client has to answer first, as a server wrote it.

    Raises:
        ToolFailed: no client could.
    """
    try:
        return mcp.InputRequiredResult.model_validate(result)
    except ValidationError:
        raise ToolFailed(
            "server_failed", "The server asks for something that MCP does not know."
        ) from None


async def _answers(result: Mapping[str, Any], exchange: Exchange) -> dict[str, Any]:
    asked = result.get("inputRequests") or {}
    return {
        name: dict(await exchange.ask(each.get("method", ""), each.get("params") or {}))
        for name, each in asked.items()
    }
