"""``porch payments``: what people have paid, and whether it is kept as it is."""

from __future__ import annotations

from typing import Any

import click

from gateway.cli.options import EXIT, Setup, emit, json_option, with_setup


@click.group()
def command() -> None:
    """Show what people have paid for credits and plans, and hold it against Stripe and the chain.

    \b
    Examples:
      porch payments list
      porch payments reconcile
    """


@command.command("list")
@json_option
@with_setup
def listed(setup: Setup, as_json: bool) -> None:
    """Show payments, the newest first, and subscriptions.

    \b
    Examples:
      porch payments list
      porch payments list --json
    """
    from gateway.cli.connection import admin_answer

    answer = admin_answer(setup, "GET", "payments")
    if as_json:
        emit(answer)
        return
    _table(
        ("AT", "ACCOUNT", "USD", "HOW", "STATE", "ID"),
        [_payment(each) for each in answer["payments"]],
        "Nothing was paid.",
    )
    columns = ("account", "plan", "seats", "status", "ends", "id")
    _table(
        ("ACCOUNT", "PLAN", "SEATS", "STATE", "ENDS", "ID"),
        [tuple(str(each[name] or "-") for name in columns) for each in answer["subscriptions"]],
        "There are no subscriptions.",
    )
    if answer["unfinished"]:
        count = len(answer["unfinished"])
        click.echo(f"Events of Stripe's that were not dealt with: {count}. Say reconcile.")


@command.command()
@json_option
@with_setup
@click.pass_context
def reconcile(ctx: click.Context, setup: Setup, as_json: bool) -> None:
    """Hold what is kept against Stripe and the chain; mend what differs, and name it.

    The portal does the same every night. It ends with 1 where something differed.

    \b
    Examples:
      porch payments reconcile
      porch payments reconcile --json
    """
    from gateway.cli.connection import admin_answer

    answer = admin_answer(setup, "POST", "payments")
    if as_json:
        emit(answer)
    else:
        names = ("what", "id", "was", "now")
        rows = [tuple(str(each[name]) for name in names) for each in answer["differences"]]
        _table(("WHAT", "ID", "WAS", "IS"), rows, "Everything is kept as it is.")
    ctx.exit(EXIT.PROBLEM if answer["differences"] else EXIT.DONE)


def _payment(each: dict[str, Any]) -> tuple[str, ...]:
    state = each["state"]
    if state == "refunded":
        state = f"${each['refunded_usd']} refunded, ${each['taken_back_usd']} taken back"
    at = each["at"][:16].replace("T", " ")
    return at, each["account"] or "-", each["usd"], each["how"], state, each["id"]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]], nothing: str) -> None:
    from gateway.cli.stored import show_table
    from gateway.toolkit.visible_text import visible

    if not rows:
        click.echo(nothing)
        return
    show_table(head, [tuple(map(visible, row)) for row in rows])
