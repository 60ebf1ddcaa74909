"""What the audit log keeps of requests: in the transaction of what it tells of."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from gateway.approvals.request import BoundCall
from gateway.observability.audit import insert_records
from gateway.observability.audit_record import APPROVAL, AuditRecord

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

Event = Literal["asked", "yes", "approved", "refused", "expired", "void", "run"]


class Who(Protocol):
    """Whose doing it is."""

    @property
    def person(self) -> str:
        """Who."""
        ...

    @property
    def tier(self) -> str:
        """Their tier."""
        ...

    @property
    def surface(self) -> str:
        """By which way."""
        ...


async def record(
    connection: AsyncConnection, at: datetime, id: str, call: BoundCall, event: Event, who: Who
) -> None:
    """Write a record.

    Args:
        connection: the transaction of what it tells of.
        at: when.
        id: the request's.
        call: what that is bound to.
        event: what has become of it.
        who: whose doing it is.
    """
    row = AuditRecord(at, id, who.person, who.tier, call.item, APPROVAL, who.surface, event, 0.0, 0)
    await insert_records(connection, [row])
