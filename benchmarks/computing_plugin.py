"""A plugin that computes, and lets nobody have a turn meanwhile."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from gateway.contract import Offer, Plugin, PluginConfig, Tool, hookimpl


async def compute(seconds: float) -> str:
    """Compute.

    Args:
        seconds: how long.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))
    return "computed"


@asynccontextmanager
async def _open(config: PluginConfig, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(tools=[Tool.of(compute)])


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin("computing", "Computes.", _open)
