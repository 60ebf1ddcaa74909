"""What SQLite and PostgreSQL have in common, and SQLAlchemy has apart."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def insert_into(connection: AsyncConnection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An ``INSERT`` that may say what is done with a row that is there already."""
    is_postgres = connection.dialect.name == "postgresql"
    return postgresql.insert(table) if is_postgres else sqlite.insert(table)
