"""The command's trunk: which subcommands there are, and how their errors end."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from gateway.cli.options import EXIT

_OWN = {
    "serve": "gateway.cli.serve",
    "status": "gateway.cli.status",
    "doctor": "gateway.cli.doctor",
    "check": "gateway.cli.check",
    "call": "gateway.cli.call",
    "tools": "gateway.cli.tools",
    "explain": "gateway.cli.explain",
    "tiers": "gateway.cli.tiers",
    "plugins": "gateway.cli.plugins",
    "token": "gateway.cli.tokens",
    "people": "gateway.cli.people",
    "approvals": "gateway.cli.approvals",
    "models": "gateway.cli.models",
    "usage": "gateway.cli.usage",
    "payments": "gateway.cli.payments",
    "work": "gateway.cli.work",
    "audit": "gateway.cli.audit",
    "backup": "gateway.cli.backup:backup",
    "restore": "gateway.cli.backup:restore",
    "copy-database": "gateway.cli.copy_database",
    "schema": "gateway.cli.schemas",
    "publish": "gateway.cli.publish",
    "new-plugin": "gateway.cli.new_plugin",
}
"""Our own commands and the modules that have them, under the name ``command`` or after a colon."""


class Program(click.Group):
    """Loads a subcommand when it is asked for; a plugin's name leads to the plugin's own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our own commands, then the installed plugins, which have theirs below their word."""
        from gateway.cli.plugin_commands import plugin_names, plugin_words

        words = {plugin: word for word, plugin in plugin_words().items() if word not in _OWN}
        known = (words.get(name, name) for name in plugin_names())
        return [*_OWN, *(name for name in known if name not in _OWN)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of our own commands, or a plugin's."""
        if module := _OWN.get(cmd_name):
            place, _, name = module.partition(":")
            command: click.Command = getattr(import_module(place), name or "command")
            return command
        from gateway.cli.plugin_commands import PluginCommands, plugin_behind

        plugin = plugin_behind(cmd_name)
        return PluginCommands(plugin, cmd_name) if plugin else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what goes wrong becomes a line to read and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, KeyboardInterrupt):
            raise
        except BrokenPipeError:  # whoever read has read enough, as `head` does; click ends quietly
            raise
        except Exception as error:
            _explain(error, debug=ctx.params.get("debug", False))


def _explain(error: Exception, *, debug: bool) -> NoReturn:
    from gateway.errors import ConfigError

    if isinstance(error, ConfigError):
        click.echo(str(error), err=True)
        sys.exit(EXIT.CONFIG)
    if debug:
        raise error
    from gateway.observability.redaction import redactor

    message = redactor.text(" ".join(f"{type(error).__name__}: {error}".split()))
    click.echo(f"Unexpected: {message}", err=True)
    click.echo("`porch --debug ...` shows where it happened.", err=True)
    sys.exit(EXIT.UNEXPECTED)


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"porch {version('porch')}")
        ctx.exit()


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 92},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
def main(debug: bool) -> None:
    """One URL through which a community's members reach every AI tool it curates.

    \b
    A first look:
      porch serve                                     start the portal
      porch call search_knowledge query="who may use what"
      porch tools --as open                           what a stranger may use
      porch check                                     is everything set up well?
      porch status                                    what does the portal do now?
      porch doctor                                    what should be mended first?

    Each command has its own --help, with examples. Its configuration is read from ./config, its
    data kept in ./data; --config and --data, or PORCH_CONFIG and PORCH_DATA, name others.

    \b
    Exit codes:
      0  done
      1  the command found problems, or the call failed
      2  the command is not written as it should be
      3  the configuration is wrong; the lines say where
      4  something unexpected went wrong
    """
