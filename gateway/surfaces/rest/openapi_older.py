"""An OpenAPI 3.1 document as one of 3.0.3, for specifications that ask for that.

The schemas of 3.1 are JSON Schema 2020-12, which pydantic writes; those of 3.0 are an older and
smaller language (OpenAPI 3.0.3, "Schema Object"). What it has no word for is left out, so that a
schema becomes wider and never narrower.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "3.0.3"
_LISTS = frozenset({"allOf", "anyOf", "oneOf"})
_INNER = frozenset({"items", "not", "additionalProperties"})
_SAME = frozenset(
    {"type", "enum", "format", "default", "title", "description", "example", "required"}
    | {"multipleOf", "maximum", "minimum", "maxLength", "minLength", "pattern", "nullable"}
    | {"maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties"}
    | {"discriminator", "readOnly", "writeOnly", "deprecated", "xml", "externalDocs"}
)
_NULL = {"type": "null"}
_EXAMPLES = frozenset({"example", "examples"})


def older(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document in OpenAPI 3.0.3.

    Args:
        document: of 3.1; its schemas stand under ``components``, or as a ``schema``.
    """
    components = document["components"]
    schemas = {name: older_schema(each) for name, each in components["schemas"].items()}
    written: dict[str, Any] = _walked({**document, "openapi": VERSION})
    written["components"]["schemas"] = schemas
    return written


def _walked(value: Any) -> Any:
    """What is no schema, with the schemas in it made older."""
    if isinstance(value, list):
        return [_walked(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    made: dict[str, Any] = {}
    for name, each in value.items():
        if name == "schema":
            made[name] = older_schema(each)
        else:
            made[name] = each if name in _EXAMPLES else _walked(each)
    return made


def older_schema(schema: Any) -> dict[str, Any]:
    """A schema of JSON Schema 2020-12 as a Schema Object of 3.0.3."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if "$ref" in schema:
        return _reference(schema)
    if schema.get("type") == "null":
        return {"nullable": True, "enum": [None]}
    made = {name: each for name, each in schema.items() if name in _SAME}
    for name in _LISTS & schema.keys():
        made[name] = [older_schema(each) for each in schema[name]]
    for name in _INNER & schema.keys():
        own = schema[name]
        flag = name == "additionalProperties" and isinstance(own, bool)
        made[name] = own if flag else older_schema(own)
    if "properties" in schema:
        properties = schema["properties"].items()
        made["properties"] = {name: older_schema(each) for name, each in properties}
    return _nullable(schema, _renamed(schema, made))


def _reference(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A reference; what stands beside one is ignored in 3.0."""
    reference = {"$ref": schema["$ref"]}
    beside = {name: each for name, each in schema.items() if name != "$ref"}
    return {"allOf": [reference], **older_schema(beside)} if beside else reference


def _renamed(schema: Mapping[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """What has another word in 3.0, or is a flag there."""
    for bound in ("minimum", "maximum"):
        exclusive = "exclusive" + bound.capitalize()
        if exclusive in schema:
            made |= {bound: schema[exclusive], exclusive: True}
    if "const" in schema:
        made["enum"] = [schema["const"]]
    if schema.get("examples"):
        made["example"] = schema["examples"][0]
    if "prefixItems" in schema:
        made["items"] = {"anyOf": [older_schema(each) for each in schema["prefixItems"]]}
    return made


def _nullable(schema: Mapping[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """A choice between one thing and null, for which 3.0 has a flag beside the type."""
    if _NULL not in schema.get("anyOf", ()):
        return made
    others = [each for each in schema["anyOf"] if each != _NULL]
    if len(others) > 1 or "type" not in others[0]:
        return made
    only = older_schema(others[0])
    if "enum" in only:
        only["enum"] = [*only["enum"], None]
    del made["anyOf"]
    return {**only, **made, "nullable": True}
