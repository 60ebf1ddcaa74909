"""Output schemas as lists show them: what a client can use, in a fraction of the bytes.

A client shows or validates a result by its schema, and its model reads the whole list of tools.
So the shape is kept, down to a depth, with what the result's own fields say of themselves; what
lies deeper may be anything, and words about fields within fields are left out. Whatever the whole
schema takes, the lean one takes as well (MCP: structured content conforms to ``outputSchema``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import from_json, to_json

MAX_SCHEMA_LEVELS = 3
"""Levels of objects and lists that are described: the result, its fields, and what these hold."""
MAX_SCHEMA_BYTES = 2_000
"""Bytes of JSON in which a schema is described as deep as that; a larger one is less deep."""

_WORDS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "discriminator"}
)
"""Keywords that say something and demand nothing."""
_OF_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_INNER = frozenset({"items", "additionalProperties", "contains", "propertyNames"})
_WITHOUT_LOSS = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "maxContains",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$dynamicRef",
    }
)
"""Keywords under which a laxer schema would be a stricter one, or of which another depends."""
_DEFINITION = "#/$defs/"

Schema = Mapping[str, Any]


def lean(schema: Schema) -> dict[str, Any]:
    """A schema that takes all that another does, without what no client needs.

    Args:
        schema: a JSON schema of an object. One that is written in a way that cannot be cut
            without loss is given back as it is.
    """
    return _lean(to_json(schema))


@lru_cache(maxsize=512)
def _lean(text: bytes) -> dict[str, Any]:
    # A quarter of what opening a plugin takes; several tools return the same, and each reload.
    schema: dict[str, Any] = from_json(text)
    if not _can_be_cut(schema):
        return schema
    made: dict[str, Any] = {}
    for deepest in range(MAX_SCHEMA_LEVELS, 0, -1):
        made = _described(schema, deepest)
        if len(to_json(made)) <= MAX_SCHEMA_BYTES:
            break
    return made


def _described(schema: Schema, deepest: int) -> dict[str, Any]:
    """A schema down to a depth, with the definitions that it comes to."""
    depths = _depths(schema, deepest)
    own = {name: value for name, value in schema.items() if name != "$defs"}
    definitions = schema.get("$defs", {})
    kept = {name: _cut(definitions[name], at, deepest) for name, at in depths.items()}
    made: dict[str, Any] = _cut(own, 0, deepest)
    return made | ({"$defs": kept} if kept else {})


def _can_be_cut(schema: Schema) -> bool:
    for each in _every(schema):
        reference = each.get("$ref", _DEFINITION)
        name = reference.removeprefix(_DEFINITION)
        known = reference == _DEFINITION or name in schema.get("$defs", {})
        nested = each is not schema and "$defs" in each
        both = "anyOf" in each and "oneOf" in each
        if not known or nested or both or "$id" in each or not _WITHOUT_LOSS.isdisjoint(each):
            return False
    return True


def _every(schema: Any) -> Iterator[Schema]:
    if isinstance(schema, Mapping):
        yield schema
        for inner, _ in _parts(schema):
            yield from _every(inner)
        for each in schema.get("$defs", {}).values():
            yield from _every(each)


def _parts(schema: Schema) -> Iterator[tuple[Any, int]]:
    """The schemas directly within one, and how many levels deeper each describes."""
    for key, value in schema.items():
        if key in _OF_SCHEMAS:
            yield from ((each, 1) for each in value.values())
        elif key in _LISTS:
            yield from ((each, 0 if key != "prefixItems" else 1) for each in value)
        elif key in _INNER:
            yield value, 1


def _depths(schema: Schema, deepest: int) -> dict[str, int]:
    """The definitions that are described, each with the least depth at which it stands."""
    found: dict[str, int] = {}
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    for each, depth in waiting:  # it grows while it is walked: the shallow ones come first
        if not isinstance(each, Mapping) or depth > deepest:
            continue
        waiting += ((inner, depth + step) for inner, step in _parts(each))
        name = each.get("$ref", "").removeprefix(_DEFINITION)
        if name and depth < found.get(name, deepest + 1):
            found[name] = depth
            waiting.append((schema["$defs"][name], depth))
    return found


def _cut(schema: Any, depth: int, deepest: int) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    if depth > deepest:
        return {}
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _OF_SCHEMAS:
            made[key] = {name: _cut(each, depth + 1, deepest) for name, each in value.items()}
        elif key in _LISTS:
            step = 1 if key == "prefixItems" else 0
            # Two that are cut may both fit, where only one of the whole ones did.
            cut = [_cut(each, depth + step, deepest) for each in value]
            made["anyOf" if key == "oneOf" else key] = cut
        elif key in _INNER:
            made[key] = _cut(value, depth + 1, deepest)
        elif key not in _WORDS or (key == "description" and depth == 1):
            made[key] = value
    return made
