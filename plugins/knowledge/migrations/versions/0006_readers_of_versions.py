"""Memory: each version of an entry keeps who could read it, and who allowed it.

Of the versions that are there the policy is known, not the layer: what was in a layer that is its
owner's alone became private as upkeep moved it on. So what came before such a move stays the
owner's, whatever policy it named.
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

ENTRIES = sa.table(
    "memory_entries",
    *map(sa.column, ("id", "owner", "layer", "access", "version")),
)
VERSIONS = sa.table(
    "memory_versions", *map(sa.column, ("entry", "version", "by", "fields", "readers"))
)
PRIVATE = {"policy": "private"}
OWN = {"working", "session"}
AT_ONCE = 200


def upgrade() -> None:
    readers = sa.Column("readers", sa.Text, nullable=False, server_default="[]")
    op.add_column("memory_versions", readers)
    op.add_column("memory_versions", sa.Column("approved_by", sa.Text))
    connection, last = op.get_bind(), ""
    while True:
        page = sa.select(ENTRIES).where(ENTRIES.c.id > last)
        rows = connection.execute(page.order_by(ENTRIES.c.id).limit(AT_ONCE)).all()
        if not rows:
            return
        for row in rows:
            _fill(connection, row)
        last = rows[-1].id


def _fill(connection: sa.Connection, entry: Any) -> None:
    own = VERSIONS.c.entry == entry.id
    kept = sa.select(VERSIONS.c.version, VERSIONS.c.by, VERSIONS.c.fields).where(own)
    alone = entry.layer in OWN
    for row in connection.execute(kept.order_by(VERSIONS.c.version.desc())).all():
        access = PRIVATE
        if row.version == entry.version:
            access = json.loads(entry.access)
        elif row.fields is not None:
            access = json.loads(row.fields)["access"]
        keys = sorted(_readers(entry.owner, PRIVATE if alone else access))
        change = sa.update(VERSIONS).where(own, VERSIONS.c.version == row.version)
        connection.execute(change.values(readers=json.dumps(keys)))
        alone = alone or (row.by == "upkeep" and access["policy"] == "private")


def _readers(owner: str, access: dict[str, Any]) -> set[str]:
    """As ``access.readers`` said when this was written."""
    own = {f"person:{owner}"}
    match access["policy"]:
        case "restricted":
            return own | {f"person:{each}" for each in access.get("approved_users", ())}
        case "shared":
            return own | {f"group:{each}" for each in access.get("allowed_teams", ())}
        case "organization":
            return own | {"tier:members"}
        case "public":
            return own | {"tier:public"}
    return own
