"""What a model that follows rules answers to a request of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["fitting", "wanted"]


def wanted(body: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str | None]:
    """The schema that an answer shall have, and the tool by which it is given, if by one."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return form["json_schema"]["schema"], None
    if form.get("type") == "json_object":
        return {"type": "object"}, None
    tools = [each["function"] for each in body.get("tools") or ()]
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping):
        name = choice["function"]["name"]
        tools = [each for each in tools if each["name"] == name]
    elif choice != "required":
        return None, None
    return (tools[0]["parameters"], tools[0]["name"]) if tools else (None, None)


def fitting(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """The smallest value that fits a JSON schema, as pydantic writes them."""
    root = schema if root is None else root
    if "$ref" in schema:
        return fitting(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "const" in schema or "enum" in schema or "default" in schema:
        return schema.get("const", (schema.get("enum") or [schema.get("default")])[0])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return fitting(schema[several][0], root)
    return _of_type(schema, root)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            return {name: fitting(schema["properties"][name], root) for name in required}
        case "array":
            return [fitting(schema.get("items", {}), root)] * schema.get("minItems", 1)
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "x" * max(1, schema.get("minLength", 1))
