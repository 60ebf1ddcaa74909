"""Which keys a pydantic model takes at a place inside it, read from its JSON schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def keys_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys that are valid at a location of a model, read from its JSON schema."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    found = [schema]
    for part in location:
        found = [step for node in found for step in _steps(node, part, definitions)] or found
    nodes = [flat for node in found for flat in _flatten(node, definitions)]
    return [key for node in nodes for key in node.get("properties", {})]


def _steps(schema: dict[str, Any], part: str | int, definitions: dict[str, Any]) -> list[Any]:
    steps = []
    for node in _flatten(schema, definitions):
        if isinstance(part, int):
            steps.append(node.get("items"))
        else:
            steps.append(node.get("properties", {}).get(part) or node.get("additionalProperties"))
    return [step for step in steps if isinstance(step, dict)]


def _flatten(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema node with its reference followed and its alternatives laid side by side."""
    if "$ref" in schema:
        return _flatten(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return [flat for option in alternatives for flat in _flatten(option, definitions)]
    return [schema]
