"""Bring one owner's tables to the newest revision, with Alembic and without its ini file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["MigrationFailed", "newest", "recorded", "upgrade"]

_REVISION = re.compile(r"""^(down_)?revision\b[^=\n]*=\s*(.+)$""", re.MULTILINE)
_QUOTED = re.compile(r"""["']([^"']+)["']""")


class MigrationFailed(Exception):
    """The tables could not be brought to the newest revision; nothing was changed."""


def newest(migrations: Path) -> set[str]:
    """The revisions that no other revision of a directory follows, read from its files' text.

    Alembic would say the same, but its import takes longer than a warm start may.

    Args:
        migrations: a directory with ``versions/*.py``.
    """
    revisions, followed = _revisions(migrations)
    return revisions - followed


def _revisions(migrations: Path) -> tuple[set[str], set[str]]:
    """All revisions of a directory, and those that another one follows."""
    revisions: set[str] = set()
    followed: set[str] = set()
    for path in (migrations / "versions").glob("*.py"):
        for down, value in _REVISION.findall(path.read_text("utf-8")):
            (followed if down else revisions).update(_QUOTED.findall(value))
    return revisions, followed


def recorded(connection: Connection, version_table: str) -> set[str]:
    """The revisions that a version table shows; none where there is no such table."""
    from sqlalchemy import column, inspect, select, table

    if not inspect(connection).has_table(version_table):
        return set()
    rows = connection.execute(select(table(version_table, column("version_num")).c.version_num))
    return set(rows.scalars())


def upgrade(connection: Connection, migrations: Path, version_table: str) -> None:
    """Run the revisions that are missing, on a connection inside a transaction.

    Raises:
        MigrationFailed: the tables come from a newer version, or a revision failed.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    _refuse_newer(connection, migrations, version_table)
    config = Config()
    # The options go through a ConfigParser, to which a percent sign means something.
    for option, path in (
        ("script_location", Path(__file__).parent / "migration_env"),
        ("version_locations", migrations / "versions"),
    ):
        config.set_main_option(option, str(path).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes.update(connection=connection, version_table=version_table)
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise MigrationFailed(
            f"The tables of {_owner(version_table)} cannot be brought to the revisions in "
            f"{migrations}: {error}."
        ) from error


def _refuse_newer(connection: Connection, migrations: Path, version_table: str) -> None:
    """Say so where the tables were written by a version that has more revisions than this one."""
    unknown = recorded(connection, version_table) - _revisions(migrations)[0]
    if unknown:
        raise MigrationFailed(
            f"The tables of {_owner(version_table)} were written by a newer version: they are at "
            f"revision {', '.join(sorted(unknown))}, and this version knows those up to "
            f"{', '.join(sorted(newest(migrations)))}. Nothing was changed. Install the newer "
            "version again, or restore the backup from before the upgrade."
        )


def _owner(version_table: str) -> str:
    return version_table.removeprefix("alembic_version_")
