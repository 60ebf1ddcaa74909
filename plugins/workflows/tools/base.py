"""What the modules of tools have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import Tier, Tool

Wire: TypeAlias = Mapping[str, Any]
"""A result as it is sent; the model that it is made of is the tool's output schema."""
MAX_PAGE_SIZE = 100
"""What one page or list holds, at most."""

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Changes nothing."""
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
"""Writes something new with every call."""
EDITS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
"""Changes or deletes what is there."""
SETS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Makes something so; called again, it changes nothing."""


def open_tool(
    run: Callable[..., Awaitable[Wire]],
    title: str,
    result: type[BaseModel],
    annotations: ToolAnnotations = READS,
) -> Tool:
    """A tool that anyone may call, unless ``tiers.yaml`` says otherwise."""
    return Tool.of(run, title=title, result=result, tier=Tier.OPEN, annotations=annotations)


def personal_tool(
    run: Callable[..., Awaitable[Wire]],
    title: str,
    result: type[BaseModel],
    annotations: ToolAnnotations,
) -> Tool:
    """A tool that makes no sense for someone who has not signed in."""
    tier = Tier.PUBLIC
    return Tool.of(run, title=title, result=result, tier=tier, floor=tier, annotations=annotations)


def clamp(value: int, most: int) -> int:
    """A number from 1 to the most."""
    return max(1, min(value, most))
