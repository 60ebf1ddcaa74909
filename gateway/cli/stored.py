"""What the commands over the portal's database share: the stores, spans of time, tables."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from gateway.cli.options import Setup

if TYPE_CHECKING:
    from auth.revocations import Revocations
    from auth.stores import Stores
    from gateway.contract import Database
    from gateway.errors import ConfigError
    from gateway.services.database.service import DatabaseService


@asynccontextmanager
async def opened_database(
    setup: Setup, *, must_exist: bool = False
) -> AsyncGenerator[DatabaseService]:
    """Open the database alone, beside a portal that runs or without one.

    Args:
        setup: names the database.
        must_exist: whether it is a problem that no portal has written to it yet.

    Raises:
        ConfigError: the database's address is wrong, or it is not there.
    """
    from gateway.contract.backend_errors import is_database_away
    from gateway.errors import ConfigError, Problem
    from gateway.observability import logs
    from gateway.services.database.service import open_database
    from gateway.services.secrets import address

    logs.configure(setup.environment.log or "critical")  # what goes wrong is told below, in a line
    try:
        url = address(setup.portal.config.services.database, setup.portal.root)
        service = open_database(url, setup.data_dir)
    except ValueError as error:
        raise _problem(str(error)) from None
    if must_exist and url == "sqlite" and not (setup.data_dir / "porch.db").exists():
        reason = "no portal has kept a record here; see --data"
        raise ConfigError([Problem(str(setup.data_dir), 0, "", reason)])
    try:
        yield service
    except Exception as error:
        if not is_database_away(error):
            raise
        raise _problem(f"The database does not answer ({error}). Try again in a moment.") from None
    finally:
        await service.close()


def _problem(reason: str) -> ConfigError:
    from gateway.errors import ConfigError, Problem

    return ConfigError([Problem("portal.yaml", 0, "services.database", reason)])


@asynccontextmanager
async def opened_tables(setup: Setup) -> AsyncGenerator[Database]:
    """Open the portal's own tables, beside a portal that runs or without one.

    Raises:
        ConfigError: the database's address is wrong, or it cannot be used.
    """
    from auth.stores import StoreUnavailable
    from gateway.observability.audit import MIGRATIONS
    from gateway.services.database.migrations import MigrationFailed
    from gateway.services.database.service import DatabaseUnavailable

    async with opened_database(setup) as service:
        database = service.for_owner("gateway")
        try:
            await database.migrate(MIGRATIONS)
        except (DatabaseUnavailable, MigrationFailed) as error:
            raise _problem(str(error)) from None
        try:
            yield database
        except StoreUnavailable as error:
            reason = f"The database does not answer ({error}). Try again in a moment."
            raise _problem(reason) from None


@asynccontextmanager
async def opened_stores(setup: Setup) -> AsyncGenerator[tuple[Stores, Revocations]]:
    """Open the tables of people and credentials, likewise.

    Yields:
        What is remembered, and where revocations are noted, which running portals read.

    Raises:
        ConfigError: the database's address is wrong, or it cannot be used.
    """
    from auth.revocations import Revocations
    from gateway.identity.stores import open_stores

    async with opened_tables(setup) as database:
        stores = open_stores(database)
        yield stores, Revocations(stores.revocations)


def span(text: str, hint: str) -> timedelta:
    """Read a span of time, such as ``90d``.

    Args:
        text: what was given.
        hint: the option that it was given to.

    Raises:
        click.BadParameter: it is no span.
    """
    from pydantic import TypeAdapter, ValidationError

    from gateway.contract.config_types import Duration

    try:
        wanted: timedelta = TypeAdapter(Duration).validate_python(text)
    except ValidationError:
        raise click.BadParameter(
            f"{text!r} is no span of time; write 30m, 24h or 7d.", param_hint=hint
        ) from None
    return wanted


def day(time: datetime | None, otherwise: str = "never") -> str:
    """A time as the day it is here, or what to say where there is none."""
    return time.astimezone().strftime("%Y-%m-%d") if time else otherwise


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their head, each column as wide as it needs."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
