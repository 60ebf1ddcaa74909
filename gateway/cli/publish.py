"""``porch publish``: the portal's entry for a registry of MCP servers."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import click

from gateway.cli.options import EXIT, HomePath, Setup, with_setup

_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")


@click.command()
@click.option("--name", metavar="NAMESPACE/NAME", help="Its name there.  [default: the domain's]")
@click.option(
    "--output",
    type=HomePath(dir_okay=False, path_type=Path),
    default="server.json",
    show_default=True,
    help="The file to write; - prints it.",
)
@with_setup
@click.pass_context
def command(ctx: click.Context, setup: Setup, name: str | None, output: Path) -> None:
    """Write server.json, with which a registry of MCP servers lists the portal.

    The registry must see that the name is yours: for a domain's name by a record of its DNS or a
    file on its web server, for io.github.NAME by a sign-in there. Its publisher command does both
    and sends the file.

    \b
    Examples:
      porch publish                                   org.example.portal/porch
      porch publish --name io.github.my-group/commons
    """
    from gateway.surfaces.server_card import PublicPortal, registry_entry

    config = setup.portal.config
    if config.is_local or not config.url.startswith("https://"):
        click.echo(
            f"A registry lists what everybody can reach, and this portal is at {config.url}. Set "
            "public_url in portal.yaml to its https address first.",
            err=True,
        )
        ctx.exit(EXIT.PROBLEM)
    if name and not _NAME.fullmatch(name):
        raise click.BadParameter("write it as NAMESPACE/NAME", param_hint="--name")
    portal = PublicPortal(config.name, version("porch"), config.url)
    text = json.dumps(registry_entry(portal, name), indent=2, ensure_ascii=False) + "\n"
    if str(output) == "-":
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    click.echo(f"wrote {output}: {name or portal.name}")
    click.echo("Send it with the registry's own command: mcp-publisher login, then publish.")
