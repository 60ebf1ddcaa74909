"""A plugin that takes all it can get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from gateway.contract import Offer, Plugin, PluginConfig, Tool, hookimpl

MEBIBYTES = 50
_LONG = "0123456789abcde\n" * (65_536 * MEBIBYTES)


async def shout() -> str:
    """Answer with 50 MiB."""
    return _LONG


async def stumble() -> str:
    """Raise."""
    raise RuntimeError("stumbled")


async def fall() -> str:
    """Recurse without end."""
    return await fall()


async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return "never"


@asynccontextmanager
async def _open(config: PluginConfig, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(tools=[Tool.of(each) for each in (shout, stumble, fall, hang)])


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin("rough", "Takes all it can get.", _open)
