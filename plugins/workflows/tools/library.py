"""The tools for a person's library: what they keep of others' workflows and skill cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from gateway.contract import Caller, Tool
from plugins.workflows.model import TargetType
from plugins.workflows.store.library import Library, LibraryEdit
from plugins.workflows.tools.arguments.fields import ANY_CASE, Name
from plugins.workflows.tools.base import SETS, Wire, personal_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.results.library import LibraryChange

ItemId = Annotated[
    Name, Field(description="The id or key of a workflow or a skill card that you may see.")
]
Kind = Annotated[
    Annotated[Literal["WORKFLOW", "SKILL"], ANY_CASE] | None,
    Field(description="What it is, where a key could mean either."),
]


def tools(library: Library, told: Callable[[], None]) -> list[Tool]:
    """The tools; they make no sense for someone who has not signed in.

    Args:
        library: where it is kept.
        told: tells clients that somebody's list of prompts is another one.
    """

    async def add_to_library(id: ItemId, type: Kind = None, *, caller: Caller) -> Wire:
        """Keep a workflow or a skill card of the playbook in your library, so that you find it
        again: `get_available_workflows` and `get_skills` list the library with their `scope`, and
        its workflows are among your prompts. Its author may still change it, or take it back."""
        return answer(await library.add(signed_in(caller), id, _type(type)), inside=True)

    async def remove_from_library(id: ItemId, type: Kind = None, *, caller: Caller) -> Wire:
        """Take a workflow or a skill card of the playbook out of your library. The item itself
        stays as it is; one that its author took back since can be removed by its id."""
        return answer(await library.remove(signed_in(caller), id, _type(type)), inside=False)

    def answer(kept: LibraryEdit, *, inside: bool) -> Wire:
        if kept.changed and kept.type is TargetType.WORKFLOW:
            told()
        return LibraryChange(
            type="WORKFLOW" if kept.type is TargetType.WORKFLOW else "SKILL",
            id=kept.id,
            in_library=inside,
            changed=kept.changed,
        ).wire()

    return [
        personal_tool(add_to_library, "Keep in your library", LibraryChange, SETS),
        personal_tool(remove_from_library, "Remove from your library", LibraryChange, SETS),
    ]


def _type(given: str | None) -> TargetType | None:
    return None if given is None else TargetType(given)
