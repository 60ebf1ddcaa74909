"""A plugin whose prompts and resources differ from caller to caller, and can go wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from gateway.contract import (
    Caller,
    Host,
    ListedResource,
    Offer,
    Plugin,
    Prompt,
    PromptFamily,
    Resource,
    ResourceTemplate,
    ToolFailed,
    hookimpl,
)
from tests.gateway.surfaces.mcp.conftest import MODERN, Wire

TEMPLATE = "diaries://{day}"
LISTS = {"prompts/list": ("prompts", "name"), "resources/list": ("resources", "uri")}


class Mood(BaseModel):
    """What the prompt of a day takes."""

    mood: str = Field(description="How it is to sound.")


async def _nothing() -> None:
    return None


@dataclass
class Diaries:
    """The plugin: days of everyone's diaries, in order; the owner None is for all to see.

    Attributes:
        days: every day's owner.
        before: awaited before each list is made, so that a test can make it fail or wait.
        also: entries that it lists beside the days, good or bad.
        fixed: how many resources with a URI of their own there are.
        asked: the arguments of each list that was asked for.
    """

    days: dict[str, str | None] = field(default_factory=dict)
    before: Callable[[], Awaitable[Any]] = _nothing
    also: Sequence[Any] = ()
    fixed: int = 1
    asked: list[tuple[str | None, str | None, int]] = field(default_factory=list)
    host: Host | None = None

    def __post_init__(self) -> None:
        self.days = dict(self.days)

    @hookimpl
    def porch_plugin(self) -> Plugin:
        """The plugin's declaration."""
        return Plugin("diaries", "Diaries.", self._open)

    def offer(self) -> Offer:
        """What it offers."""
        return Offer(
            prompts=[Prompt("greet", "Greets.", self._greet)],
            prompt_families=[PromptFamily("day-*", "A day.", self._prompts, self._find)],
            resources=[
                Resource(f"diaries://about/{n}", f"about-{n}", "About.", self._about)
                for n in range(self.fixed)
            ],
            templates=[
                ResourceTemplate(TEMPLATE, "day", "A day.", self._read, listed=self._resources),
            ],
        )

    @asynccontextmanager
    async def _open(self, config: Any, host: Host) -> AsyncGenerator[Offer]:
        self.host = host
        yield self.offer()

    def seen(self, caller: Caller) -> list[str]:
        """The days that a caller sees."""
        return sorted(day for day, owner in self.days.items() if owner in (None, caller.person))

    async def _listed(self, caller: Caller, after: str | None, limit: int) -> list[str]:
        self.asked.append((caller.person, after, limit))
        await self.before()
        return [day for day in self.seen(caller) if after is None or day > after][:limit]

    async def _prompts(self, caller: Caller, after: str | None, limit: int) -> list[Any]:
        days = await self._listed(caller, after and after.removeprefix("day-"), limit)
        return [*map(self._prompt, days), *self.also][:limit]

    async def _resources(self, caller: Caller, after: str | None, limit: int) -> list[Any]:
        days = await self._listed(caller, after and after.removeprefix("diaries://"), limit)
        listed = [ListedResource(f"diaries://{day}", day, f"What {day} was like.") for day in days]
        return [*listed, *self.also][:limit]

    async def _find(self, name: str, caller: Caller) -> Prompt | None:
        day = name.removeprefix("day-")
        return self._prompt(day) if day in self.seen(caller) else None

    def _prompt(self, day: str) -> Prompt:
        async def render(args: Mood, caller: Caller) -> str:
            return f"Tell of {day}, {args.mood}."

        async def moods(typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
            return [f"{typed} {day}"]

        return Prompt(f"day-{day}", f"Tells of {day}.", render, Mood, complete={"mood": moods})

    async def _read(self, variables: Mapping[str, str], caller: Caller) -> str:
        if variables["day"] not in self.seen(caller):
            raise ToolFailed("not_found", "There is no such day.")
        return f"It was {variables['day']}."

    async def _greet(self, args: Any, caller: Caller) -> str:
        return "Hello."

    async def _about(self, caller: Caller) -> str:
        return "Diaries."


async def pages(wire: Wire, method: str, era: str = MODERN, path: str = "/mcp") -> list[list[str]]:
    """The names or URIs on each page of a list."""
    key, name = LISTS[method]
    found: list[list[str]] = []
    params: dict[str, str] = {}
    while True:
        if era == MODERN:
            reply = await wire.modern(method, params, path=path).reply()
        else:
            reply = await wire.legacy(method, params).reply()
        found.append([each[name] for each in reply["result"][key]])
        if "nextCursor" not in reply["result"]:
            return found
        params = {"cursor": reply["result"]["nextCursor"]}
