"""What all commands share: common options, loaded settings, exit codes, JSON output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

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


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings that a command works with.

    Attributes:
        portal: the configuration.
        data_dir: the data directory, absolute; it need not exist.
        environment: the ``PORCH_*`` variables.
    """

    portal: Portal
    data_dir: Path
    environment: Environment


def load(
    config: Path | None, data: Path | None, overrides: Mapping[str, Any] | None = None
) -> Setup:
    """Read the settings: options win over the environment, that over the defaults.

    Args:
        config: the configuration directory.
        data: the data directory.
        overrides: values that win over ``portal.yaml``, in its shape.

    Raises:
        ConfigError: ``portal.yaml`` or a variable is wrong.
    """
    from gateway.config.portal import load_portal, read_environment

    environment = read_environment()
    portal = load_portal(config or environment.config, overrides)
    data_dir = data or environment.data or portal.root / "data"
    return Setup(portal, data_dir.expanduser().absolute(), environment)


_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_EXISTING = click.Path(file_okay=False, exists=True, path_type=Path)


def with_setup(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config`` and ``--data``, whose settings the command gets as its first argument."""

    @wraps(function)
    def command(*args: Any, config: Path | None, data: Path | None, **values: Any) -> Any:
        return function(load(config, data), *args, **values)

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
