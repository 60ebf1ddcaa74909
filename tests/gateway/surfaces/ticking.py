"""A plugin of the tests' own with a stream: numbers, each under its own id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, Field

from gateway.contract import (
    Allowance,
    Api,
    Offer,
    Plugin,
    Refusal,
    Stream,
    StreamEvent,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.surfaces.http.open_streams import OpenStreams
from tests.servers.streaming import Served

OWN, ALIAS = PREFIXES = ("/spec/v1/ticks", "/api/v1/ticks")


class Where(BaseModel):
    place: str
    least: int = Field(default=0, ge=0)


class Watch(BaseModel):
    where: Where | None = None
    large: int = 0


class Tick(BaseModel):
    number: int
    text: str = ""


class Problem(BaseModel):
    word: str
    text: str


class Source:
    """What is told: numbers, each under its own id."""

    def __init__(self) -> None:
        self.count = 0
        self.closed = 0
        self.asked: list[Any] = []
        self.failing: Exception | None = None
        self._more = asyncio.Event()

    def tick(self, times: int = 1) -> None:
        self.count += times
        self._more.set()
        self._more = asyncio.Event()

    def fail(self, error: Exception) -> None:
        self.failing = error
        self.tick(0)

    async def open(self, watch: Watch, caller: Any, last: str | None) -> Any:
        self.asked.append(watch)
        if watch.where is not None and watch.where.place == "nowhere":
            raise ToolFailed("not_found", "There is no such place.")
        return None if last == "over" else self._events(watch, int(last or 0))

    async def _events(self, watch: Watch, number: int) -> AsyncGenerator[StreamEvent]:
        try:
            yield StreamEvent(id=str(number))
            while self.failing is None:
                more = self._more
                while number < self.count:
                    number += 1
                    tick = Tick(number=number, text="x" * watch.large)
                    yield StreamEvent("tick", tick, str(number))
                await more.wait()
            raise self.failing
        finally:
            self.closed += 1


class Now:
    """What is told in the portal that is open."""

    source: Source


now = Now()


def _failed(refusal: Refusal) -> tuple[int, Problem]:
    return refusal.status, Problem(word=refusal.code, text=refusal.message)


def _headers(allowance: Allowance | None) -> Mapping[str, str]:
    return {"X-Maker": "ticks"}


async def _tick(asked: Watch, caller: Any) -> Tick:
    return Tick(number=now.source.count)


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    now.source = Source()
    stream = Stream("/watch", watch, "ticks", Watch, [Tick], "The ticks.", "watching")
    api = Api(PREFIXES, "Ticks", "1", [], Problem, _failed, _headers, streams=[stream])
    yield Offer(tools=[Tool("ticks", "Ticks.", _tick, args=Watch, result=Tick)], apis=[api])


async def watch(watch: Watch, caller: Any, last: str | None) -> Any:
    return await now.source.open(watch, caller, last)


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("ticking", "Ticks.", open=_open)


def streams_of(served: Served) -> OpenStreams:
    """The streams that a portal has open."""
    surfaces = served.portal.app._surfaces
    assert surfaces is not None
    return surfaces.streams
