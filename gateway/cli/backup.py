"""``porch backup`` and ``porch restore``: one archive of what cannot be built again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.cli.options import EXIT, HomePath, Setup, emit, json_option, with_setup
from gateway.toolkit.counts import counted

if TYPE_CHECKING:
    from gateway.services.backup.archive import Manifest

_FILE = HomePath(dir_okay=False, path_type=Path)
_EXISTING = HomePath(dir_okay=False, exists=True, path_type=Path)


@click.command()
@click.argument("file", type=_FILE, required=False)
@json_option
@with_setup
def backup(setup: Setup, file: Path | None, as_json: bool) -> None:
    """Write a backup of the portal's data into one FILE, while it runs or not.

    It holds people with their accounts and tokens, the audit record, the tables of plugins, the
    jobs, the signing key and the stored documents, with a manifest of digests. What is built
    again, such as the search index, is left out, and so is the configuration. It is a secret: keep
    it as one. By default FILE is porch-DATE.tar.gz.

    \b
    Examples:
      porch backup
      porch backup /var/backups/porch.tar.gz
      porch backup --json                             what went into it, for a script
    """
    from gateway.services.backup.archive import BackupImpossible, back_up

    chosen = file or Path(f"porch-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.tar.gz")
    objects = setup.portal.config.services.objects
    try:
        manifest = back_up(setup.data_dir, database_address(setup), objects, chosen)
    except BackupImpossible as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        emit({"file": str(chosen), **manifest.model_dump(mode="json")})
        return
    size = chosen.stat().st_size / 10**6
    click.echo(f"{chosen}: {size:.1f} MB, {_summary(manifest)}.")
    for each in manifest.left_out:
        click.echo(f"Left out: {each}.")


@click.command()
@click.argument("file", type=_EXISTING)
@click.option("--verify", is_flag=True, help="Open what was put back, and count its rows.")
@with_setup
@click.pass_context
def restore(ctx: click.Context, setup: Setup, file: Path, verify: bool) -> None:
    """Put a backup from FILE into an empty data directory.

    The digests of the manifest are checked before anything is written. PostgreSQL, where
    services.database names it, has to be empty too. The portal builds the rest again at its next
    start.

    \b
    Examples:
      porch restore porch.tar.gz --verify --data /var/lib/porch
    """
    from gateway.services.backup import restore as restoring
    from gateway.services.backup.archive import BackupImpossible

    database = database_address(setup)
    try:
        manifest = restoring.restore(file, setup.data_dir, database)
    except BackupImpossible as error:
        raise click.ClickException(str(error)) from None
    click.echo(
        f"{setup.data_dir}: {_summary(manifest)}, as of {manifest.created:%Y-%m-%d %H:%M} UTC."
    )
    if verify:
        wrong = restoring.verify(manifest, setup.data_dir, database)
        for each in wrong:
            click.echo(each)
        click.echo("It is not what was backed up." if wrong else "Every table is whole.")
        ctx.exit(EXIT.PROBLEM if wrong else EXIT.DONE)


def database_address(setup: Setup) -> str:
    """The resolved address of the portal's database.

    Raises:
        ConfigError: the secret that holds it is missing.
    """
    from gateway.errors import ConfigError
    from gateway.services.secrets import SecretMissing, address

    setting = setup.portal.config.services.database
    try:
        return address(setting, setup.portal.root)
    except SecretMissing as error:
        problem = setup.portal.source.problem(("services", "database"), str(error))
        raise ConfigError([problem]) from None


def _summary(manifest: Manifest) -> str:
    rows, files = sum(manifest.rows.values()), len(manifest.files) - 1
    tables = counted(len(manifest.rows), "table")
    held = f"{counted(files, 'file')}, {counted(rows, 'row')} in {tables}"
    return f"{held}, written by {manifest.porch}"
