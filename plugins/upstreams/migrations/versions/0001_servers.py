"""What servers offered last, and which of their tools were accepted."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "upstreams_catalogues",
        sa.Column("server", PLAIN, primary_key=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("era", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("entries", sa.Text, nullable=False),
        sa.Column("malformed", sa.Text, nullable=False),
        sa.Column("fetched", sa.DateTime, nullable=False),
    )
    op.create_table(
        "upstreams_pins",
        sa.Column("server", PLAIN, primary_key=True),
        sa.Column("name", PLAIN, primary_key=True),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("decided", sa.DateTime, nullable=False),
        sa.Column("decided_by", sa.Text),
    )
