"""Write ``docs/reference``: pages that say what the code declares.

``python scripts/reference.py`` writes the pages; ``--check`` fails where one is out of date.
The settings come from the JSON schemas of their models, the commands from click, and the items
from the catalog of a portal that is opened with the shipped configuration and no content.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from gateway.assembly import open_portal
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import is_view
from gateway.cli import main as porch
from gateway.config import schema
from gateway.config.portal import Environment, load_portal
from gateway.config.variables import variable_of
from gateway.contract import ANONYMOUS, Plugin, Tier
from gateway.observability import logs
from gateway.observability.metrics import Metrics
from gateway.surfaces.routing import Surfaces

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
CONFIG = ROOT / "config"
HEADINGS = {
    "tool": "Tools",
    "template": "Resource templates",
    "resource": "Resources",
    "prompt": "Prompts",
    "family": "Prompts of each caller's own",
}
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"

Schema = Mapping[str, Any]


def configuration() -> str:
    """Every key of ``portal.yaml``, of each plugin's section, and every environment variable."""
    schemas = schema.generate({plugin.name: plugin.config for plugin in shipped_plugins()})
    return page(
        "# Configuration",
        "An admin writes `portal.yaml`: what runs. Who may use what stands in "
        "[`tiers.yaml`](tiers.md). Every key has a default, so an empty file is a working portal. "
        "A relative path starts at the folder that holds the configuration directory.",
        "## `portal.yaml`",
        *tables(json.loads(schemas["portal.schema.json"]), variable=variable_of),
        "## Environment",
        "A variable stands in for the key beside it, as "
        "[portal.yaml](../admins/portal-yaml.md#by-environment-variables) says. A key in a list, "
        "with `[]`, has none: the whole list is one variable. Beside them, the few settings of one "
        "process:",
        *tables(Environment.model_json_schema(), prefix="PORCH_", change=str.upper),
    )


def shipped_plugins() -> list[Plugin]:
    """What every installed plugin declares."""
    return [point.load().porch_plugin() for point in entry_points(group="porch.plugins")]


def tiers(catalog: Catalog) -> str:
    """The keys of ``tiers.yaml``, which of them counts, and what the shipped file decides."""
    keys = json.loads(schema.generate({})["tiers.schema.json"])
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
        "## What the shipped file decides",
        items_by_tier(catalog),
    )


def items_by_tier(catalog: Catalog) -> str:
    """A table of everything the shipped plugins offer, with its tier and what decided it."""
    ruled = (item for item in catalog.items() if not is_view(item))
    items = sorted(ruled, key=lambda item: item.key)
    decisions = [(item, catalog.explain(item, ANONYMOUS).decision) for item in items]
    return rows(
        ("item", "tier", "decided by"),
        *((f"`{item.key}`", str(decision.tier), decision.because) for item, decision in decisions),
    )


def items_of(plugin: str, catalog: Catalog) -> str:
    """What one plugin offers to MCP clients: arguments and results of its tools, and the rest."""
    parts = [f"# What `{plugin}` offers"]
    for kind in HEADINGS:
        items = [item for item in catalog.items() if (item.plugin, item.kind) == (plugin, kind)]
        parts += [f"## {HEADINGS[kind]}"] if items else []
        for item in sorted(items, key=lambda item: item.name):
            parts += [f"### `{item.name}`", item.entry.get("description", ""), *details(item)]
    return page(*parts)


def details(item: Item) -> Iterator[str]:
    """Tables of the item's arguments and of its result."""
    if arguments := item.entry.get("arguments"):
        needed = {True: "required", False: ""}
        cells = [
            (f"`{each['name']}`", needed[each.get("required", False)], each.get("description", ""))
            for each in arguments
        ]
        yield rows(("argument", "", "meaning"), *cells)
    if (given := item.entry.get("inputSchema", {})).get("properties"):
        yield "Arguments:"
        yield from tables(given, level=4)
    if result := item.entry.get("outputSchema"):
        yield "Result:"
        yield from tables(result, level=4)


