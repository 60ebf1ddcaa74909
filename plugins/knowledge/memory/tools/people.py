"""The tool that tells whom an entry can be shared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.rights.roles import require_role
from plugins.knowledge.memory.tools.annotations import READ_ONLY

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

_MAX_GROUPS = 200
"""Groups that one answer lists."""


class FoundPerson(BaseModel):
    """Somebody who shares a group with the caller."""

    id: str = Field(description="For approved_users.")
    name: str
    groups: list[str] = Field(description="The groups that you share.")


class FoundPeople(BaseModel):
    """Who the caller is, and people of theirs."""

    id: str = Field(description="Your own id, by which others name you.")
    name: str | None = None
    groups: list[str] = Field(description="The groups that you are in, for allowed_teams.")
    people: list[FoundPerson] = Field(description="Of whom you asked for, the nearest first.")


def people_tool(memory: Memory) -> Tool:
    """The tool."""

    async def find_people(name: str = "", *, caller: Caller) -> FoundPeople:
        """See which groups your person is in, and find people who share one with them by name,
        to say who may read a memory. Nobody else is found.

        Args:
            name: A name, or a part of it; without one only your person's groups are told.
        """
        person = require_role(caller, memory.entries.roles.read, "find people")
        fellows = await memory.people.fellows(caller, name) if name.strip() else ()
        return FoundPeople(
            id=person,
            name=caller.name,
            groups=sorted(caller.groups)[:_MAX_GROUPS],
            people=[
                FoundPerson(id=each.id, name=each.name, groups=sorted(each.groups)[:_MAX_GROUPS])
                for each in fellows
            ],
        )

    return Tool.of(find_people, annotations=READ_ONLY, floor=Tier.PUBLIC, title="Find people")
