"""``porch codegraph add``, ``index``, ``justify``, ``list``, ``health`` and ``remove``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic import BaseModel

from gateway.contract import Command, CommandContext
from plugins.codegraph.commands.arguments import (
    AddArgs,
    HealthArgs,
    IndexArgs,
    JustifyArgs,
    ListArgs,
    RemoveArgs,
)


def _action(name: str) -> Callable[[Any, CommandContext], Awaitable[int]]:
    """A command's action; imports ``actions`` only when it runs."""

    async def run(args: BaseModel, context: CommandContext) -> int:
        from plugins.codegraph.commands import actions

        return cast(int, await getattr(actions, name)(args, context))

    return run


ADD = Command(
    name="add",
    summary="Add a directory or a Git repository, and index it.",
    args=AddArgs,
    run=_action("add"),
    beside_portal=True,
)
INDEX = Command(
    name="index",
    summary="Index repositories anew.",
    args=IndexArgs,
    run=_action("index"),
    beside_portal=True,
)
JUSTIFY = Command(
    name="justify",
    summary="Say anew what code is for; where an admin allows it, ask models about the rest.",
    args=JustifyArgs,
    run=_action("justified"),
    beside_portal=True,
)
LIST = Command(
    name="list",
    summary="Show the repositories and how their indexes are.",
    args=ListArgs,
    run=_action("listed"),
    beside_portal=True,
)
HEALTH = Command(
    name="health",
    summary="Report on the health of a repository's code.",
    args=HealthArgs,
    run=_action("health"),
    beside_portal=True,
)
REMOVE = Command(
    name="remove",
    summary="Remove a repository and all that is kept of it.",
    args=RemoveArgs,
    run=_action("remove"),
    beside_portal=True,
)
