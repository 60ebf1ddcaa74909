"""``porch audit``: who called what, at which tier, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import (
    TIERS,
    Setup,
    config_option,
    data_option,
    emit,
    json_option,
    load,
)

if TYPE_CHECKING:
    from gateway.audit import AuditRecord


@click.command()
@click.option("--since", metavar="SPAN", help="Only what is younger than this, such as 24h or 7d.")
@click.option("--tier", type=click.Choice(TIERS), help="Only calls at this tier.")
@click.option("--person", metavar="ID", help="Only this person's calls.")
@click.option("--item", metavar="KEY", help="Only this item, such as knowledge/get_document.")
@click.option("--outcome", metavar="CODE", help="Only this outcome, such as ok or not_allowed.")
@click.option(
    "--limit", type=click.IntRange(1), default=100, show_default=True, help="How many at most."
)
@json_option
@config_option
@data_option
def command(
    since: str | None,
    as_json: bool,
    config: Path | None,
    data: Path | None,
    **where: Any,
) -> None:
    """Read the record of calls, the newest first.

    It says who called what, when, at which tier, how it ended, how long it took and how large
    the answer was. Values of arguments are never recorded.

    \b
    Examples:
      porch audit --since 24h
      porch audit --outcome not_allowed               who was turned away
      porch audit --item knowledge/get_document --json
    """
    after = _after(since) if since else None
    records = asyncio.run(_read(load(config, data), after, where))
    if as_json:
        emit([record._asdict() for record in records])
    else:
        _show(records)


def _after(span: str) -> datetime:
    from datetime import timedelta

    from pydantic import TypeAdapter, ValidationError

    from gateway.config_types import Duration

    try:
        wanted: timedelta = TypeAdapter(Duration).validate_python(span)
        return datetime.now(UTC) - wanted
    except ValidationError:
        raise click.BadParameter(
            f"{span!r} is no span of time; write 30m, 24h or 7d.", param_hint="--since"
        ) from None
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


async def _read(setup: Setup, since: datetime | None, where: Any) -> Sequence[AuditRecord]:
    from gateway.audit import AuditLog
    from gateway.errors import ConfigError, Problem
    from gateway.services.database import open_database
    from gateway.services.secrets import address

    try:
        url = address(setup.portal.config.services.database, setup.portal.root)
        database = open_database(url, setup.data_dir)
    except ValueError as error:
        raise ConfigError([Problem("portal.yaml", 0, "services.database", str(error))]) from None
    if url == "sqlite" and not (setup.data_dir / "porch.db").exists():
        raise ConfigError(
            [Problem(str(setup.data_dir), 0, "", "no portal has kept a record here; see --data")]
        )
    try:
        log = AuditLog(database.for_owner("gateway"))
        return await log.read(since=since, **where)
    finally:
        await database.close()


def _show(records: Sequence[AuditRecord]) -> None:
    if not records:
        click.echo("No call matches.")
        return
    rows = [
        (
            record.at.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            record.tier,
            record.outcome,
            f"{record.milliseconds:.0f} ms",
            f"{record.bytes_out} B",
            record.person or "anonymous",
            record.item,
        )
        for record in records
    ]
    head = ("time", "tier", "outcome", "took", "answer", "person", "item")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
