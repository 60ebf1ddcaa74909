"""All tables of the portal's own, whichever parts of it a test has imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import MetaData


def portal_metadata() -> MetaData:
    """What every part of the gateway declares of the database."""
    import gateway.approvals.tables
    import gateway.assistant.tables
    import gateway.budgets.tables
    import gateway.identity.stores.tables
    import gateway.payments.tables
    import gateway.services.models.table
    import gateway.work.tables  # noqa: F401
    from gateway.observability.audit_table import metadata

    return metadata
