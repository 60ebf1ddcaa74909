"""Memory: entries with their labels, words, versions and events; approvals and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _entries()
    _around()
    _governance()


def _entries() -> None:
    op.create_table(
        "memory_entries",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", PLAIN, nullable=False, unique=True),
        sa.Column("layer", PLAIN, nullable=False),
        sa.Column("owner", PLAIN, nullable=False),
        sa.Column("agent", PLAIN),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("access", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("versioned", sa.Boolean, nullable=False),
        sa.Column("embedded", sa.Boolean, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("updated", sa.DateTime),
        sa.Column("placed", sa.DateTime, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("used", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime),
        sa.Column("deleted", sa.DateTime),
    )
    op.create_index("ix_memory_entries_layer", "memory_entries", ["layer", "owner"])
    op.create_index("ix_memory_entries_owner", "memory_entries", ["owner", "fingerprint"])
    op.create_index("ix_memory_entries_expires", "memory_entries", ["expires"])
    op.create_index("ix_memory_entries_deleted", "memory_entries", ["deleted"])
    op.create_table(
        "memory_labels",
        sa.Column("entry", NUMBER, primary_key=True),
        sa.Column("label", PLAIN, primary_key=True),
    )
    op.create_table(
        "memory_words",
        sa.Column("term", sa.BigInteger, primary_key=True),
        sa.Column("entry", NUMBER, primary_key=True),
        sa.Column("weight", sa.Float, nullable=False),
    )
    op.create_index("ix_memory_words_entry", "memory_words", ["entry"])


def _around() -> None:
    op.create_table(
        "memory_versions",
        sa.Column("entry", PLAIN, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("fields", sa.Text),
    )
    op.create_table(
        "memory_events",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("entry", PLAIN, nullable=False),
        sa.Column("layer", sa.Text, nullable=False),
        sa.Column("readers", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("body", sa.Text),
    )
    op.create_index("ix_memory_events_entry", "memory_events", ["entry"])
    op.create_index("ix_memory_events_at", "memory_events", ["at"])


def _governance() -> None:
    op.create_table(
        "memory_approvals",
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("entry", PLAIN),
        sa.Column("payload", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("requested_by", PLAIN, nullable=False),
        sa.Column("requested_at", sa.DateTime, nullable=False),
        sa.Column("state", PLAIN, nullable=False),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_at", sa.DateTime),
        sa.Column("note", sa.Text),
    )
    op.create_index("ix_memory_approvals_state", "memory_approvals", ["state", "requested_at"])
    op.create_table(
        "memory_audit",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("person", PLAIN, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("entry", PLAIN),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("request", sa.Text),
    )
    op.create_index("ix_memory_audit_entry", "memory_audit", ["entry"])
    _append_only("memory_audit")


def _append_only(table: str) -> None:
    """Let the database itself refuse to change or remove what was written."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE FUNCTION {table}_stays() RETURNS trigger AS $$ BEGIN "
            f"RAISE EXCEPTION '{table} is only added to'; END $$ LANGUAGE plpgsql"
        )
        op.execute(
            f"CREATE TRIGGER {table}_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_stays()"
        )
        return
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is only added to'); END"
        )
