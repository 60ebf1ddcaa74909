"""What was removed from files. Earlier indexes contain secrets, so all are made anew."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_INDEX_ANEW = (
    "UPDATE codegraph_layers SET state = 'dead', ended = :now",
    "UPDATE codegraph_repositories SET layer = NULL, embedded_layer = NULL, "
    "embedded_generation = NULL",
    "DELETE FROM codegraph_texts",
    "DELETE FROM codegraph_workspaces",
    "INSERT INTO codegraph_work (repo) SELECT id FROM codegraph_repositories "
    "WHERE id NOT IN (SELECT repo FROM codegraph_work)",
    "UPDATE codegraph_work SET requested = :now, failures = 0 WHERE repo IN "
    "(SELECT id FROM codegraph_repositories WHERE state = 'active')",
)


def upgrade() -> None:
    secrets = sa.Column("secrets", sa.Text, nullable=False, server_default="")
    op.add_column("codegraph_files", secrets)
    now = datetime.now(UTC).replace(tzinfo=None)
    for statement in _INDEX_ANEW:
        text = sa.text(statement)
        if ":now" in statement:
            text = text.bindparams(sa.bindparam("now", now, sa.DateTime))
        op.execute(text)
