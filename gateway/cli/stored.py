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


@asynccontextmanager
async def opened_stores(setup: Setup) -> AsyncGenerator[tuple[Stores, Revocations]]:
    """Open the database alone, beside a portal that runs or without one.

    Yields:
        What is remembered, and where revocations are noted, which running portals read.

    Raises:
        ConfigError: the database's address is wrong, or it cannot be used.
    """
    from auth.revocations import Revocations
    from auth.stores import StoreUnavailable
    from gateway.audit import MIGRATIONS
    from gateway.errors import ConfigError, Problem
    from gateway.services.database import DatabaseUnavailable, open_database
    from gateway.services.migrations import MigrationFailed
    from gateway.services.secrets import address
    from gateway.stores import open_stores

    try:
        url = address(setup.portal.config.services.database, setup.portal.root)
        service = open_database(url, setup.data_dir)
    except ValueError as error:
        raise ConfigError([Problem("portal.yaml", 0, "services.database", str(error))]) from None
    try:
        database = service.for_owner("gateway")
        try:
            await database.migrate(MIGRATIONS)
        except (DatabaseUnavailable, MigrationFailed) as error:
            problem = Problem("portal.yaml", 0, "services.database", str(error))
            raise ConfigError([problem]) from None
        stores = open_stores(database)
        yield stores, Revocations(stores.revocations)
    except StoreUnavailable as error:
        reason = f"The database does not answer ({error}). Try again in a moment."
        raise ConfigError([Problem("portal.yaml", 0, "services.database", reason)]) from None
    finally:
        await service.close()


def span(text: str, hint: str) -> timedelta:
    """Read a span of time, such as ``90d``.

    Args:
        text: what was given.
        hint: the option that it was given to.

    Raises:
        click.BadParameter: it is no span.
    """
    from pydantic import TypeAdapter, ValidationError

    from gateway.config_types import Duration

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
