"""What ``porch tools --cost`` shows."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from gateway.cli.options import Setup
from gateway.toolkit.counts import counted

_MODES = {
    "full": "the whole list",
    "deferred": "the favourites at once, the others when the client wants them",
    "search": "find_tools, call_tool and the favourites",
}


def costs_at(setup: Setup, tier: str) -> dict[str, Any]:
    """What the tools of a tier cost a client, as the portal reckons it.

    Raises:
        click.ClickException: the portal refused; the message says why.
    """
    return asyncio.run(_costs(setup, tier))


async def _costs(setup: Setup, tier: str) -> dict[str, Any]:
    from gateway.cli.connection import connected

    async with connected(setup, tier, wait_ready=False) as http:
        response = await http.get("/admin/tool-costs")
    answer: dict[str, Any] = response.json()
    if not response.is_success:
        raise click.ClickException(answer["error"]["message"])
    return answer


def show(costs: dict[str, Any], tier: str) -> None:
    """Print each tool's cost, the sum, and what each mode costs."""
    from gateway.cli.render import clean, style

    tools, modes, budget = costs["tools"], costs["modes"], costs["budget"]
    click.echo(
        style(f"{counted(len(tools), 'tool')} at the tier {tier}, in tokens (estimated)", bold=True)
    )
    for each in tools:
        click.echo(f"  {each['tokens']:>7,}  {clean(each['name'])}")
    over = modes["full"] > budget
    verdict = "over it, so the client's mode counts" if over else "every client has the whole list"
    click.echo(f"\n  {modes['full']:>7,}  in all; tools.budget is {budget:,}: {verdict}")
    click.echo(style("\nWhat a conversation would begin with, by mode", bold=True))
    for mode, what in _MODES.items():
        click.echo(f"  {modes[mode]:>7,}  {mode}: {what}")
