"""A call of ``call_tool`` as the call that it stands for, which passes all under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from gateway.catalog.items import CALL_TOOL
from gateway.surfaces.mcp.request import Request


def inner(request: Request) -> Request:
    """The request for the tool that ``call_tool`` was told to call.

    Args:
        request: a ``tools/call``.

    Returns:
        The same request where it is for another tool, or does not say for which: then what checks
        the arguments of ``call_tool`` says what is wrong with them.
    """
    if request.params["name"] != CALL_TOOL:
        return request
    given = request.params.get("arguments") or {}
    name, arguments = given.get("name"), _arguments(given.get("arguments"))
    if not isinstance(name, str) or arguments is None or given.keys() - {"name", "arguments"}:
        return request
    return request._replace(params={**request.params, "name": name, "arguments": arguments})


def _arguments(given: Any) -> Mapping[str, Any] | None:
    """The inner arguments; models write an object within an object as a string now and then."""
    if isinstance(given, str):
        try:
            given = from_json(given)
        except ValueError:
            return None
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else None
