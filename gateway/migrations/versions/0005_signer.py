"""Who signed for a wallet: its key, or a contract on the chain that the subject names.

Nothing that is kept says it of the wallets that are there, so it stays unknown until each signs
again. It has no default, so that what an older portal beside this one still writes is unknown too.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("porch_accounts", sa.Column("signer", sa.Text))


def downgrade() -> None:
    op.drop_column("porch_accounts", "signer")
