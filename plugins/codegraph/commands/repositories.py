"""``porch codegraph add``, ``index``, ``list`` and ``remove``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from pydantic import BaseModel, Field, model_validator

from gateway.contract import Command, CommandContext, Tier


class AddArgs(BaseModel):
    """What ``porch codegraph add`` takes."""

    location: str = Field(
        description="A directory on this machine, or the https address of a Git repository."
    )
    name: str | None = Field(None, description="What to call it; else the last part of LOCATION.")
    tier: Tier | None = Field(None, description="The tier that may see it; else default_tier.")
    group: tuple[str, ...] = Field(
        (), description="A group whose members alone may see it; may be given several times."
    )
    branch: str | None = Field(
        None, description="The branch of an address; else the host's default one."
    )
    scip: bool = Field(
        False, description="Run the SCIP indexers that are installed, too; it takes long."
    )


class IndexArgs(BaseModel):
    """What ``porch codegraph index`` takes."""

    name: tuple[str, ...] = Field(description="The repositories' names; all of them if none.")
    scip: bool = Field(
        False, description="Run the SCIP indexers that are installed, too; it takes long."
    )

    @model_validator(mode="before")
    @classmethod
    def _all_if_none(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"name": (), **given}


class ListArgs(BaseModel):
    """What ``porch codegraph list`` takes."""

    problems: bool = Field(
        False, description="List every file that is not, or not wholly, in the graph, and why."
    )


class RemoveArgs(BaseModel):
    """What ``porch codegraph remove`` takes."""

    name: str = Field(description="The repository's name.")


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
LIST = Command(
    name="list",
    summary="Show the repositories and how their indexes are.",
    args=ListArgs,
    run=_action("listed"),
    beside_portal=True,
)
REMOVE = Command(
    name="remove",
    summary="Remove a repository and all that is kept of it.",
    args=RemoveArgs,
    run=_action("remove"),
    beside_portal=True,
)
