"""What a migration does after which every index must be made again."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

_STATEMENTS = (
    "UPDATE codegraph_layers SET state = 'dead', ended = :now",
    "UPDATE codegraph_repositories SET layer = NULL, embedded_layer = NULL, "
    "embedded_generation = NULL",
    "DELETE FROM codegraph_workspaces",
    "UPDATE codegraph_work SET requested = :now, failures = 0 WHERE repo IN "
    "(SELECT id FROM codegraph_repositories WHERE state = 'active')",
)


def index_anew() -> None:
    """Have all repositories indexed anew; nothing is served of them until then."""
    now = datetime.now(UTC).replace(tzinfo=None)
    for statement in _STATEMENTS:
        text = sa.text(statement)
        if ":now" in statement:
            text = text.bindparams(sa.bindparam("now", now, sa.DateTime))
        op.execute(text)
