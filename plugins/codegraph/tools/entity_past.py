"""What became of one entity, as answers tell it."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from gateway.contract import ToolResult
from plugins.codegraph.changes.compare import ChangeKind
from plugins.codegraph.changes.entity_history import EntityHistory
from plugins.codegraph.changes.history import PastChange, PastUpdate
from plugins.codegraph.changes.log import KEPT_FOR, MAX_UPDATES, UpdateKind
from plugins.codegraph.tools.change_models import left_out

MAX_EDITS = 20
"""The most changes of one entity that an answer tells."""


class Edit(ToolResult):
    """One change of an entity."""

    change: ChangeKind
    at: datetime = Field(description="When it was indexed.")
    commit: str | None = Field(None, description="None where a file was saved uncommitted.")
    author: str | None = Field(None, description="Of the newest commit of that index.")
    subject: str | None = None
    formerly: str | None = Field(None, description="Where a rename came from: name, file:line.")


class Past(ToolResult):
    """What became of an entity, as far as it is kept."""

    edits: list[Edit] = Field(description="Newest first, through its renames.")
    more: int = Field(0, description="How many older ones are not listed.")
    why: str | None = Field(None, description="Why changes may be missing.")


def past_of(history: EntityHistory) -> Past:
    """The model of an entity's history."""
    reasons = [*left_out(history.looked_at), *_unseen(history)]
    return Past(
        edits=[_edit(*each) for each in history.changes[:MAX_EDITS]],
        more=len(history.changes[MAX_EDITS:]),
        why=f"Not known to be complete: {'; '.join(reasons)}." if reasons else None,
    )


def _unseen(history: EntityHistory) -> list[str]:
    """Why older changes may be missing: neither the entity's beginning nor the first index is
    among what is kept."""
    began = bool(history.changes) and history.changes[-1][0].told.before is None
    first = bool(history.looked_at) and history.looked_at[-1].kind is UpdateKind.FIRST
    kept = f"{KEPT_FOR.days} days and {MAX_UPDATES} indexes"
    return [] if began or first else [f"changes are kept for {kept}, and this is older"]


def _edit(change: PastChange, update: PastUpdate) -> Edit:
    return Edit(
        change=change.kind,
        at=update.at,
        commit=update.commit[:12] if update.is_commit else None,
        author=(update.author or None) if update.is_commit else None,
        subject=(update.subject or None) if update.is_commit else None,
        formerly=_former(change),
    )


def _former(change: PastChange) -> str | None:
    before = change.told.before
    if before is None or change.kind is not ChangeKind.RENAMED:
        return None
    return f"{before.qualified}, {before.path}:{before.line}"
