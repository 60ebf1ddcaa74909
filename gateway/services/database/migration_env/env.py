"""The Alembic environment that every owner's migrations run in.

``gateway.services.database.migrations`` hands in an open connection, inside a transaction, and
the name of the owner's own version table.
"""

from __future__ import annotations

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=attributes["version_table"],
    # SQLite and PostgreSQL both undo table changes with the transaction.
    transactional_ddl=True,
)
context.run_migrations()
