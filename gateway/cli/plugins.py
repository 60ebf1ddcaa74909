"""``porch plugins``: what is installed, and how each plugin is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from gateway.cli.options import Setup, emit, json_option, with_setup

_UNSEEN = "The portal that runs does not know it yet. Stop it, and start it again."


@click.command()
@json_option
@with_setup
def command(setup: Setup, as_json: bool) -> None:
    """List the installed plugins.

    A plugin is a Python package with an entry point in the group porch.plugins; `pip install`
    is all it takes. Where a portal runs on the data directory, it also says how each plugin is.

    \b
    Examples:
      porch plugins
      porch plugins --json
    """
    found = _plugin_rows(setup, asyncio.run(_health(setup)))
    if as_json:
        emit(found)
        return
    if not found:
        click.echo("No plugin is installed. `porch new-plugin NAME` begins one.")
    for plugin in found:
        _show(plugin)


def _plugin_rows(setup: Setup, health: Mapping[str, Any]) -> list[dict[str, Any]]:
    from gateway.plugin_discovery import discover

    found = discover()
    plugins: list[dict[str, Any]] = []
    for name, plugin in found.plugins.items():
        enabled = setup.portal.section(name).enabled
        how = health.get(name, {})
        plugins.append(
            {
                "name": name,
                "summary": plugin.summary,
                "package": found.packages.get(name),
                "enabled": enabled,
                "state": how.get("state") or ("not running" if enabled else "disabled"),
                "detail": how.get("detail", _UNSEEN if health and enabled and not how else ""),
                "commands": [f"porch {plugin.command or name} {c.name}" for c in plugin.commands],
            }
        )
    broken = [
        {"name": each.name, "state": "broken", "detail": each.reason} for each in found.broken
    ]
    return plugins + broken


async def _health(setup: Setup) -> Mapping[str, Any]:
    """How a running portal's plugins are; nothing where none runs."""
    from gateway.server.data_directory import local_socket

    path = local_socket(setup.data_dir)
    if not path.exists():
        return {}
    import httpx2

    transport = httpx2.AsyncHTTPTransport(uds=str(path))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        try:
            report: Mapping[str, Any] = (await http.get("/readyz")).json()
        except httpx2.TransportError:
            return {}
    plugins: Mapping[str, Any] = report["plugins"]
    return plugins


def _show(plugin: Mapping[str, Any]) -> None:
    from gateway.cli.render import style

    click.echo(f"{style(plugin['name'], bold=True)}  {plugin['state']}")
    for text in (plugin.get("summary"), plugin["detail"], plugin.get("package")):
        if text:
            click.echo(f"    {text}")
    for name in plugin.get("commands", ()):
        click.echo(f"    {name}")
