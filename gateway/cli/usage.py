"""``porch usage``: what language models cost, whom, and from which budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.budgets.reports import By, Line, Reports, Span

_BY = ("person", "account", "day", "plugin", "source", "operation", "model", "outcome")


@click.group(invoke_without_command=True)
@click.option("--month", metavar="YYYY-MM", help="Which month (UTC).  [default: the current one]")
@click.option(
    "--by", type=click.Choice(_BY), default="person", show_default=True, help="Sum up by this."
)
@click.option("--person", metavar="ID", help="Only this person's calls.")
@click.option("--export", type=click.Choice(["csv"]), help="Print every call instead, as CSV.")
@json_option
@with_setup
@click.pass_context
def command(
    ctx: click.Context,
    setup: Setup,
    month: str | None,
    by: By,
    person: str | None,
    export: str | None,
    as_json: bool,
) -> None:
    """Show what language models cost, the dearest first.

    It reads the table of calls, beside a portal that runs or without one. `porch usage budgets`
    shows what is left of whose budget, and `porch usage grant` adds to one.

    \b
    Examples:
      porch usage
      porch usage --by model --month 2026-10
      porch usage --by operation --person person:4kq2
      porch usage --export csv > calls.csv
    """
    if ctx.invoked_subcommand is None:
        asyncio.run(_show(setup, month, by, person, export, as_json=as_json))


@command.command()
@click.option("--month", metavar="YYYY-MM", help="Which month (UTC).  [default: the current one]")
@json_option
@with_setup
def budgets(setup: Setup, month: str | None, as_json: bool) -> None:
    """Show what each account has spent of its budget: people, teams and the portal itself.

    \b
    Examples:
      porch usage budgets
      porch usage budgets --month 2026-10 --json
    """
    from gateway.cli.connection import admin_answer

    answer = admin_answer(setup, "GET", "budgets", params={"month": month} if month else {})
    if as_json:
        emit(answer)
        return
    if not answer["accounts"]:
        click.echo(f"Nothing was spent in {answer['month']}.")
        return
    from gateway.cli.stored import show_table
    from gateway.toolkit.visible_text import visible

    rows = [
        tuple(
            map(
                visible,
                (
                    each["account"],
                    each["plan"] or "none",
                    each["spent"],
                    each["limit"] or "no limit",
                    f"${each['credits_usd']}",
                ),
            )
        )
        for each in answer["accounts"]
    ]
    show_table(("ACCOUNT", "PLAN", "SPENT", "OF", "CREDITS"), rows)


@command.command()
@click.argument("who")
@click.argument("amount", metavar="USD")
@click.option("--note", default="", help="Why; it is kept beside the credit.")
@json_option
@with_setup
def grant(setup: Setup, who: str, amount: str, note: str, as_json: bool) -> None:
    """Add to somebody's budget for the current month, in US dollars; jobs that wait go on.

    WHO is a wallet's address, github:NAME, a person's id, team:NAME, portal or anonymous; of a
    person who shares a team's budget, it is the team's. The audit log keeps that it was granted.

    \b
    Examples:
      porch usage grant github:octocat 5 --note "invoice 17"
      porch usage grant team:garden 20.50
    """
    from gateway.cli.connection import admin_answer

    body = {"account": who, "amount": amount, "note": note}
    answer = admin_answer(setup, "POST", "credits", json=body)
    if as_json:
        emit(answer)
        return
    click.echo(
        f"{answer['account']} has {answer['granted']} more in {answer['month']}: "
        f"{answer['spent']} of {answer['limit']} are spent."
    )


async def _show(
    setup: Setup,
    month: str | None,
    by: By,
    person: str | None,
    export: str | None,
    *,
    as_json: bool,
) -> None:
    from gateway.budgets.reports import Reports
    from gateway.cli.stored import opened_tables

    span = _span(month, person)
    async with opened_tables(setup) as database:
        reports = Reports(database)
        if export:
            await _export(reports, span)
            return
        lines, total = await reports.by(by, span), await reports.total(span)
    if as_json:
        emit({"by": by, "lines": [_json(each) for each in lines], "total": _json(total)})
    elif not total.calls:
        click.echo("No model was called.")
    else:
        _print(by, [*lines, total])


def _span(month: str | None, person: str | None) -> Span:
    from auth.stores import utc_now
    from gateway.budgets.months import begin_of, end_of, month_of
    from gateway.budgets.reports import Span

    month = month or month_of(utc_now())
    try:
        return Span(begin_of(month), end_of(month), person)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--month") from None


async def _export(reports: Reports, span: Span) -> None:
    from gateway.budgets.reports import COLUMNS
    from gateway.toolkit.csv_text import csv_text

    click.echo(csv_text([COLUMNS]), nl=False)
    async for calls in reports.calls(span):
        click.echo(csv_text([each[name] for name in COLUMNS] for each in calls), nl=False)


def _print(by: str, lines: Sequence[Line]) -> None:
    from gateway.cli.stored import show_table
    from gateway.config.money import dollars
    from gateway.toolkit.visible_text import visible

    last = len(lines) - 1
    rows = [
        (
            "all" if place == last else visible(each.name) or "none",
            dollars(each.cost),
            f"{each.calls:,}",
            f"{each.failed:,}",
            f"{each.tokens_in:,}",
            f"{each.tokens_out:,}",
        )
        for place, each in enumerate(lines)
    ]
    show_table((by.upper(), "COST", "CALLS", "FAILED", "TOKENS IN", "TOKENS OUT"), rows)
    if lines[last].unpriced:
        click.echo(f"The price of {lines[last].unpriced:,} of the calls is not known.")


def _json(line: Line) -> dict[str, Any]:
    from gateway.config.money import exact

    return {
        "name": line.name,
        "cost_usd": exact(line.cost),
        "calls": line.calls,
        "failed": line.failed,
        "tokens_in": line.tokens_in,
        "tokens_out": line.tokens_out,
        "unpriced": line.unpriced,
    }
