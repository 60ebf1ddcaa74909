"""What the audit log keeps of one call."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

__all__ = ["APPROVAL", "BATCH_RECORDS", "GRANT", "NO_CALLS", "AuditRecord"]

BATCH_RECORDS = 500
"""Records that are written in one transaction."""


APPROVAL = "approval"
"""The kind of records that tell of a request for a person's yes: they are no calls."""
GRANT = "grant"
"""The kind of records that tell of credits for models, granted or bought, and of paid plans."""
NO_CALLS = (APPROVAL, GRANT)
"""The kinds of records that tell of no call."""


class AuditRecord(NamedTuple):
    """One call.

    Attributes:
        at: when it began, with its time zone.
        request_id: the id that logs and errors carry too; of a request for a yes, its own.
        person: the stable person id, or None for an anonymous caller.
        tier: the caller's tier.
        item: the item's key, such as ``knowledge/get_document``.
        kind: ``tool``, ``resource``, ``template``, ``prompt`` or ``completion``; or
            ``approval`` or ``grant``.
        surface: ``mcp``, ``rest``, ``page`` or ``cli``.
        outcome: ``ok``, or the code of the error; of a request for a yes, what has become of it.
        milliseconds: how long it took.
        bytes_out: the size of the answer.
    """

    at: datetime
    request_id: str
    person: str | None
    tier: str
    item: str
    kind: str
    surface: str
    outcome: str
    milliseconds: float
    bytes_out: int
