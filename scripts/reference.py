"""Write ``docs/reference``: pages that say what the code declares.

``python scripts/reference.py`` writes the pages; ``--check`` fails where one is out of date.
The settings come from the JSON schemas of their models, the commands from click.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from gateway import schema
from gateway.cli import main as porch
from gateway.config import TIERS_FILE, Environment
from gateway.contract import Tier
from gateway.tiers_file import TierRulesFile

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
SHIPPED_TIERS = ROOT / "config" / TIERS_FILE
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"

Schema = Mapping[str, Any]


def configuration() -> str:
    """Every key of ``portal.yaml``, of each plugin's section, and every environment variable."""
    points = entry_points(group="porch.plugins")
    plugins = [point.load().porch_plugin() for point in points]
    schemas = schema.generate({plugin.name: plugin.config for plugin in plugins})
    return page(
        "# Configuration",
        "An admin writes `portal.yaml`: what runs. Who may use what stands in "
        "[`tiers.yaml`](tiers.md). Every key has a default, so an empty file is a working portal. "
        "A relative path starts at the folder that holds the configuration directory.",
        "## `portal.yaml`",
        *tables(json.loads(schemas["portal.schema.json"])),
        "## Environment",
        "The few settings of one process.",
        *tables(Environment.model_json_schema(), prefix="PORCH_", change=str.upper),
    )


def tiers() -> str:
    """The keys of ``tiers.yaml``, which of them counts, and what the shipped file says."""
    keys = json.loads(schema.generate({})["tiers.schema.json"])
    rules = TierRulesFile(SHIPPED_TIERS).current
    ordered = sorted(rules.rules, key=lambda rule: rule.line)
    return page(
        "# Tiers",
        "An admin writes `tiers.yaml`: who may use what. The tiers are "
        f"{' < '.join(Tier)}; a caller may use what asks for their tier or a lower one.",
        "## Keys",
        *tables(keys),
        "An entry of `items` is a tier, or the long form:",
        *tables(keys["$defs"]["ItemRule"] | {"$defs": keys["$defs"]}),
        "## Which key counts",
        "The exact name of an item, then a longer pattern, then a shorter one, then the plugin. "
        "Where none of them is there, what the plugin suggests; else `default`. No key goes below "
        "the floor that a plugin declares for what makes no sense without an identity.",
        "## The shipped file",
        f"What it does not name is for {rules.default}.",
        rows(
            ("key", "tier", "hidden"),
            *((f"`{rule.key}`", rule.tier, "yes" if rule.hidden else "") for rule in ordered),
        ),
    )


def command_line() -> str:
    """The help text of every command of ``porch``."""
    return page("# The `porch` command", *commands(porch, "porch"))


def commands(command: click.Command, path: str) -> Iterator[str]:
    """A heading and the help text of the command, then of each command below it."""
    context = click.Context(command, info_name=path, max_content_width=92, terminal_width=92)
    yield f"{'#' * min(4, path.count(' ') + 2)} `{path}`"
    yield f"```text\n{context.get_help()}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from commands(below, f"{path} {name}")


def tables(whole: Schema, prefix: str = "", change: Any = str) -> Iterator[str]:
    """Tables of an object's keys: its own first, then those of each section in it.

    Args:
        whole: a JSON schema of an object, with its definitions under ``$defs``.
        prefix: what stands before every key.
        change: how a key is written, such as ``str.upper``.
    """
    definitions = whole.get("$defs", {})
    waiting: list[tuple[str, Schema]] = [("", whole)]
    while waiting:
        path, section = waiting.pop(0)
        if path:
            yield f"### `{path}`"
            yield section.get("description", "").partition("\n")[0]
        cells = []
        for key, value in section.get("properties", {}).items():
            name, resolved = f"{path}.{key}" if path else key, resolve(value, definitions)
            if "properties" in resolved:
                waiting.append((name, resolved | value))
            else:
                name = f"`{prefix}{change(name)}`"
                default = json_text(value["default"]) if value.get("default") else ""
                meaning = value.get("description", "")
                cells.append((name, type_text(value, definitions), default, meaning))
        if cells:
            yield rows(("key", "value", "default", "meaning"), *cells)


def resolve(value: Schema, definitions: Schema) -> dict[str, Any]:
    """The schema that a ``$ref`` names, or the schema itself."""
    return dict(definitions[value["$ref"].rpartition("/")[2]] if "$ref" in value else value)


def type_text(value: Schema, definitions: Schema) -> str:
    """A JSON schema's type in words, such as ``list of string``."""
    value = resolve(value, definitions)
    if "enum" in value or "const" in value:
        return ", ".join(json_text(each) for each in value.get("enum", [value.get("const")]))
    if "anyOf" in value:
        texts = [type_text(each, definitions) for each in value["anyOf"]]
        return " or ".join(text for text in dict.fromkeys(texts) if text != "null")
    if value.get("type") == "array":
        return f"list of {type_text(value.get('items', {}), definitions)}"
    return str(value.get("type", "any"))


def json_text(value: Any) -> str:
    """A value as YAML would take it: a plain word, or JSON."""
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def rows(*lines: tuple[str, ...]) -> str:
    """A Markdown table; the first line is its head."""
    head, *rest = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join(f"| {line} |" for line in (head, " | ".join("---" for _ in lines[0]), *rest))


def page(*parts: str) -> str:
    """A whole page, its parts separated by empty lines."""
    return "\n\n".join([NOTE, *filter(None, parts)]) + "\n"


GENERATORS = {"configuration.md": configuration, "tiers.md": tiers, "cli.md": command_line}


def main() -> None:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    check = parser.parse_args().check
    PAGES.mkdir(parents=True, exist_ok=True)
    outdated = []
    for name, generate in GENERATORS.items():
        path, text = PAGES / name, generate()
        if path.exists() and path.read_text() == text:
            continue
        outdated.append(str(path.relative_to(ROOT)))
        if not check:
            path.write_text(text)
    if check and outdated:
        sys.exit(f"Out of date: {', '.join(outdated)}. Run `make docs` and commit the files.")


if __name__ == "__main__":
    main()
