"""Where a request for a person's yes goes on that a form of a page has asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("porch_approvals", sa.Column("back", sa.Text))


def downgrade() -> None:
    op.drop_column("porch_approvals", "back")
