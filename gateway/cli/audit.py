"""``porch audit``: who called what, at which tier, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import TIERS, Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.observability.audit import AuditRecord


@click.command()
@click.option(
    "--since",
    metavar="SPAN",
    callback=lambda _ctx, _param, text: _after(text) if text else None,
    help="Only what is younger than this, such as 24h or 7d.",
)
@click.option("--tier", type=click.Choice(TIERS), help="Only calls at this tier.")
@click.option("--person", metavar="ID", help="Only this person's calls.")
@click.option("--item", metavar="KEY", help="Only this item, such as knowledge/get_document.")
@click.option("--outcome", metavar="CODE", help="Only this outcome, such as ok or not_allowed.")
@click.option(
    "--limit", type=click.IntRange(1), default=100, show_default=True, help="How many at most."
)
@json_option
@with_setup
def command(setup: Setup, since: datetime | None, as_json: bool, **where: Any) -> None:
    """Read the record of calls, the newest first.

    It says who called what, when, at which tier, how it ended, how long it took and how large
    the answer was. Values of arguments are never recorded.

    \b
    Examples:
      porch audit --since 24h
      porch audit --outcome not_allowed               who was turned away
      porch audit --item knowledge/get_document --json
    """
    records = asyncio.run(_read(setup, since, where))
    if as_json:
        emit([record._asdict() for record in records])
    else:
        _show(records)


def _after(text: str) -> datetime:
    from gateway.cli.stored import span

    try:
        return datetime.now(UTC) - span(text, "--since")
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


async def _read(setup: Setup, since: datetime | None, where: Any) -> Sequence[AuditRecord]:
    from gateway.cli.stored import opened_database
    from gateway.observability.audit import AuditLog

    async with opened_database(setup, must_exist=True) as database:
        return await AuditLog(database.for_owner("gateway")).read(since=since, **where)


def _show(records: Sequence[AuditRecord]) -> None:
    from gateway.cli.stored import show_table

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
    show_table(("time", "tier", "outcome", "took", "answer", "person", "item"), rows)
