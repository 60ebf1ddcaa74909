"""References; all indexes are made anew, to contain them."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_INDEX_ANEW = (
    "UPDATE codegraph_layers SET state = 'dead', ended = :now",
    "UPDATE codegraph_repositories SET layer = NULL, embedded_layer = NULL, "
    "embedded_generation = NULL",
    "DELETE FROM codegraph_workspaces",
    "UPDATE codegraph_work SET requested = :now, failures = 0 WHERE repo IN "
    "(SELECT id FROM codegraph_repositories WHERE state = 'active')",
)


def upgrade() -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    for statement in _INDEX_ANEW:
        text = sa.text(statement)
        if ":now" in statement:
            text = text.bindparams(sa.bindparam("now", now, sa.DateTime))
        op.execute(text)
