"""What ``portal.yaml`` says of how many tools a client is shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Mode = Literal["full", "deferred", "search"]
"""How a client is told of tools where all of them are over the budget: all; all, and those of the
favourites marked, for a client that defers the others itself; the favourites and a search."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClientRow(_Section):
    """What clients of a name, or with a capability, are shown."""

    client: str = Field(
        "*",
        min_length=1,
        description="The name in its clientInfo, whatever its capitals; * stands for any text.",
    )
    capability: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="A capability or extension that it must declare too, such as sampling or "
        "io.modelcontextprotocol/ui.",
    )
    mode: Mode = Field(
        description="full: the whole list; deferred: the whole list, the favourites marked for a "
        "client that loads the others when it needs them; search: the favourites, find_tools and "
        "call_tool.",
    )


class Favourites(_Section):
    """The tools that every client is shown, of those that its caller may use."""

    pinned: tuple[str, ...] = Field((), description="Tools by the names that the portal gives.")
    used: int = Field(
        12,
        ge=0,
        le=100,
        description="How many of the most used are added, as far as the budget goes; 0 is none.",
    )
    days: int = Field(
        7, ge=1, le=90, description="How many whole days (UTC) of the audit log say what is used."
    )


class Tools(_Section):
    """How many tools a client is shown, which its model pays for in every conversation."""

    budget: int = Field(
        30_000,
        ge=0,
        description="Tokens that a list of tools may have before the client's row decides how it "
        "is shown; estimated, see `porch tools --cost`.",
    )
    clients: tuple[ClientRow, ...] = Field(
        (),
        description="Rows that come before the shipped ones; the first that fits a client counts.",
    )
    favourites: Favourites = Field(default_factory=Favourites)
