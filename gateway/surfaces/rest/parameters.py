"""A route's parameters, raw: from the path, the query and the body."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.types import Receive, Scope

from gateway.contract import Route, ToolFailed
from gateway.errors import PortalError
from gateway.surfaces.http.body import BodyRefused, read_body
from gateway.surfaces.http.request_context import context_of

WITH_BODY = frozenset({"POST", "PUT", "DELETE"})
"""Methods whose requests may have a body."""
WITH_QUERY = frozenset({"GET", "DELETE"})
"""Methods whose parameters may stand in the query."""


FORMAT = "format"
"""The query parameter that says in which form a stream is wanted; else the request itself does."""
FORMATS = ("sse", "websocket")
LAST_ID = "last_event_id"
"""The query parameter for ``Last-Event-ID``, for clients that cannot set headers."""
_TOKENS = frozenset({"token", "access_token"})


class UpgradeRequired(PortalError):
    """The stream was asked for as a WebSocket, by a request that is none."""

    code = "upgrade_required"
    status = 426
    headers = ((b"upgrade", b"websocket"), (b"connection", b"upgrade"))

    def __init__(self) -> None:
        super().__init__("Open a WebSocket at this address, or leave out format=websocket.")


_LARGE_BODY_BYTES = 256 * 1024
"""Bytes of a body that is read beside the event loop."""


class _NotJson(BodyRefused):
    status = 415
    code = "not_json"


async def given(scope: Scope, receive: Receive, route: Route, limit: int) -> dict[str, Any]:
    """The raw parameters: the body goes before the query, and the path before both.

    Args:
        scope: of the request.
        receive: its ASGI channel.
        route: what is asked for.
        limit: bytes that the body may have, unless the route takes more.

    Raises:
        BodyRefused: the body is too large, too slow, or said to be no JSON.
        ClientLeft: the client went away.
        ToolFailed: the body is no JSON object.
    """
    found: dict[str, Any] = {}
    if route.method in WITH_QUERY:
        found |= _query(scope, route.params)
    if route.method in WITH_BODY:
        headers = context_of(scope).headers
        body = await read_body(receive, headers, max(limit, route.body))
        found |= await _read(body, headers)
    return {**found, **scope.get("path_params", {})}


def streamed(
    scope: Scope, params: type[BaseModel], *, socket: bool
) -> tuple[dict[str, Any], str | None]:
    """The raw parameters of a stream, and from where its client goes on.

    Args:
        scope: of the request, or of a WebSocket.
        params: what the stream takes; what is a model there is decoded from JSON.
        socket: whether it is a WebSocket.

    Raises:
        ToolFailed: something in the query is wrong; it says where.
        UpgradeRequired: a WebSocket was asked for, and this is none.
    """
    raw = _query(scope, params)
    for name in sorted(raw.keys() & _TOKENS):
        raise _invalid(name, "A token in the address is not taken. Send it as a header.")
    form, last = raw.pop(FORMAT, None), raw.pop(LAST_ID, None)
    if form not in (None, *FORMATS):
        raise _invalid(FORMAT, f"It is {' or '.join(FORMATS)}.")
    if form == FORMATS[0] and socket:
        raise _invalid(FORMAT, "This is a WebSocket: leave it out, or ask without an upgrade.")
    if form == FORMATS[1] and not socket:
        raise UpgradeRequired
    for name in raw.keys() & models_in(params).keys():
        raw[name] = _decoded(name, raw[name])
    return raw, last


def models_in(params: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The parameters that are models themselves, by name; None beside one makes no difference."""
    found: dict[str, type[BaseModel]] = {}
    for name, field in params.model_fields.items():
        for each in (field.annotation, *get_args(field.annotation)):
            if isinstance(each, type) and issubclass(each, BaseModel):
                found[field.alias or name] = each
    return found


def _decoded(name: str, text: Any) -> Any:
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        raise _invalid(name, f"It is to be URL-encoded JSON: {error}.") from None
    if _overflows(value):
        raise _invalid(name, "A number in it is too large.")
    return value


def _invalid(name: str, reason: str) -> ToolFailed:
    errors = [{"parameter": name, "reason": reason}]
    text = f"Invalid parameters. {name}: {reason}"
    return ToolFailed("invalid_parameters", text, {"errors": errors})


def parsed(model: type[BaseModel], raw: Mapping[str, Any]) -> Any:
    """The parameters as the route takes them.

    Raises:
        ToolFailed: some are wrong; it names each.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        errors = [
            {
                "parameter": ".".join(map(str, each["loc"])),
                "reason": each["msg"].removeprefix("Value error, "),
            }
            for each in error.errors(include_url=False, include_input=False)
        ]
        # What is wrong with several of them together has no place.
        lines = "; ".join(": ".join(filter(None, each.values())) for each in errors[:5])
        raise ToolFailed(
            "invalid_parameters", f"Invalid parameters. {lines}", {"errors": errors}
        ) from None


async def _read(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    if len(body) > _LARGE_BODY_BYTES:
        return await asyncio.to_thread(_object, body, headers)
    return _object(body, headers)


def _object(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object of a body; an empty body is an empty one."""
    if not body:
        return {}
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise _NotJson("The body is to be JSON: send Content-Type: application/json.")
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ToolFailed("invalid_json", f"The body is no JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ToolFailed("invalid_json", "The body is to be a JSON object.")
    if _overflows(value):
        raise ToolFailed("invalid_json", "A number in the body is too large.")
    return value


def _overflows(value: Any) -> bool:
    """Whether a number, such as 1e999, was read as infinite: JSON has no way to write it back."""
    if isinstance(value, float):
        return math.isinf(value)
    if isinstance(value, dict):
        return any(map(_overflows, value.values()))
    return isinstance(value, list) and any(map(_overflows, value))


def _query(scope: Scope, params: type[BaseModel]) -> dict[str, Any]:
    """The query string as raw values: a field that holds a list takes repeated keys."""
    from starlette.datastructures import QueryParams

    given = QueryParams(scope["query_string"])
    raw: dict[str, Any] = {}
    for name in given:
        values = given.getlist(name)
        raw[name] = values if len(values) > 1 or _is_list(params, name) else values[0]
    return raw


def _is_list(params: type[BaseModel], name: str) -> bool:
    for key, field in params.model_fields.items():
        if name in (key, field.alias):
            return any(word in str(field.annotation) for word in ("list", "tuple"))
    return False
