"""``porch audit``: who called what, at which tier, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import TIERS, Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.observability.audit_reader import AuditReader, Total
    from gateway.observability.audit_record import AuditRecord

_BY = {"person": "person", "tool": "item"}
"""What ``--by`` takes, and the field that it means."""


def _moment(_ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    return _parsed(text, f"--{param.name}") if text else None


@click.command()
@click.option(
    "--since",
    metavar="WHEN",
    callback=_moment,
    help="Only what is younger: a span such as 24h or 7d, or a time such as 2026-11-21T09:00.",
)
@click.option("--until", metavar="WHEN", callback=_moment, help="Only what is older, likewise.")
@click.option("--tier", type=click.Choice(TIERS), help="Only calls at this tier.")
@click.option("--person", metavar="ID", help="Only this person's calls.")
@click.option("--item", metavar="KEY", help="Only this item, such as knowledge/get_document.")
@click.option("--outcome", metavar="CODE", help="Only this outcome, such as ok or not_allowed.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="How many lines at most.",
)
@click.option("--by", type=click.Choice([*_BY]), help="Sum up by person or tool, busiest first.")
@click.option("--follow", is_flag=True, help="Show what comes in from now on, until Ctrl+C.")
@json_option
@with_setup
def command(
    setup: Setup, limit: int, by: str | None, follow: bool, as_json: bool, **where: Any
) -> None:
    """Read the record of calls, the newest first.

    It says who called what, when, at which tier, how it ended, how long it took and how large
    the answer was. Values of arguments are never recorded.

    \b
    Examples:
      porch audit --since 24h
      porch audit --since 7d --until 1d
      porch audit --outcome not_allowed               who was turned away
      porch audit --by tool --since 7d                what is used, and what fails
      porch audit --by person --item knowledge/get_document
      porch audit --follow --json                     one line of JSON for each call
    """
    if follow and (by or where["until"]):
        raise click.UsageError("--follow shows calls as they come, without --by and --until.")
    with suppress(KeyboardInterrupt):  # which is how --follow ends
        asyncio.run(_show(setup, where, limit, by, follow=follow, as_json=as_json))


def _parsed(text: str, hint: str) -> datetime:
    """A time that was given as such, in this machine's time zone, or as a span before now."""
    from gateway.cli.stored import span

    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return datetime.now(UTC) - span(text, hint)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


async def _show(
    setup: Setup, where: Any, limit: int, by: str | None, *, follow: bool, as_json: bool
) -> None:
    from gateway.cli.stored import opened_database
    from gateway.observability.audit_reader import AuditReader

    async with opened_database(setup, must_exist=True) as database:
        reader = AuditReader(database.for_owner("gateway"))
        if follow:
            await _follow(reader, where, as_json=as_json)
        elif by:
            field: Any = _BY[by]
            totals = await reader.totals(field, where, limit)
            emit([each._asdict() for each in totals]) if as_json else _show_totals(by, totals)
        else:
            records = await reader.newest(where, limit)
            emit([each._asdict() for each in records]) if as_json else _show_records(records)


async def _follow(reader: AuditReader, where: Any, *, as_json: bool) -> None:
    import json

    async for records in reader.follow(where):
        for record in records:
            if as_json:
                click.echo(json.dumps(record._asdict(), ensure_ascii=False, default=str))
            else:
                click.echo("  ".join(_cells(record)))


def _show_records(records: Sequence[AuditRecord]) -> None:
    from gateway.cli.stored import show_table

    if not records:
        click.echo("No call matches.")
        return
    head = ("time", "tier", "outcome", "took", "answer", "person", "item")
    show_table(head, [_cells(record) for record in records])


def _cells(record: AuditRecord) -> tuple[str, ...]:
    return (
        record.at.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        record.tier,
        record.outcome,
        f"{record.milliseconds:.0f} ms",
        f"{record.bytes_out} B",
        record.person or "anonymous",
        record.item,
    )


def _show_totals(by: str, totals: Sequence[Total]) -> None:
    from gateway.cli.stored import show_table

    if not totals:
        click.echo("No call matches.")
        return
    rows = [
        (
            f"{each.calls:,}",
            f"{each.failed:,}",
            f"{each.milliseconds / each.calls:.0f} ms",
            f"{each.bytes_out / 1024:,.0f} KiB",
            each.last.astimezone().strftime("%m-%d %H:%M"),
            each.name or "anonymous",
        )
        for each in totals
    ]
    show_table(("calls", "not ok", "mean", "answers", "last", by), rows)
