"""What all tool modules share: annotations for clients, argument types, limits."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from mcp_types import ToolAnnotations
from pydantic import Field

from plugins.codegraph.model import EntityKind

MAX_WHOLE_BYTES = 32_768
"""The most bytes of the answer about one named thing; the rest of its source is read by offset."""
CALLERS, RESULTS, IMPORTS = 20, 50, 30
"""Results per page: callers or callees, search results, imports."""
MAX_FOUND = 100
"""The most results of a search, on all pages together."""

Wire: TypeAlias = dict[str, Any]
"""A result as it is sent; the model that it is made from is the tool's output schema."""

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Annotations of a tool that changes nothing."""
SETS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Annotations of a tool that stores something; calling it again changes nothing more."""

Repo = Annotated[
    str | None,
    Field(description="The repository's name. Leave it out where you may see only one."),
]
Branch = Annotated[
    str | None,
    Field(
        description="Another branch than the indexed one, as `git branch` prints it; it is read "
        "when first asked for, and answered without uncommitted work."
    ),
]
Name = Annotated[
    str,
    Field(
        description="Its name: `send`, `Mailer.send`, `src/mail.py::Mailer.send`, or the 16-digit "
        "key of an earlier answer."
    ),
]
File = Annotated[
    str | None,
    Field(
        description="Where the name alone is ambiguous: its file, from the repository's root, or "
        "the end of that path."
    ),
]
Kind = Annotated[
    EntityKind | None, Field(description="Where the name alone is ambiguous: what it is.")
]
OfKind = Annotated[EntityKind | None, Field(description="Only entities of this kind.")]
MaxBytes = Annotated[
    int,
    Field(ge=1_000, le=MAX_WHOLE_BYTES, description="The most bytes of the answer, about."),
]
MinConfidence = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="Leave out edges that are less sure: 0.98 keeps what scopes and imports say, "
        "0.95 also declared types, 0 keeps all.",
    ),
]
Depth = Annotated[
    int, Field(ge=1, le=5, description="How many steps to follow: 1 is direct ones only.")
]
Offset = Annotated[
    int,
    Field(ge=0, description="Where to go on in a long source: the nextOffset of the last answer."),
]
