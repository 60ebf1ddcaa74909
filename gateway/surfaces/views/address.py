"""Arguments of a tool in the query of an address, and back: ``?query=well&filters.tags=water``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

Schema = Mapping[str, Any]
"""A JSON schema, as a tool's entry has it."""
SEVERAL = ","
"""What a field's name ends with that holds several values, with commas between them."""
_DEEPEST = 8
"""How deep a name leads into objects and lists."""
_NOT_TEXT = ("array", "boolean", "integer", "number")


def query_of(arguments: Mapping[str, Any]) -> str:
    """Arguments as a query; what is within an object has its name before it, with a dot."""
    return urlencode(list(_flat(arguments)))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(each, f"{name}.{key}" if name else key)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            is_object = isinstance(each, Mapping)
            yield from _flat(each, f"{name}.{number}" if is_object else name)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif value not in (None, ""):
        yield name, f"{value}"


def arguments_of(query: Iterable[tuple[str, str]], schema: Schema) -> dict[str, Any]:
    """The arguments that a query brings, as their types in the schema want them.

    What does not fit a type stays text, and the tool's own check says what is wrong with it.

    Args:
        query: names and values in turn; empty values, as forms send them, count as none. The value
            of a name that ends with a comma is a list, which may be empty.
        schema: the schema of the tool's arguments.
    """
    values: dict[str, list[str]] = {}
    for name, value in query:
        if name.endswith(SEVERAL):
            listed = [each.strip() for each in value.split(",")]
            values.setdefault(name[:-1], []).extend(each for each in listed if each)
        elif value:
            values.setdefault(name, []).append(value)
    given: dict[str, Any] = {}
    for name, several in values.items():
        *around, last = name.split(".", _DEEPEST)
        place, own = given, schema
        for each in around:
            inner = place.setdefault(each, {})
            place, own = inner if isinstance(inner, dict) else {}, _property(own, each, schema)
        place[last] = _typed(several, _types(_property(own, last, schema), schema))
    return {name: _with_lists(each) for name, each in given.items()}


def _with_lists(value: Any) -> Any:
    """Values in which what is numbered (``stages.0.name``) is a list, in that order."""
    if not isinstance(value, dict):
        return value
    made = {name: _with_lists(each) for name, each in value.items()}
    if made and all(name.isdecimal() and name.isascii() for name in made):
        return [made[name] for name in sorted(made, key=int)]
    return made


def kinds_of(schema: Schema) -> dict[str, str]:
    """Which arguments are no texts, by their names as a query has them; one level deep."""
    found: dict[str, str] = {}
    for name, own in schema.get("properties", {}).items():
        several = {name: own}
        for each in _alternatives(own, schema):
            several |= {f"{name}.{key}": one for key, one in each.get("properties", {}).items()}
        for path, one in several.items():
            types = _types(one, schema)
            if kind := next((kind for kind in _NOT_TEXT if kind in types), ""):
                found[path] = kind
    return found


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
        if name.isdecimal() and isinstance(item := each.get("items"), Mapping):
            return item
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
    text = values[-1] if values else ""
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    for kind, make in (("integer", int), ("number", float)):
        if kind in kinds:
            try:
                return make(text)
            except ValueError:
                continue
    return text
