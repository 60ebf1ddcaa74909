"""``porch work``: what waits for members' agents, and who has answered what."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import click

from gateway.cli.options import Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.work.upkeep import WorkUpkeep

T = TypeVar("T")

_WAITING = ("open", "answered", "unsettled")


@click.group()
def command() -> None:
    """See what plugins have members' agents do, and who has answered it.

    Members' agents take work with the tool take_work and bring answers with return_work.

    \b
    Examples:
      porch work list
      porch work answers
      porch work again wk_0ac33bb2d815079ca5de
    """


@command.command("list")
@click.option("--items", "each", is_flag=True, help="Every item that waits, the oldest first.")
@json_option
@with_setup
def list_(setup: Setup, each: bool, as_json: bool) -> None:
    """Count the items by kind and state: open, answered, accepted or unsettled.

    An unsettled item has answers that do not agree, or its plugin has refused them too often;
    `--items` says which.

    \b
    Examples:
      porch work list
      porch work list --items --json
    """
    from gateway.cli.stored import show_table

    rows: list[tuple[str, ...]]
    if each:
        found = asyncio.run(_with(setup, lambda upkeep: upkeep.items(_WAITING)))
        rows = [
            (item.id, item.kind, item.key, item.state, _time(item.published), item.reason or "")
            for item in found
        ]
        head: tuple[str, ...] = ("ID", "KIND", "ABOUT", "STATE", "SINCE", "REASON")
    else:
        counted = asyncio.run(_with(setup, lambda upkeep: upkeep.counts()))
        rows = [(count.kind, count.state, str(count.number)) for count in counted]
        head = ("KIND", "STATE", "ITEMS")
    if as_json:
        emit([dict(zip(map(str.lower, head), row, strict=True)) for row in rows])
    elif not rows:
        click.echo("No plugin has work for agents just now.")
    else:
        show_table(head, [_visible(row) for row in rows])


@command.command("answers")
@json_option
@with_setup
def answers(setup: Setup, as_json: bool) -> None:
    """List what was answered in the last month: by whom, and by which model as they state it.

    \b
    Examples:
      porch work answers
      porch work answers --json
    """
    from gateway.cli.stored import show_table

    found = asyncio.run(_with(setup, lambda upkeep: upkeep.answers()))
    head = ("AT", "KIND", "ABOUT", "BY", "CLIENT", "MODEL", "OUTCOME")
    rows = [
        (_time(a.at), a.kind, a.key, a.person or "(erased)", a.client, a.model, a.outcome)
        for a in found
    ]
    if as_json:
        emit([dict(zip(map(str.lower, head), row, strict=True)) for row in rows])
    elif not rows:
        click.echo("Nothing was answered in the last month.")
    else:
        show_table(head, [_visible(row) for row in rows])


@command.command("again")
@click.argument("id")
@with_setup
def again(setup: Setup, id: str) -> None:
    """Have an unsettled item done again, once what its reason names is mended.

    \b
    Examples:
      porch work again wk_0ac33bb2d815079ca5de
    """
    if not asyncio.run(_with(setup, lambda upkeep: upkeep.again(id))):
        raise click.ClickException(
            f"No item {id!r} is unsettled; `porch work list --items` has them."
        )
    click.echo(f"{id} is taken up again within a minute, where a portal runs.")


async def _with(setup: Setup, act: Callable[[WorkUpkeep], Awaitable[T]]) -> T:
    from gateway.cli.stored import opened_tables
    from gateway.work.upkeep import WorkUpkeep

    async with opened_tables(setup) as database:
        return await act(WorkUpkeep(database))


def _visible(row: tuple[str, ...]) -> tuple[str, ...]:
    from gateway.toolkit.visible_text import visible

    return tuple(map(visible, row))


def _time(value: datetime) -> str:
    return value.astimezone().strftime("%Y-%m-%d %H:%M")
