"""``key=value`` words as the arguments that a tool's schema asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

_OF = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
Schema = Mapping[str, Any]


def build(pairs: Sequence[str], schema: Schema) -> dict[str, Any]:
    """Build a tool's arguments.

    Args:
        pairs: words such as ``limit=3`` or ``filters.contentType=pattern``.
        schema: the tool's input schema; ``{}`` where it is not known.

    Raises:
        click.UsageError: a word is no pair, or two of them do not fit together.
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, found, text = pair.partition("=")
        if not found or not key:
            raise click.UsageError(f"{pair!r} is no argument; write KEY=VALUE.")
        path = key.split(".")
        _put(arguments, path, _value(text, _at(path, schema)), key)
    return arguments


def _put(arguments: dict[str, Any], path: Sequence[str], value: Any, key: str) -> None:
    node = arguments
    for part in path[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise click.UsageError(f"{key!r} reaches into {part!r}, which has a value already.")
    if path[-1] in node:
        raise click.UsageError(f"{key!r} is given twice; write a list as {key}=a,b.")
    node[path[-1]] = value


def _at(path: Sequence[str], schema: Schema) -> list[Schema]:
    """The schemas of the value at a path, one for each alternative."""
    nodes = list(_alternatives(schema, schema))
    for part in path:
        below = [node["properties"][part] for node in nodes if part in node.get("properties", {})]
        nodes = [found for each in below for found in _alternatives(each, schema)]
    return nodes


def _alternatives(node: Schema, whole: Schema) -> Iterator[Schema]:
    if "$ref" in node:
        yield from _alternatives(whole["$defs"][node["$ref"].rpartition("/")[2]], whole)
        return
    groups = [node[word] for word in ("anyOf", "oneOf", "allOf") if word in node]
    if not groups:
        yield node
    for group in groups:
        for each in group:
            yield from _alternatives(each, whole)


def _value(text: str, schemas: Sequence[Schema]) -> Any:
    wanted = {kind for schema in schemas for kind in _types(schema)}
    parsed = _parsed(text)
    if not wanted:
        return parsed
    if isinstance(parsed, list | dict) and _OF[type(parsed)] in wanted:
        return parsed
    if "string" in wanted:
        return text
    if "array" in wanted and not isinstance(parsed, list):
        items = [each["items"] for each in schemas if "items" in each]
        return [_value(part.strip(), items) for part in text.split(",")]
    return parsed


def _types(schema: Schema) -> set[str]:
    kind = schema.get("type", [])
    if not kind:
        values = [schema["const"]] if "const" in schema else schema.get("enum", [])
        return {_OF[type(value)] for value in values}
    return {kind} if isinstance(kind, str) else set(kind)


def _parsed(text: str) -> Any:
    """The text as JSON, or the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
