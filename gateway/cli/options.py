"""What all commands share: common options, loaded settings, exit codes, JSON output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gateway.config.directories import DEFAULT_CONFIG, named_directory

if TYPE_CHECKING:
    from gateway.config.portal import Environment, Portal

TIERS = ("open", "public", "members")
"""The tiers' names (``auth.Tier``), here so that help needs no import."""

Function = TypeVar("Function", bound=Callable[..., Any])


class EXIT(IntEnum):
    """The exit codes, which ``porch --help`` lists too."""

    DONE = 0
    PROBLEM = 1
    USAGE = 2
    CONFIG = 3
    UNEXPECTED = 4


class HomePath(click.Path):
    """A path that may begin with ``~``, as where a shell leaves it alone: ``CONTENT=~/docs``."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path, with the home directory in place of the ``~``."""
        # Path.expanduser raises where ~somebody is nobody; this leaves it as it is.
        return super().convert(os.path.expanduser(value), param, ctx)  # noqa: PTH111


class Setup:
    """The settings that a command works with, read when they are asked for.

    Where a portal runs, most commands need nothing but its data directory.

    Args:
        config: the configuration directory, or None for what the environment or the default says.
        data: the data directory, likewise.
        overrides: values that win over ``portal.yaml``, in its shape.

    Attributes:
        data_dir: the data directory, absolute; it need not exist.
    """

    def __init__(
        self, config: Path | None, data: Path | None, overrides: Mapping[str, Any] | None = None
    ) -> None:
        self._config = (config or named_directory("config") or DEFAULT_CONFIG).expanduser()
        self._overrides = overrides
        place = data or named_directory("data") or self._config.absolute().parent / "data"
        self.data_dir = place.expanduser().absolute()

    def on_port(self, port: int) -> Setup:
        """These settings where the system has picked the port, which ``port: 0`` asks it to."""
        if self.portal.config.listen.port:
            return self
        given = dict(self._overrides or {})
        given["listen"] = {**given.get("listen", {}), "port": port}
        return Setup(self._config, self.data_dir, given)

    @cached_property
    def portal(self) -> Portal:
        """The configuration.

        Raises:
            ConfigError: ``portal.yaml`` or a variable is wrong.
        """
        from gateway.config.portal import load_portal

        _ = self.environment  # what is wrong there is told first
        return load_portal(self._config, self._overrides)

    @cached_property
    def environment(self) -> Environment:
        """The ``PORCH_*`` variables.

        Raises:
            ConfigError: one has a value that means nothing.
        """
        from gateway.config.portal import read_environment

        return read_environment()


_DIRECTORY = HomePath(file_okay=False, path_type=Path)
_EXISTING = HomePath(file_okay=False, exists=True, path_type=Path)


def with_setup(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config`` and ``--data``, whose settings the command gets as its first argument."""

    @wraps(function)
    def command(*args: Any, config: Path | None, data: Path | None, **values: Any) -> Any:
        return function(Setup(config, data), *args, **values)

    return config_option(data_option(command))


def config_option(function: Function) -> Function:
    """Add ``--config``."""
    return click.option(
        "--config",
        type=_EXISTING,
        metavar="DIR",
        help="The directory of portal.yaml and tiers.yaml.  [default: $PORCH_CONFIG or config]",
    )(function)


def data_option(function: Function) -> Function:
    """Add ``--data``."""
    return click.option(
        "--data",
        type=_DIRECTORY,
        metavar="DIR",
        help="The data directory.  [default: $PORCH_DATA, or data beside the configuration]",
    )(function)


def json_option(function: Function) -> Function:
    """Add ``--json``, handed on as ``as_json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, for a program to read."
    )(function)


def as_option(function: Function) -> Function:
    """Add ``--as``, handed on as ``tier``."""
    return click.option(
        "--as",
        "tier",
        type=click.Choice(TIERS),
        default="members",
        show_default=True,
        help="Act as a caller of this tier.",
    )(function)


def emit(value: Any) -> None:
    """Print a JSON value."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))
