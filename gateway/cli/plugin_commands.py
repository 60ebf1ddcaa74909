"""``porch <plugin> <name>``: the commands that plugins declare, made of pydantic models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from gateway.cli.options import Setup, config_option, data_option, emit, json_option

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from gateway.contract import Command, CommandContext, Host, Plugin
    from gateway.plugin_discovery import Found


def plugin_names() -> list[str]:
    """The names of the installed plugins; imports none of them."""
    return sorted({point.name for point in entry_points(group="porch.plugins")})


def plugin_words() -> dict[str, str]:
    """The plugins' names by the command words that their packages declare; imports no plugin.

    A package names one as an entry point of ``porch.commands`` with the plugin's own module, so
    that ``porch --help`` can list it.
    """
    names = {point.value: point.name for point in entry_points(group="porch.plugins")}
    words = entry_points(group="porch.commands")
    return {point.name: names[point.value] for point in words if point.value in names}


def plugin_behind(word: str) -> str | None:
    """The plugin behind a command word; imports all plugins if no package declares the word."""
    if word in plugin_names():
        return word
    if plugin := plugin_words().get(word):
        return plugin
    from gateway.plugin_discovery import discover

    plugins = discover().plugins.values()
    return next((plugin.name for plugin in plugins if plugin.command == word), None)


class PluginCommands(click.Group):
    """A plugin's commands; the plugin is imported when they are asked for.

    Args:
        plugin: the plugin's name.
        word: what it was called by.
    """

    def __init__(self, plugin: str, word: str) -> None:
        super().__init__(word, short_help=f"Commands of the plugin {plugin}.")
        self._plugin = plugin

    @cached_property
    def _discovered(self) -> Found:
        from gateway.plugin_discovery import discover

        alone = discover(only=self._plugin)  # to import them all takes longer than most commands
        return alone if self._plugin in alone.plugins else discover()

    @cached_property
    def _declared(self) -> Plugin:
        plugin = self._discovered.plugins.get(self._plugin)
        if plugin is None:
            reasons = [each.reason for each in self._discovered.broken if each.name == self._plugin]
            raise click.ClickException(
                f"The plugin {self._plugin} cannot be used. {' '.join(reasons)}".rstrip()
            )
        return plugin

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the plugin's summary."""
        summary = self._declared.summary
        if not self._declared.commands:
            summary += " It has no commands."
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(summary)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the plugin's own order."""
        return [command.name for command in self._declared.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        for command in self._declared.commands:
            if command.name == cmd_name:
                return _click_command(self._declared, command, self._discovered)
        return None


def _click_command(plugin: Plugin, declared: Command, found: Found) -> click.Command:
    def run(as_json: bool, config: Path | None, data: Path | None, **values: Any) -> None:
        from gateway.observability import logs

        logs.configure("critical")
        setup = Setup(config, data)
        args = _validated(declared.args, values)

        async def awaited() -> int:
            context = await _context(setup, plugin, found, as_json, declared.beside_portal)
            return await declared.run(args, context)

        click.get_current_context().exit(asyncio.run(awaited()))

    parameters = [_parameter(name, field) for name, field in declared.args.model_fields.items()]
    command = click.Command(
        declared.name, callback=run, params=parameters, help=_help_text(declared)
    )
    command.short_help = declared.summary
    for option in (data_option, config_option, json_option):
        option(command)
    return command


def _help_text(declared: Command) -> str:
    """The help text of a command, with its arguments, which click does not list."""
    fields = declared.args.model_fields.items()
    required = {name.upper(): field.description for name, field in fields if field.is_required()}
    return "\n\n".join(
        [
            declared.summary,
            *(f"{name}: {description}" for name, description in required.items() if description),
        ]
    )


def _parameter(name: str, field: FieldInfo) -> click.Parameter:
    """A required field as an argument, one with a default as an option, a bool as a flag."""
    several = get_origin(field.annotation) in (list, tuple)
    kind = _kind(field.annotation)
    if field.is_required():
        metavar = name.upper() + ("..." if several else "")
        return click.Argument([name], nargs=-1 if several else 1, type=kind, metavar=metavar)
    flag = f"--{name.replace('_', '-')}"
    if field.annotation is bool:
        spelled = f"{flag}/--no-{name.replace('_', '-')}" if field.default else flag
        return click.Option([spelled, name], is_flag=True, default=field.default, help=_help(field))
    return click.Option([flag, name], type=kind, multiple=several, help=_help(field))


def _kind(annotation: Any) -> click.ParamType[Any]:
    """Click checks a choice, and pydantic everything else."""
    choices = [each for part in (annotation, *get_args(annotation)) for each in _choices(part)]
    return click.Choice(choices) if choices else click.STRING


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(each) for each in get_args(annotation)]
    members = getattr(annotation, "__members__", None)
    return [str(each.value) for each in members.values()] if members else []


def _help(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    shown = "" if default in (None, "", (), []) or isinstance(default, bool) else default
    description = field.description or ""
    return f"{description}  [default: {shown}]" if shown != "" else description


def _validated(model: type[BaseModel], values: dict[str, Any]) -> BaseModel:
    from pydantic import ValidationError

    from gateway.catalog.argument_errors import reasons

    given = {name: value for name, value in values.items() if value not in (None, ())}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        lines = (f"{each['argument']}: {each['reason']}" for each in reasons(error, model))
        raise click.UsageError("; ".join(lines)) from None


async def _context(
    setup: Setup, plugin: Plugin, found: Found, as_json: bool, beside: bool
) -> CommandContext:
    from gateway.cli.connection import mcp_url
    from gateway.contract import CommandContext

    @asynccontextmanager
    async def host() -> AsyncGenerator[Host]:
        async with _host(setup, plugin.name, found, beside) as opened:
            yield opened

    async def ask(method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        from gateway.cli.connection import request_portal

        return await request_portal(setup, method, f"/api/v1/{plugin.name}{path}", body)

    return CommandContext(
        config=setup.portal.plugin_config(plugin.name, plugin.config),
        echo=click.echo,
        emit=emit,
        json=as_json,
        host=host,
        url=await mcp_url(setup),
        ask=ask,
        root=setup.portal.root,
    )


@asynccontextmanager
async def _host(setup: Setup, name: str, found: Found, beside: bool) -> AsyncGenerator[Host]:
    """The plugin's share of the services, while no portal holds the data directory.

    Args:
        beside: whether one may hold it all the same (``Command.beside_portal``).
    """
    from gateway.catalog.catalog import Catalog
    from gateway.config.tiers_file import TierRulesFile
    from gateway.observability.health import HealthBoard
    from gateway.plugin_host import PluginHost
    from gateway.server.data_directory import held, made
    from gateway.services import open_services

    portal = setup.portal
    catalog = Catalog(TierRulesFile(portal.tiers_file).current)
    made(setup.data_dir)
    with nullcontext() if beside else held(setup.data_dir):
        async with open_services(
            portal.config.services, setup.data_dir, root=portal.root
        ) as services:
            plugins = PluginHost(portal, found, services, catalog, HealthBoard())
            yield plugins.host(name, wait_ready=True)
