"""People and what they sign in with, tokens, sessions, grants and revocations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _people()
    _tokens_and_sessions()
    _grants()
    _notes()


def _people() -> None:
    op.create_table(
        "porch_people",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_people_created", "porch_people", ["created"])
    op.create_table(
        "porch_accounts",
        sa.Column("subject", sa.Text, primary_key=True),
        _below("person", "porch_people.id"),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("known_as", sa.Text),
        sa.Column("email", sa.Text),
        sa.Column("claims", sa.Text, nullable=False),
        sa.Column("proved", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_accounts_person", "porch_accounts", ["person"])
    op.create_index("ix_porch_accounts_known_as", "porch_accounts", ["provider", "known_as"])


def _tokens_and_sessions() -> None:
    op.create_table(
        "porch_api_tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("ceiling", sa.Text, nullable=False),
        sa.Column("granted", sa.Text),
        sa.Column("tools", sa.Text),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime),
        sa.Column("used", sa.DateTime),
        sa.Column("revoked", sa.DateTime),
    )
    op.create_index("ix_porch_api_tokens_digest", "porch_api_tokens", ["digest"], unique=True)
    op.create_index("ix_porch_api_tokens_person", "porch_api_tokens", ["person"])
    op.create_table(
        "porch_sessions",
        sa.Column("digest", sa.Text, primary_key=True),
        _below("person", "porch_people.id"),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("agent", sa.Text, nullable=False),
    )
    op.create_index("ix_porch_sessions_person", "porch_sessions", ["person"])
    op.create_index("ix_porch_sessions_expires", "porch_sessions", ["expires"])


def _grants() -> None:
    op.create_table(
        "porch_grants",
        sa.Column("id", sa.Text, primary_key=True),
        _below("person", "porch_people.id"),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("client_name", sa.Text, nullable=False),
        sa.Column("resource", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
        sa.Column("revoked", sa.DateTime),
    )
    op.create_index("ix_porch_grants_person", "porch_grants", ["person"])
    op.create_index("ix_porch_grants_created", "porch_grants", ["created"])
    for name, more in (("codes", _code_columns()), ("refresh_tokens", [])):
        op.create_table(
            f"porch_{name}",
            sa.Column("digest", sa.Text, primary_key=True),
            _below("grant", "porch_grants.id"),
            *more,
            sa.Column("expires", sa.DateTime, nullable=False),
            sa.Column("spent", sa.DateTime),
        )
        op.create_index(f"ix_porch_{name}_grant", f"porch_{name}", ["grant"])
        op.create_index(f"ix_porch_{name}_expires", f"porch_{name}", ["expires"])


def _code_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("redirect_uri", sa.Text, nullable=False),
        sa.Column("explicit", sa.Boolean, nullable=False),
        sa.Column("challenge", sa.Text, nullable=False),
    ]


def _notes() -> None:
    op.create_table(
        "porch_spent",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("until", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_spent_until", "porch_spent", ["until"])
    op.create_table(
        "porch_revocations",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_porch_revocations_at", "porch_revocations", ["at"])


def _below(name: str, above: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, sa.ForeignKey(above, ondelete="CASCADE"), nullable=False)


def downgrade() -> None:
    for name in (
        "revocations",
        "spent",
        "refresh_tokens",
        "codes",
        "grants",
        "sessions",
        "api_tokens",
        "accounts",
        "people",
    ):
        op.drop_table(f"porch_{name}")
