"""The portal's own two tools, through which a model reaches those that it was not told of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from auth import Caller
from gateway.catalog.items import CALL_TOOL, FIND_TOOLS, PORTAL, Item, tool_item
from gateway.contract import Tool, ToolFailed
from gateway.discovery.ranking import group_of, topics

MAX_FOUND = 20
"""Tools that one search may give; each brings its schema."""
_MAX_QUERY_CHARACTERS = 1000
_MAX_GROUPS = 40
_MAX_TOPIC_WORDS = 240
_MOST_TOPICS = 12
_LEAST_TOPICS = 3

Run = Callable[[Any, Caller], Awaitable[Any]]


class FindArguments(BaseModel):
    """What ``find_tools`` takes."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        min_length=1,
        max_length=_MAX_QUERY_CHARACTERS,
        description="What you want to do, in a few words.",
    )
    limit: int = Field(5, ge=1, le=MAX_FOUND, description="How many tools to show at most.")


class CallArguments(BaseModel):
    """What ``call_tool`` takes."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, description="The tool's name, as find_tools gives it.")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Its arguments, as its inputSchema says."
    )


def find_item(run: Run, description: str = "Finds tools.") -> Item:
    """``find_tools`` as an item.

    Args:
        run: ``await run(FindArguments, caller)``.
        description: what a model is told of it.
    """
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    declared = Tool(
        FIND_TOOLS, description, run, FindArguments, title="Find tools", annotations=hints
    )
    return tool_item(PORTAL, declared, FIND_TOOLS)


def call_item() -> Item:
    """``call_tool`` as an item, which runs only where there is no other tool to run instead."""

    async def run(args: CallArguments, caller: Caller) -> Any:
        raise ToolFailed(
            "nested_call", f"{CALL_TOOL} calls other tools. Give it the name of one of them."
        )

    text = (
        f"Calls a tool that {FIND_TOOLS} has found, or any other tool of this portal by its name. "
        "The answer is the tool's own."
    )
    return tool_item(
        PORTAL, Tool(CALL_TOOL, text, run, CallArguments, title="Call a tool"), CALL_TOOL
    )


def find_description(items: Sequence[Item], listed: int) -> str:
    """What a model is told of ``find_tools``: what there is to be found.

    It is made of the names of plugins, servers and tools, which are of letters and digits: no
    sentence of another server comes in here.

    Args:
        items: what the caller may use.
        listed: how many of them are in the list beside it.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
    each = max(_LEAST_TOPICS, min(_MOST_TOPICS, _MAX_TOPIC_WORDS // max(1, len(groups))))
    largest = sorted(groups, key=lambda name: (-len(groups[name]), name))
    lines = [
        f"- {name} ({len(groups[name])}): {', '.join(topics(groups[name], each))}"
        for name in largest[:_MAX_GROUPS]
    ]
    if len(largest) > _MAX_GROUPS:
        lines.append(f"- and {len(largest) - _MAX_GROUPS} more")
    return (
        f"Finds the tools for a task. {len(items) - listed} tools of this portal are not in your "
        "list, and you can use every one of them: search here before you say that something cannot "
        f"be done, then call what fits with {CALL_TOOL}. Where they are from, and what they are "
        "about:\n" + "\n".join(lines)
    )
