"""``porch new-plugin``: begin a plugin with a package that works."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from gateway.cli.options import HomePath
from gateway.cli.plugin_commands import plugin_names

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_WORD = "example_notes"
"""The plugin's name in the templates, which are a whole plugin called so."""


def _name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    name = value.replace("-", "_")
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{value!r}: begin with a letter; small letters, digits and _, at most 32."
        )
    if name in plugin_names():
        raise click.BadParameter(f"a plugin named {name} is installed already; choose another.")
    return name


@click.command()
@click.argument("name", callback=_name)
@click.option(
    "--into",
    type=HomePath(file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The directory in which the package's own is made.  [default: here]",
)
def command(name: str, into: Path) -> None:
    """Write a new plugin, a Python package that works.

    It has a tool, a resource, a prompt and the tests for them. Install it, and its tool is in the
    portal; then make it yours.

    \b
    Examples:
      porch new-plugin weather
      pip install -e ./porch-weather
      porch tools
    """
    package = into / f"porch-{name.replace('_', '-')}"
    if package.exists():
        raise click.UsageError(f"{package} is there already; nothing was written.")
    for path in write(name, package):
        click.echo(f"wrote {path}")
    shown = package if package.is_absolute() else f"./{package}"
    click.echo(f"\nNext, in the environment of the portal ({_activation()}):")
    click.echo(f"  pip install -e {shown}\n  porch plugins")
    click.echo("  pip install pytest        which a portal does without")
    click.echo(f"  pytest {shown}")
    click.echo("A portal that runs finds the plugin once it is started again.")


def _activation() -> str:
    """The command that activates the environment that this runs in."""
    script = Path(sys.prefix) / "bin" / "activate"
    return f"source {os.path.relpath(script)}" if script.exists() else sys.prefix


def write(name: str, package: Path) -> Iterator[Path]:
    """Write the plugin's files.

    Args:
        name: the plugin's name.
        package: the directory to make.

    Yields:
        Each file, once it is written.
    """
    for relative, text in _templates(files("gateway.cli") / "templates" / "new_plugin"):
        path = package / _renamed(relative, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_renamed(text, name), "utf-8")
        yield path


def _templates(directory: Traversable, at: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(directory.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _templates(entry, f"{at}{entry.name}/")
        else:
            yield f"{at}{entry.name.removesuffix('.txt')}", entry.read_text("utf-8")


def _renamed(text: str, name: str) -> str:
    """The text with the templates' plugin name replaced, in each of its spellings."""
    spaced, words = name.replace("_", " "), _WORD.replace("_", " ")
    return (
        text.replace(_WORD, name)
        .replace(_WORD.replace("_", "-"), name.replace("_", "-"))
        .replace(words.title().replace(" ", ""), spaced.title().replace(" ", ""))
        .replace(words, spaced)
    )
