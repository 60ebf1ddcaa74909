"""What the modules of tools have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp_types import ToolAnnotations

Wire: TypeAlias = Mapping[str, Any]
"""A result as it is sent; the model that it is made of is the tool's output schema."""
MOST = 100
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


def clamped(value: int, most: int) -> int:
    """A number from 1 to the most."""
    return max(1, min(value, most))
