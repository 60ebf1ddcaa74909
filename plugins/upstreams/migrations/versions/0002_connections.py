"""People's own connections to servers, and what the portal is to authorization servers."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "upstreams_connections",
        sa.Column("person", PLAIN, primary_key=True),
        sa.Column("server", PLAIN, primary_key=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("sealed", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("expires", sa.DateTime),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("leased", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "upstreams_clients",
        sa.Column("issuer", PLAIN, primary_key=True),
        sa.Column("callback", PLAIN, primary_key=True),
        sa.Column("sealed", sa.Text, nullable=False),
    )
