"""What the audit log keeps of one call."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

__all__ = ["BATCH_RECORDS", "AuditRecord"]

BATCH_RECORDS = 500
"""Records that are written in one transaction."""


class AuditRecord(NamedTuple):
    """One call.

    Attributes:
        at: when it began, with its time zone.
        request_id: the id that logs and errors carry too.
        person: the stable person id, or None for an anonymous caller.
        tier: the caller's tier.
        item: the item's key, such as ``knowledge/get_document``.
        kind: ``tool``, ``resource``, ``template``, ``prompt`` or ``completion``.
        surface: ``mcp``, ``rest`` or ``cli``.
        outcome: ``ok``, or the code of the error.
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
