"""What the rules need to know of a whole repository to judge a part of it."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("codegraph_justified", sa.Column("outline", sa.LargeBinary))
