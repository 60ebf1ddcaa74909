"""A plugin whose tools never answer, fail, or cannot be drawn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, PluginConfig, Tier, Tool, View, hookimpl
from tests.gateway.surfaces.views.painted import HERE, READS, Thing


async def never(words: str) -> Thing:
    """Answer never.

    Args:
        words: What to look for.
    """
    await asyncio.Event().wait()
    raise AssertionError(words)


async def breaks(words: str) -> Thing:
    """Break.

    Args:
        words: What to look for.
    """
    raise RuntimeError(f"a secret about {words}")


async def undrawn(words: str) -> Thing:
    """Answer what no template can draw.

    Args:
        words: What to look for.
    """
    return Thing(name=words, text="", size=1)


def _view(name: str, tool: str, template: str = "thing.html") -> View:
    return View(name, f"Troubled: {name}", tool, HERE / template, asks="words")


@asynccontextmanager
async def _open(config: PluginConfig, host: Host) -> AsyncGenerator[Offer]:
    tools = [Tool.of(each, tier=Tier.OPEN, annotations=READS) for each in (never, breaks, undrawn)]
    views = [_view("slow", "never"), _view("broken", "breaks"), _view("odd", "undrawn", "odd.html")]
    yield Offer(tools=tools, views=views)


@hookimpl
def porch_plugin() -> Plugin:
    """The plugin."""
    return Plugin("troubled", "Trouble.", open=_open)
