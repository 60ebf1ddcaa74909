"""``porch tools``: what a caller of a tier may use."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from gateway.cli.options import Setup, as_option, emit, json_option, with_setup
from gateway.cli.tool_costs import costs_at
from gateway.cli.tool_costs import show as show_costs


@click.command()
@as_option
@click.option("--all", "everything", is_flag=True, help="Prompts and resources too.")
@click.option("--cost", is_flag=True, help="What each tool costs a client's model, in tokens.")
@json_option
@with_setup
def command(setup: Setup, tier: str, everything: bool, cost: bool, as_json: bool) -> None:
    """List the tools that a caller of a tier may use.

    Where a portal runs on the data directory it answers; else it is opened for this one call.

    \b
    Examples:
      porch tools --as open                           what a stranger may use
      porch tools --as members --all                  with prompts and resources
      porch tools --cost                              tokens, and what each mode costs
      porch tools --json                              as MCP clients get them, schemas included
    """
    if cost:
        costs = costs_at(setup, tier)
        return emit(costs) if as_json else show_costs(costs, tier)
    listed = asyncio.run(_list_entries(setup, tier, everything))
    if as_json:
        return emit(listed if everything else listed["tools"])
    for kind, entries in listed.items():
        _show(kind, entries, tier)
    return None


async def _list_entries(setup: Setup, tier: str, everything: bool) -> dict[str, Any]:
    from gateway.cli.connection import connected
    from gateway.cli.mcp_client import McpClient

    kinds = ("tools", "prompts", "resources", "templates") if everything else ("tools",)
    async with connected(setup, tier, wait_ready=False) as http:
        client = McpClient(http)
        return {kind: await client.list(kind) for kind in kinds}


def _show(kind: str, entries: list[dict[str, Any]], tier: str) -> None:
    from gateway.cli.render import clean, folded, style

    if not entries:
        click.echo(f"No {kind} at the tier {tier}.")
        return
    click.echo(style(f"{len(entries)} {kind} at the tier {tier}", bold=True))
    for entry in entries:
        name = entry.get("uriTemplate") or entry.get("uri") or entry["name"]
        click.echo(f"  {style(clean(name), bold=True)}{_arguments(entry)}")
        if summary := clean(entry.get("description") or ""):
            for line in folded(_first_sentence(summary), indent=6):
                click.echo(line)
    click.echo("")


def _first_sentence(text: str) -> str:
    first, stop, _ = text.partition("\n")[0].partition(". ")
    return first + stop.rstrip()


def _arguments(entry: dict[str, Any]) -> str:
    """``query [limit]``: the arguments' names, the optional ones in brackets."""
    if "inputSchema" in entry:
        schema = entry["inputSchema"]
        required = set(schema.get("required", ()))
        names = list(schema.get("properties", {}))
    else:
        given = entry.get("arguments") or ()
        required = {each["name"] for each in given if each.get("required")}
        names = [each["name"] for each in given]
    return "".join(f" {name}" if name in required else f" [{name}]" for name in names)
