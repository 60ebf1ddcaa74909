"""``porch copy-database``: all that a portal keeps in SQLite, into PostgreSQL."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import click

from gateway.cli.options import Setup, with_setup
from gateway.toolkit.counts import counted

COPIED = "porch.db.copied"
"""What the file is called afterwards; nothing reads it."""


@click.command("copy-database")
@with_setup
def command(setup: Setup) -> None:
    """Copy all that data/porch.db holds into the PostgreSQL that services.database names.

    People with their tokens, memory, workflows, drafts, approvals and records are there as they
    were. Stop the portal first, and take a backup. The database has to be empty. All of it is
    copied, or nothing; every table's rows are counted. The file is then called porch.db.copied,
    and kept.

    \b
    Examples:
      porch copy-database
      porch copy-database --config /etc/porch --data /var/lib/porch
    """
    from gateway.cli.backup import database_address
    from gateway.server.data_directory import held
    from gateway.services.database.sqlite_to_postgres import CopyImpossible, copy_to_postgres

    file, address = setup.data_dir / "porch.db", database_address(setup)
    if address == "sqlite":
        raise click.ClickException(
            "services.database says sqlite; write there where everything is to go, such as "
            "env:PORCH_DATABASE_URL."
        )
    if not file.exists():
        raise click.ClickException(f"{file} is not there; name the data directory with --data.")
    with held(setup.data_dir):
        try:
            rows = copy_to_postgres(file, address, owners())
        except CopyImpossible as error:
            raise click.ClickException(f"{error} Nothing was copied.") from None
        for name in ("", "-wal", "-shm"):
            if (part := file.with_name(f"porch.db{name}")).exists():
                part.rename(file.with_name(f"{COPIED}{name}"))
    filled = {table: count for table, count in rows.items() if count}
    for table, count in filled.items():
        click.echo(f"{count:>9,}  {table}")
    told = f"{counted(sum(rows.values()), 'row')} in {counted(len(filled), 'table')}"
    click.echo(f"{told} copied. {file} is now {COPIED}. Start the portal.")


def owners() -> dict[str, Path]:
    """Where the migrations of the portal and of each installed plugin lie."""
    from gateway.observability.audit import MIGRATIONS

    found = {"gateway": MIGRATIONS}
    for plugin in entry_points(group="porch.plugins"):
        module = find_spec(plugin.module)
        if module and module.origin:
            migrations = Path(module.origin).parent / "migrations"
            if migrations.is_dir():
                found[plugin.name] = migrations
    return found