def metrics(shown: Metrics) -> str:
    """Every metric that the portal shows, by name."""
    return page(
        "# Metrics",
        "What `/metrics` shows of the portal itself; beside them stand `process_*`, which "
        "Prometheus's own library reads. What they are for says "
        "[health](../admins/health.md#metrics).",
        rows(
            ("metric", "kind", "labels", "meaning"),
            *(
                (
                    f"`{each.name}`",
                    each.kind,
                    ", ".join(f"`{n}`" for n in each.labels),
                    each.meaning,
                )
                for each in shown.families()
            ),
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


def tables(
    whole: Schema,
    prefix: str = "",
    change: Callable[[str], str] = str,
    level: int = 3,
    variable: Callable[[str], str] | None = None,
) -> Iterator[str]:
    """Tables of an object's keys: its own first, then those of each section in it.

    Args:
        whole: a JSON schema of an object, with its definitions under ``$defs``.
        prefix: what stands before every key.
        change: how a key is written, such as ``str.upper``.
        level: the level of a section's heading.
        variable: the environment variable that stands in for a key; not told where not given.
    """
    definitions = whole.get("$defs", {})
    waiting: list[tuple[str, Schema]] = [("", whole)]
    while waiting:
        path, section = waiting.pop(0)
        if path:
            yield f"{'#' * level} `{path}`"
            yield section.get("description", "").partition("\n")[0]
        cells: list[tuple[str, ...]] = []
        for key, value in section.get("properties", {}).items():
            name, own = f"{path}.{key}" if path else key, resolve(value, definitions)
            each = resolve(own.get("items", {}), definitions)
            if "properties" in each:
                waiting.append((f"{name}[]", each))
            if "properties" in own:
                waiting.append((name, {**own, **value}))
                continue
            needed = key in section.get("required", ())
            default = "required" if needed else default_text(value)
            kind, meaning = type_text(value, definitions), value.get("description", "")
            cells.append((f"`{prefix}{change(name)}`", kind, default, meaning))
            if variable:
                cells[-1] += (f"`{variable(name)}`" if "[]" not in name else "",)
        if cells:
            head = ("key", "value", "default", "meaning")
            yield rows((*head, "variable") if variable else head, *cells)


def resolve(value: Schema, definitions: Schema) -> Schema:
    """The schema behind an optional value or a ``$ref``, or the schema itself."""
    alternatives = [each for each in value.get("anyOf", ()) if each.get("type") != "null"]
    if len(alternatives) == 1:
        value = alternatives[0]
    if "$ref" in value:
        value = definitions[value["$ref"].rpartition("/")[2]]
    return value


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


def default_text(value: Schema) -> str:
    """The default of a key, or nothing where there is none or it is empty."""
    default = value.get("default")
    return "" if default in (None, "", [], {}) else json_text(default)


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


async def pages() -> dict[str, str]:
    """Every page by its file's name."""
    plugins = sorted(plugin.name for plugin in shipped_plugins())
    with TemporaryDirectory() as data, TemporaryDirectory() as empty:
        # Without a source or a repository these plugins offer nothing that could be described.
        source = {"name": "example", "kind": "skills", "directory": empty}
        code = {"repositories": [{"path": empty, "name": "example"}]}
        sources = {"plugins": {"skills_repo": {"sources": [source]}, "codegraph": code}}
        portal = load_portal(CONFIG, {"services": {"embedding": "none"}, **sources})
        # Their first work is waited for, so that a busy machine leaves out no plugin.
        async with open_portal(portal, Path(data), wait_ready=True) as running:
            catalog = running.catalog
            Surfaces(running).routes()  # they show numbers of their own
            if missing := set(plugins) - catalog.plugins():
                sys.exit(f"These plugins did not open: {', '.join(missing)}. Run `porch check`.")
            return {
                "configuration.md": configuration(),
                "tiers.md": tiers(catalog),
                "cli.md": command_line(),
                "metrics.md": metrics(running.metrics),
                **{f"{name}-tools.md": items_of(name, catalog) for name in plugins},
            }


def main() -> None:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    check = parser.parse_args().check
    logs.configure("warning")
    texts = {PAGES / name: text for name, text in asyncio.run(pages()).items()}
    outdated = [
        path for path, text in texts.items() if not path.exists() or path.read_text() != text
    ]
    outdated += [path for path in PAGES.glob("*.md") if path not in texts]
    if check and outdated:
        names = ", ".join(str(path.relative_to(ROOT)) for path in outdated)
        sys.exit(f"Out of date: {names}. Run `make docs` and commit the files.")
    for path in outdated:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path]) if path in texts else path.unlink()


if __name__ == "__main__":
    main()
