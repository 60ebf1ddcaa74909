"""A plugin with views: what is shown, what links, and what a stranger may not see."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import (
    Host,
    Offer,
    Plugin,
    PluginConfig,
    Tier,
    Tool,
    ToolFailed,
    View,
    hookimpl,
)

HERE = Path(__file__).parent
READS = ToolAnnotations(read_only_hint=True)
EVIL = "<script>alert(1)</script>\"'<img src=x onerror=alert(1)>\u202e"
"""Markup, quotes and a mark that turns the direction of writing."""


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


def tools() -> list[Tool]:
    """The tools."""
    return [
        Tool.of(show_thing, tier=Tier.OPEN, annotations=READS),
        Tool.of(list_things, tier=Tier.OPEN, annotations=READS),
        Tool.of(secret_thing, tier=Tier.MEMBERS, annotations=READS),
    ]


def view(name: str, tool: str, *, listed: bool = False, path: str = "") -> View:
    """A view of this plugin."""
    return View(name, f"The {name}", tool, HERE / "thing.html", path, listed)


VIEWS = [
    view("thing", "show_thing"),
    view("things", "list_things", listed=True, path="all/of-them"),
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
