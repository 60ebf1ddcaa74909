"""Headers that mirror a request's body (MCP 2026-07-28, SEP-2243).

A client writes them, so that whatever stands between may route without reading the body; a server
checks that they say what the body says.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

ANNOTATION = "x-mcp-header"
PREFIX = "mcp-param-"

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_PRIMITIVES = {"string", "integer", "boolean"}

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED |= dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId")
"""The methods whose requests mirror a parameter in the header ``mcp-name``."""

ParameterHeaders = tuple[tuple[tuple[str, ...], str, str], ...]
"""For each annotated parameter: its path in the arguments, its header, its JSON type."""


def standard_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The headers ``mcp-method`` and ``mcp-name`` of a request."""
    headers = {"mcp-method": method}
    name = params.get(NAMED[method]) if method in NAMED else None
    if isinstance(name, str):
        headers["mcp-name"] = encode(name)
    return headers


def mirrored(declared: ParameterHeaders, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers ``mcp-param-*`` of a call; an argument that is absent or null has none."""
    values = ((header, _value(arguments, path)) for path, header, _ in declared)
    return {header: encode(_text(value)) for header, value in values if value is not None}


def encode(text: str) -> str:
    """A text as a header value; wrapped in base64 where a header cannot carry it as it is."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def decode(value: str) -> str | None:
    """A header value as text; None where its ``=?base64?...?=`` wrapping is broken."""
    match = _ENCODED.fullmatch(value) if value.startswith("=?") else None
    if match is None:
        return value
    try:
        data = base64.b64decode(match[1], validate=True)
        if base64.b64encode(data).decode() != match[1]:
            return None
        return data.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


def annotated(
    schema: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every annotated property that is reached through ``properties`` alone, with its path."""
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(each, Mapping):
            if ANNOTATION in each:
                yield (*path, name), each
            yield from annotated(each, (*path, name))


def parameter_headers(schema: Mapping[str, Any]) -> ParameterHeaders:
    """The parameter headers that an input schema declares, lower-case."""
    return tuple(
        (path, PREFIX + each[ANNOTATION].lower(), str(each.get("type")))
        for path, each in annotated(schema)
    )


def find_invalid_parameter_header(schema: Mapping[str, Any]) -> str | None:
    """Why an annotation in the schema is not allowed, or None where all are.

    An annotation stands on a string, integer or boolean property, names an RFC 9110 token,
    and is unique in the schema whatever its case.
    """
    seen: set[str] = set()
    reached = list(annotated(schema))
    if str(schema).count(f"'{ANNOTATION}'") > len(reached):
        return f"{ANNOTATION} stands where no chain of properties reaches it"
    for path, each in reached:
        where, header = ".".join(path), each[ANNOTATION]
        if not isinstance(header, str) or not _TOKEN.fullmatch(header):
            return f"{where}: {ANNOTATION} must be an HTTP token"
        if each.get("type") not in _PRIMITIVES:
            return f"{where}: {ANNOTATION} is for string, integer and boolean properties"
        if header.lower() in seen:
            return f"{where}: {ANNOTATION} {header!r} is used twice"
        seen.add(header.lower())
    return None


def mismatch(
    declared: ParameterHeaders, arguments: Mapping[str, Any], headers: Mapping[str, str]
) -> str | None:
    """How the parameter headers and the arguments disagree, or None where they agree.

    Each declared header and its argument are present together and equal, or absent together;
    null counts as absent.
    """
    for path, header, kind in declared:
        sent, value = headers.get(header), _value(arguments, path)
        if value is None and sent is None:
            continue
        if value is None or sent is None:
            missing = "argument" if value is None else "header"
            return f"{header}: the {missing} is missing"
        decoded = decode(sent)
        if decoded is None or not _equal(kind, value, decoded):
            return f"{header} does not match the argument {'.'.join(path)!r}"
    return None


def _value(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    node: Any = arguments
    for key in path:
        if not isinstance(node, Mapping):
            return None
        node = node.get(key)
    return node


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _equal(kind: str, value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if kind == "integer" and isinstance(value, int | float) and _DECIMAL.fullmatch(text):
        whole, _, fraction = text.partition(".")
        return not fraction.strip("0") and float(value).is_integer() and int(whole) == int(value)
    return isinstance(value, str | int | float) and str(value) == text
