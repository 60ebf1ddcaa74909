"""``porch schema``: the JSON schemas that editors check the configuration with."""

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.options import EXIT, config_option, emit, json_option


@click.command()
@click.option("--check", is_flag=True, help="Compare only; exit 1 where a file is out of date.")
@json_option
@config_option
@click.pass_context
def command(ctx: click.Context, check: bool, as_json: bool, config: Path | None) -> None:
    """Write config/schema, which editors check the YAML with.

    It is generated from the settings of the portal and of every plugin. An editor that knows
    YAML schemas completes and checks portal.yaml and tiers.yaml with them; the first line of both
    files says where they are.

    \b
    Examples:
      porch schema                                    after installing a plugin
      porch schema --check                            in CI
    """
    from gateway.config import schema
    from gateway.config.portal import read_environment
    from gateway.plugin_discovery import discover

    directory = config or read_environment().config
    models = {name: plugin.config for name, plugin in discover().plugins.items()}
    paths = (schema.stale if check else schema.write)(directory, models)
    if as_json:
        emit([str(path) for path in paths])
    else:
        for path in paths:
            click.echo(f"{path}: out of date; run `porch schema`" if check else f"wrote {path}")
        if not paths:
            click.echo("The schemas are up to date.")
    ctx.exit(EXIT.PROBLEM if check and paths else EXIT.DONE)
