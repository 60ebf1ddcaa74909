"""``porch approvals``: what waits for a person's yes, decided on the portal's own machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gateway.cli.options import Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.approvals.request import ApprovalRequest
    from gateway.approvals.store import ApprovalStore

T = TypeVar("T")


@click.group()
def command() -> None:
    """See which calls wait for a person's yes, and decide them.

    Which tools wait, and for whom, says `approve:` in tiers.yaml. People decide on the portal's
    page /approvals. Whoever may use this machine counts as one person here, the operator, whatever
    the rule says: one yes of a quorum.

    \b
    Examples:
      porch approvals list
      porch approvals show ap_277964df5a657832c554
      porch approvals approve ap_277964df5a657832c554
      porch approvals refuse ap_277964df5a657832c554 --note "Ask again on Monday."
    """


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Also what has ended.")
@json_option
@with_setup
def list_(setup: Setup, every: bool, as_json: bool) -> None:
    """List the calls that wait, the oldest first.

    \b
    Examples:
      porch approvals list
      porch approvals list --all --json
    """

    async def look(store: ApprovalStore) -> list[ApprovalRequest]:
        return list(await (store.every() if every else store.open()))

    found = asyncio.run(_with(setup, look))
    if as_json:
        emit([_json(each) for each in found])
    elif not found:
        click.echo("Nothing waits for a yes.")
    else:
        from gateway.cli.stored import show_table

        head = ("ID", "TOOL", "STATE", "YES", "ASKED BY", "UNTIL")
        show_table(head, [_row(each) for each in found])


@command.command()
@click.argument("id")
@json_option
@with_setup
def show(setup: Setup, id: str, as_json: bool) -> None:
    """Show one call that waits: who asks, whose yes it takes, and all of its arguments.

    \b
    Examples:
      porch approvals show ap_277964df5a657832c554
    """

    async def look(store: ApprovalStore) -> ApprovalRequest:
        return _there(await store.get(id), id)

    found = asyncio.run(_with(setup, look))
    if as_json:
        emit(_json(found))
        return
    for line in _lines(found):
        click.echo(line)


@command.command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not show the arguments and ask.")
@with_setup
def approve(setup: Setup, id: str, yes: bool) -> None:
    """Say yes to a call, as the operator of this machine; it shows the arguments first.

    \b
    Examples:
      porch approvals approve ap_277964df5a657832c554
    """

    async def agree(store: ApprovalStore) -> ApprovalRequest:
        found = _there(await store.get(id), id)
        if not yes:
            for line in _lines(found):
                click.echo(line)
            await asyncio.to_thread(click.confirm, "May it run?", abort=True, err=True)
        return await store.decide(id, _operator(), yes=True, digest=found.call.digest)

    decided = asyncio.run(_with(setup, agree))
    if decided.state == "approved":
        click.echo(f"{decided.id} is approved: it runs once, when it is called again.")
    else:
        click.echo(f"Your yes counts. It takes {decided.quorum - decided.yeses} more.")


@command.command()
@click.argument("id")
@click.option("--note", default="", help="What to say to whoever asks.")
@with_setup
def refuse(setup: Setup, id: str, note: str) -> None:
    """Say no to a call, also to one that is approved and has not run.

    \b
    Examples:
      porch approvals refuse ap_277964df5a657832c554 --note "Ask again on Monday."
    """

    async def decline(store: ApprovalStore) -> ApprovalRequest:
        return await store.decide(id, _operator(), yes=False, note=note)

    decided = asyncio.run(_with(setup, decline))
    click.echo(f"{decided.id} is refused, and will not run.")


async def _with(setup: Setup, act: Callable[[ApprovalStore], Awaitable[T]]) -> T:
    """Do something with the requests; what does not count is a problem to read."""
    from gateway.approvals.request import NotDecided
    from gateway.approvals.store import ApprovalStore
    from gateway.cli.stored import opened_tables

    async with opened_tables(setup) as database:
        try:
            return await act(ApprovalStore(database))
        except NotDecided as no:
            raise click.ClickException(no.message) from None


def _operator() -> Any:
    from gateway.approvals.counting import Voter
    from gateway.approvals.request import OPERATOR

    return Voter(OPERATOR, (), "operator", "cli")


def _there(found: ApprovalRequest | None, id: str) -> ApprovalRequest:
    if found is None:
        raise click.ClickException(f"There is no request {id!r}; `porch approvals list` has them.")
    return found


def _row(each: ApprovalRequest) -> tuple[str, ...]:
    from gateway.toolkit.visible_text import visible

    yes = f"{each.yeses} of {each.quorum}"
    cells = (each.id, each.name, each.state, yes, each.call.person, _time(each.expires))
    return tuple(map(visible, cells))


def _lines(found: ApprovalRequest) -> Iterator[str]:
    import json

    from gateway.toolkit.visible_text import visible

    yield f"{found.id} · {visible(found.name)} · {found.state}"
    yield f"  item      {visible(found.call.item)}"
    yield f"  asked     {_time(found.asked)} by {visible(found.call.person)}"
    yield f"  decides   {visible(found.who)}; {found.yeses} of {found.quorum} said yes"
    yield f"  good till {_time(found.expires)}"
    if found.note:
        yield f"  note      {visible(found.note)}"
    if found.arguments is not None:
        text = json.dumps(found.arguments, indent=2, ensure_ascii=False)
        yield "  arguments"
        yield from (f"    {line}" for line in visible(text).splitlines())


def _json(each: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": each.id,
        "item": each.call.item,
        "name": each.name,
        "state": each.state,
        "asked_by": each.call.person,
        "asked": each.asked.isoformat(),
        "expires": each.expires.isoformat(),
        "by": each.who,
        "quorum": each.quorum,
        "given": each.yeses,
        "arguments": each.arguments,
        "note": each.note,
        "run": each.run,
    }


def _time(value: datetime) -> str:
    return value.astimezone().strftime("%Y-%m-%d %H:%M")
