"""Memory: when the words of an entry were written, where what changed last was something else."""

import sqlalchemy as sa
from alembic import op

from gateway.toolkit.columns import UtcDateTime

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("memory_entries", sa.Column("worded", UtcDateTime))
