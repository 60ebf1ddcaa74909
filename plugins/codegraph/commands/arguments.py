"""What the commands that add, index, list and remove repositories take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, model_validator

from gateway.contract import Tier


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


class JustifyArgs(BaseModel):
    """What ``porch codegraph justify`` takes."""

    name: tuple[str, ...] = Field(description="The repositories' names; all of them if none.")
    estimate: bool = Field(
        False, description="Say what asking models would cost, by role, and ask nobody."
    )
    everything: bool = Field(
        False, description="Ask about what facts are sure of, too; it costs much more."
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


class HealthArgs(BaseModel):
    """What ``porch codegraph health`` takes."""

    name: str = Field(description="The repository's name.")
