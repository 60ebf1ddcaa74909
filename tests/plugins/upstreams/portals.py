"""A portal before servers of others, and what tests wait for there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import uvicorn

from gateway.server.local import Local
from gateway.testing import TestPortal, open_test_portal
from plugins.upstreams import plugin

PATIENCE_SECONDS = 60.0


@asynccontextmanager
async def portal_before(
    *urls: str,
    data_dir: Path | None = None,
    tiers: Any = None,
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> AsyncGenerator[TestPortal]:
    """A portal before the servers ``far``, ``far1`` and so on, at these addresses.

    ``settings`` is what else ``portal.yaml`` says; ``more`` what it says of each server.
    """
    servers = [
        {"name": f"far{number or ''}", "url": url} | ({} if tiers else {"tier": "open"}) | more
        for number, url in enumerate(urls)
    ]
    config = {**(settings or {}), "plugins": {"upstreams": {"servers": servers}}}
    async with open_test_portal(plugin, config=config, tiers=tiers, data_dir=data_dir) as portal:
        yield portal


@asynccontextmanager
async def answering(portal: TestPortal, listener: socket, **tls: Any) -> AsyncGenerator[None]:
    """A portal answers at a socket that is bound, for as long as the block lasts."""
    listener.listen(64)
    config = uvicorn.Config(portal.app, log_config=None, lifespan="off", ws="none", **tls)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    """Ask until something holds; fails where a busy machine would have had time enough."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def until_offered(portal: TestPortal, name: str, tier: str = "open") -> None:
    """Wait until a tool is listed."""

    async def is_listed() -> bool:
        return name in await portal.tools(tier)

    await until(is_listed)


async def as_admin(portal: TestPortal, method: str, path: str, **more: Any) -> Any:
    """What the plugin's own routes answer to the admin of the machine."""
    transport = httpx2.ASGITransport(app=Local(portal.app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.request(method, f"/api/v1/upstreams{path}", **more)
    assert answer.status_code == 200, answer.text
    return answer.json()
