"""What ``porch skills index`` and ``porch skills check`` take."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class IndexArgs(BaseModel):
    """What ``porch skills index`` takes."""

    source: str | None = Field(None, description="Only the source of this name.")


class CheckArgs(BaseModel):
    """What ``porch skills check`` takes."""

    source: str | None = Field(None, description="Only the source of this name.")
    directory: Path | None = Field(
        None, description="A directory of skills, rather than the configured sources."
    )
