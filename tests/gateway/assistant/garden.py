"""A portal with an assistant: a stand-in of a model, and a plugin to search and to write in."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import mcp_types as mcp
from pydantic import BaseModel, Field

from gateway.contract import Caller, Host, Offer, Plugin, Tier, Tool, ToolFailed, hookimpl
from gateway.testing import TestPortal, open_test_portal
from tests.servers.openai_compatible import OpenAICompatible, Reply, ToolCall

READS = mcp.ToolAnnotations(read_only_hint=True)
CHAT = "/api/v1/assistant/conversations"
TIERS = """
access:
  members: {email: member@example.org}
items:
  garden: open
  garden/harvest: members
  garden/cellar: {tier: members, hidden: true}
"""
LOOK = Reply(calls=[ToolCall("look", {"query": "decide"}, "call_look")])
PLANT = Reply(calls=[ToolCall("plant", {"plant": "an oak"}, "call_plant")])


class Query(BaseModel):
    """What is looked for."""

    query: str = Field(description="Words.")


class Seed(BaseModel):
    """What is planted."""

    plant: str = Field(description="Which plant.")


class Note(BaseModel):
    """A page of the garden's book."""

    title: str
    url: str
    text: str


class Notes(BaseModel):
    """What was found."""

    notes: list[Note]


@dataclass
class Garden:
    """The plugin: it finds one note, and plants what it is told to.

    Attributes:
        text: what the note says.
        planted: what was planted.
        looked: what was looked for.
    """

    text: str = "Decisions are made at the fire, by consent."
    planted: list[str] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)

    async def look(self, args: Query, caller: Caller) -> Notes:
        self.looked.append(args.query)
        note = Note(title="How we decide", url="https://garden.example.org/decide", text=self.text)
        return Notes(notes=[note])

    async def plant(self, args: Seed, caller: Caller) -> str:
        if args.plant == "stone":
            raise ToolFailed("no_seed", "A stone does not grow.")
        self.planted.append(args.plant)
        return f"{args.plant} is planted"

    async def nothing(self, args: Mapping[str, Any], caller: Caller) -> str:
        return "nothing"

    def tools(self) -> list[Tool]:
        """What it offers."""
        empty = {"type": "object"}
        book = "Looks into the garden's book."
        return [
            Tool("look", book, self.look, Query, result=Notes, annotations=READS, tier=Tier.OPEN),
            Tool("plant", "Plants.", self.plant, Seed, tier=Tier.OPEN),
            Tool("harvest", "Harvests.", self.nothing, input_schema=empty),
            Tool("cellar", "Looks.", self.nothing, input_schema=empty, annotations=READS),
        ]

    def module(self) -> Any:
        """The plugin's module."""

        @asynccontextmanager
        async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
            yield Offer(tools=self.tools())

        module: Any = ModuleType("module_garden")
        module.porch_plugin = hookimpl(lambda: Plugin("garden", "A garden.", opened))
        return module


def models(url: str, **changed: Any) -> dict[str, Any]:
    """The section of a portal whose models are the stand-in's."""
    provider = {"kind": "compatible", "url": url, "concurrency": 200}
    return {"providers": {"local": provider}, "chat": "local/m", "retries": 0, **changed}


@asynccontextmanager
async def open_garden(
    server: OpenAICompatible,
    garden: Garden | None = None,
    *modules: Any,
    config: Mapping[str, Any] | None = None,
    tiers: str = TIERS,
    **options: Any,
) -> AsyncGenerator[TestPortal]:
    """Open it, with ann and bob, who have signed in."""
    given = dict(config or {})
    services = {"models": models(server.url), **given.pop("services", {})}
    whole = {"services": services, **given}
    module = (garden or Garden()).module()
    async with open_test_portal(module, *modules, config=whole, tiers=tiers, **options) as portal:
        await portal.running.assistant.ready()
        for name in ("ann", "bob"):
            await portal.sign_in(name)
        yield portal


@dataclass(frozen=True)
class Heard:
    """An event of a stream."""

    id: str
    data: Any

    @property
    def kind(self) -> str:
        """Its type; ``[DONE]`` is its own."""
        return self.data if isinstance(self.data, str) else str(self.data["type"])


def heard(text: str) -> list[Heard]:
    """The events in what was streamed."""
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            value = data if data == "[DONE]" else json.loads(data)
            events.append(Heard(lines.get("id", ""), value))
    return events


def said(events: list[Heard]) -> str:
    """The words of an answer, as a client puts them together."""
    return "".join(each.data["delta"] for each in events if each.kind == "text-delta").strip()


def kinds(events: list[Heard]) -> list[str]:
    """The types of events, one after the other."""
    return [each.kind for each in events]


async def ask(
    portal: TestPortal, message: str, id: str = "", who: str = "ann"
) -> tuple[list[Heard], dict[str, Any]]:
    """Ask, hear the whole answer, and look at the conversation."""
    path = f"{CHAT}/{id}/messages" if id else CHAT
    given, streamed = {"message": message}, {"accept": "text/event-stream"}
    answer = await portal.http(who).post(path, json=given, headers=streamed)
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    events = heard(answer.text)
    return events, await chat_of(portal, events[0].data["messageMetadata"]["conversation"], who)


async def chat_of(portal: TestPortal, id: str, who: str = "ann") -> dict[str, Any]:
    """A conversation as its person sees it."""
    found: dict[str, Any] = (await portal.http(who).get(f"{CHAT}/{id}")).json()
    return found
