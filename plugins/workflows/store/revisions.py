"""What changed in which version of an item or a folder, when and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import and_, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows import limits
from plugins.workflows.model import Revision, TargetType
from plugins.workflows.store.tables import revision_files, revisions

MAX_REVISIONS = 50
"""Revisions that are kept of an item."""
FOLDER = "FOLDER"
"""The type of a folder's."""


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A new revision, and whose it is.

    Attributes:
        type: what kind of item it is, or ``FOLDER``.
        target: its id.
    """

    type: TargetType | str
    target: str
    revision: Revision


async def write(connection: AsyncConnection, new: Sequence[NewRevision]) -> None:
    """Write revisions; those that are too old go."""
    rows = [{"type": each.type, "target": each.target, **asdict(each.revision)} for each in new]
    if rows:
        await connection.execute(insert(revisions), rows)
    old = [
        {"of": each.type, "id": each.target, "up_to": each.revision.version - MAX_REVISIONS}
        for each in new
        if each.revision.version > MAX_REVISIONS
    ]
    if old:
        whose = (revisions.c.type == bindparam("of"), revisions.c.target == bindparam("id"))
        query = delete(revisions).where(*whose, revisions.c.version <= bindparam("up_to"))
        await connection.execute(query, old)
        files = revision_files.c.skill == bindparam("id")
        beyond = delete(revision_files).where(files, revision_files.c.version <= bindparam("up_to"))
        await connection.execute(beyond, [{k: row[k] for k in ("id", "up_to")} for row in old])


async def since(
    connection: AsyncConnection, type: TargetType | str, target: str, version: int
) -> list[Revision]:
    """The revisions after a version, as far as they are kept, the oldest first."""
    if version >= limits.MAX_VERSION:  # no database would take more
        return []
    whose = and_(revisions.c.type == type, revisions.c.target == target)
    query = select(revisions).where(whose, revisions.c.version > version)
    rows = await connection.execute(query.order_by(revisions.c.version))
    return [Revision(row.version, row.at, row.by, tuple(row.fields)) for row in rows]
