"""What tests of the wire connect with, and what they hear."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from plugins.upstreams.wire import Address, Client, Connection, connect_http

CLIENT = Client(
    {"name": "porch-test", "version": "1"},
    {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
)


class Heard:
    """Hears what one call, or the connection, is told."""

    def __init__(self, answer: Mapping[str, Any] | Exception | None = None) -> None:
        self.progresses: list[tuple[float, float | None, str | None]] = []
        self.logs: list[tuple[str, Any, str | None]] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.told: list[tuple[str, Mapping[str, Any]]] = []
        self.news = asyncio.Event()
        self.answer = answer or {"action": "accept", "content": {"name": "Ada"}}

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progresses.append((done, total, message))

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        self.logs.append((level, data, logger))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append((method, params))
        self.news.set()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self.told.append((method, params))
        self.news.set()

    async def until_told(self, method: str) -> Mapping[str, Any]:
        """Wait until something was told; gives its parameters."""
        while True:
            for heard, params in self.told:
                if heard == method:
                    return params
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 60)


def text_of(result: Mapping[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


def call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": arguments}


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[Connection]:
    address = options.pop("address", None) or Address(url)
    connection = await connect_http(address, options.pop("client", CLIENT), **options)
    try:
        yield connection
    finally:
        await connection.close()
