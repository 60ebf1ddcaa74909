"""A plugin with views: what is shown, what links, and what a stranger may not see."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import (
    Graph,
    GraphEdge,
    GraphNode,
    Host,
    Offer,
    Plugin,
    PluginConfig,
    Tier,
    Tool,
    ToolFailed,
    View,
    Write,
    hookimpl,
)

HERE = Path(__file__).parent
READS = ToolAnnotations(read_only_hint=True)
EVIL = "<script>alert(1)</script>\"'<img src=x onerror=alert(1)>\u202e"
"""Markup, quotes and a mark that turns the direction of writing."""


WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True)


class Thing(BaseModel):
    """What the tools return."""

    name: str
    text: str
    size: int
    tags: list[str] = []


async def show_thing(name: str, size: int = 1, tags: list[str] | None = None) -> Thing:
    """Show a thing.

    Args:
        name: What it is called.
        size: How large.
        tags: What it is about.
    """
    if name == "none":
        raise ToolFailed("not_found", f"There is no {name}.")
    return Thing(name=name, text=f"# {name}\n\n{EVIL}", size=size, tags=tags or [])


async def list_things() -> Thing:
    """List all things."""
    return Thing(name="all", text="", size=0)


async def secret_thing() -> Thing:
    """What is for members."""
    return Thing(name="secret", text="", size=0)


class Kept(BaseModel):
    """What became of a thing."""

    name: str
    size: int
    tags: list[str]
    sure: bool


KEPT: list[Kept] = []
"""What was kept, the newest last."""


async def keep_thing(
    name: str, size: int = 1, tags: list[str] | None = None, sure: bool = False
) -> Kept:
    """Keep a thing.

    Args:
        name: What it is called.
        size: How large.
        tags: What it is about.
        sure: Whether you are.
    """
    if name == "none":
        raise ToolFailed("bad_input", f"Nobody keeps {name}.")
    KEPT.append(Kept(name=name, size=size, tags=tags or [], sure=sure))
    return KEPT[-1]


async def burn_thing(name: str) -> Kept:
    """Burn a thing, which no page offers.

    Args:
        name: What it is called.
    """
    raise AssertionError(name)


def tools() -> list[Tool]:
    """The tools."""
    return [
        Tool.of(keep_thing, tier=Tier.PUBLIC, annotations=WRITES),
        Tool.of(burn_thing, tier=Tier.OPEN, annotations=WRITES),
        Tool.of(show_thing, tier=Tier.OPEN, annotations=READS),
        Tool.of(list_things, tier=Tier.OPEN, annotations=READS),
        Tool.of(secret_thing, tier=Tier.MEMBERS, annotations=READS),
    ]


KEEPS = (Write("keep_thing", "{{ result.name }} is kept, {{ arguments.size or 'small' }}."),)


def things(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """A thing and what it is about."""
    name, tags = answer["name"], answer["tags"]
    nodes = [GraphNode(name, name, EVIL, "start"), *(_tag(each) for each in tags)]
    return Graph(f"{name} {EVIL}", nodes, [GraphEdge(name, each, EVIL) for each in tags])


def _tag(name: str) -> GraphNode:
    return GraphNode(name, name, tool="show_thing", arguments={"name": name})


def view(
    name: str, tool: str, *, listed: bool = False, path: str = "", asks: str = "", **others: Any
) -> View:
    """A view of this plugin."""
    template = HERE / "thing.html"
    return View(name, f"The {name}", tool, template, path, listed, KEEPS, asks, **others)


VIEWS = [
    view("thing", "show_thing", asks="name", graph=things),
    view("things", "list_things", listed=True, path="all/of-them", glance={}),
    view("secret", "secret_thing", listed=True),
]


OFFER = Offer(tools=tools(), views=VIEWS)


@asynccontextmanager
async def _open(config: PluginConfig, host: Host) -> AsyncGenerator[Offer]:
    yield OFFER


@hookimpl
def porch_plugin() -> Plugin:
    """The plugin."""
    return Plugin("painted", "Pictures.", open=_open)
