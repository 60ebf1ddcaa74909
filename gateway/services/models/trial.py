"""The question by which an admin sees whether a model answers."""

from __future__ import annotations

from pydantic import BaseModel, Field

__all__ = ["Ready"]


class Ready(BaseModel):
    """Whether you can answer."""

    ready: bool = Field(description="true")
