"""When providers said what they say, and which sign-in a session and a consent came of.

Rows of before have neither: a claim counts as said at the account's last proof, which is the
latest that it can be, so that only what is certainly newer replaces it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_BEGUN = ("porch_sessions", "porch_grants")


def upgrade() -> None:
    op.add_column("porch_accounts", sa.Column("dated", sa.Text))
    for table in _BEGUN:
        op.add_column(table, sa.Column("account", sa.Text))
        op.add_column(table, sa.Column("sid", sa.Text))
        op.create_index(f"ix_{table}_account", table, ["account"])


def downgrade() -> None:
    for table in _BEGUN:
        op.drop_index(f"ix_{table}_account", table)
        op.drop_column(table, "sid")
        op.drop_column(table, "account")
    op.drop_column("porch_accounts", "dated")
