"""A plugin of the tests' own with more tools than anybody wants to be told of."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import mcp_types as mcp

from gateway.contract import Caller, Host, Offer, Plugin, Tool, ToolFailed, hookimpl

THINGS = ("lamp", "chair", "table", "clock", "kettle", "bicycle", "radio", "violin", "boiler")
DEEDS = ("repair", "paint", "weigh", "photograph")
TIERS = """
items:
  workshop: open
  workshop/repair_clock: public
  workshop/repair_safe: {tier: members, hidden: true}
"""


def _tools(host: Host) -> list[Tool]:
    async def order_parts(part: str, count: int = 1) -> str:
        """Order spare parts from the wholesaler.

        Args:
            part: what to order.
            count: how many.
        """
        return f"{count} x {part}"

    async def break_down() -> str:
        """Break down in the middle of the work."""
        raise ToolFailed("broken", "It broke.")

    async def two_rounds(topic: str = "") -> Any:
        """Ask once more before anything is done.

        Args:
            topic: what it is about.
        """
        if host.exchange().request_state == "first":
            return f"second round of {topic}"
        return mcp.InputRequiredResult(request_state="first")

    def made(deed: str, thing: str) -> Tool:
        async def run(args: Any, caller: Caller) -> str:
            return f"{deed} {thing} {args.get('note', '')}".strip()

        properties = {
            "note": {"type": "string", "description": "What to mind.", "x-mcp-header": "Note"}
        }
        schema = {"type": "object", "properties": properties}
        text = f"{deed.title()} a {thing} that somebody has brought in."
        return Tool(f"{deed}_{thing}", text, run, input_schema=schema)

    many = [made(deed, thing) for deed in DEEDS for thing in (*THINGS, "safe")]
    return [*many, Tool.of(order_parts), Tool.of(break_down), Tool.of(two_rounds)]


@asynccontextmanager
async def _open(config: Any, host: Host) -> AsyncGenerator[Offer]:
    yield Offer(tools=_tools(host), instructions="A repair shop.")


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("workshop", "A repair shop.", _open)


MODULE = SimpleNamespace(__name__="workshop", porch_plugin=porch_plugin)
