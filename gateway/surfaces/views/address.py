"""Arguments of a tool in the query of an address, and back: ``?query=well&filters.tags=water``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

Schema = Mapping[str, Any]
"""A JSON schema, as a tool's entry has it."""


def query_of(arguments: Mapping[str, Any]) -> str:
    """Arguments as a query; what is within an object has its name before it, with a dot."""
    return urlencode(list(_flat(arguments)))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(each, f"{name}.{key}" if name else key)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each, name)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif value not in (None, ""):
        yield name, f"{value}"


def arguments_of(query: Iterable[tuple[str, str]], schema: Schema) -> dict[str, Any]:
    """The arguments that a query brings, as their types in the schema want them.

    What does not fit a type stays text, and the tool's own check says what is wrong with it.

    Args:
        query: names and values in turn; empty values, as forms send them, count as none.
        schema: the schema of the tool's arguments.
    """
    values: dict[str, list[str]] = {}
    for name, value in query:
        if value:
            values.setdefault(name, []).append(value)
    given: dict[str, Any] = {}
    for name, several in values.items():
        *around, last = name.split(".")
        place, own = given, schema
        for each in around:
            inner = place.setdefault(each, {})
            place, own = inner if isinstance(inner, dict) else {}, _property(own, each, schema)
        place[last] = _typed(several, _types(_property(own, last, schema), schema))
    return given


def _alternatives(schema: Schema, root: Schema) -> Iterator[Schema]:
    """What a schema may be, with references followed within the document."""
    if reference := schema.get("$ref"):
        found: Any = root
        for part in str(reference).removeprefix("#/").split("/"):
            found = found.get(part, {}) if isinstance(found, Mapping) else {}
        yield from _alternatives(found, root)
    yield schema
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from _alternatives(each, root)


def _property(schema: Schema, name: str, root: Schema) -> Schema:
    for each in _alternatives(schema, root):
        if name in each.get("properties", {}):
            found: Schema = each["properties"][name]
            return found
    return {}


def _types(schema: Schema, root: Schema) -> frozenset[str]:
    """The JSON types that a value may have."""
    found: set[str] = set()
    for each in _alternatives(schema, root):
        own = each.get("type", ())
        found |= {own} if isinstance(own, str) else set(own)
    return frozenset(found)


def _typed(values: Sequence[str], kinds: frozenset[str]) -> Any:
    if "array" in kinds:
        return list(values)
    text = values[-1]
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    for kind, make in (("integer", int), ("number", float)):
        if kind in kinds:
            try:
                return make(text)
            except ValueError:
                continue
    return text
