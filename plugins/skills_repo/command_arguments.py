"""What the commands ``porch skills …`` take."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from plugins.skills_repo.client_places import Client


class IndexArgs(BaseModel):
    """What ``porch skills index`` takes."""

    source: str | None = Field(None, description="Only the source of this name.")


class CheckArgs(BaseModel):
    """What ``porch skills check`` takes."""

    source: str | None = Field(None, description="Only the source of this name.")
    directory: Path | None = Field(
        None, description="A directory of skills, rather than the configured sources."
    )


class InstallArgs(BaseModel):
    """What ``porch skills install`` takes."""

    name: str = Field(description="A skill or an agent profile, as the lists name it.")
    client: Client | None = Field(None, description="The client that is to read it.")
    into: Path | None = Field(
        None, description="The project's root directory; else the current directory."
    )
    user: bool = Field(False, description="Into your home directory, for all of your projects.")
    source: str | None = Field(None, description="Only the source of this name.")
    force: bool = Field(False, description="Replace files that are there and differ.")
    dry_run: bool = Field(False, description="Say what would be written; write nothing.")
