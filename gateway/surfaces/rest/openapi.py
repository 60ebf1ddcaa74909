"""The OpenAPI document of all plugins' routes, or of one API, generated from their models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from gateway.config.addresses import AUTHORIZATION_PATH, TOKENS_PATH
from gateway.contract import Api, Route, Stream, Tier
from gateway.contract.answer_size import CURSOR_ARGUMENT, CURSOR_SCHEMA
from gateway.limits.sliding_window import Rate
from gateway.surfaces.rest.openapi_answers import answers, header_parts
from gateway.surfaces.rest.openapi_older import VERSION, older
from gateway.surfaces.rest.openapi_streams import stream_answers, stream_parameters
from gateway.surfaces.rest.parameters import WITH_BODY, WITH_QUERY, models_in

_REF = "#/components/schemas/{model}"
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A personal API token, or an access token of the portal's OAuth server.",
}
_SCOPES = {
    Tier.PUBLIC.value: "What everyone who is signed in may do.",
    Tier.MEMBERS.value: "What members may do.",
}
_CURSOR = {
    "name": CURSOR_ARGUMENT,
    "in": "query",
    "required": False,
    "description": CURSOR_SCHEMA["description"],
    "schema": {"type": "string"},
}


class ErrorBody(BaseModel):
    """What went wrong: ``code`` for programs, ``message`` for people."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorBody
    request_id: str


@dataclass(frozen=True, slots=True)
class Described:
    """A route as it is served.

    Attributes:
        plugin: whose it is.
        route: what the plugin declared.
        path: its path below the API's prefix.
        paged: whether its tool is paged.
        rate: how often one caller may ask for it, or None.
        api: the API that it is part of, or None.
        floor: the tier below which its tool is for nobody.
        stream: what it streams, or None.
    """

    plugin: str
    route: Route
    path: str
    paged: bool = False
    rate: Rate | None = None
    api: Api | None = None
    floor: Tier = Tier.OPEN
    stream: Stream | None = None

    @property
    def models(self) -> tuple[type[BaseModel], ...]:
        """The models of what it answers with: one, or those of a stream's events."""
        return (self.route.response,) if self.stream is None else tuple(self.stream.events)

    @property
    def id(self) -> str:
        """What programs call it; unique in the portal."""
        words = re.findall(r"\w+", self.path)
        return "_".join([self.route.method.lower(), *words])

    @property
    def operation(self) -> str:
        """What it is counted as, and named by in ``limits.operations``."""
        return f"{self.plugin}.{self.route.operation}" if self.route.operation else self.id


@dataclass(frozen=True, slots=True)
class Document:
    """What an API's document says of it as a whole.

    Attributes:
        title: its name.
        version: its version.
        base: the portal's address.
        below: where the paths begin, below the base.
        api: the API that it describes, or None for the portal's own.
    """

    title: str
    version: str
    base: str
    below: str = ""
    api: Api | None = None

    @property
    def error(self) -> type[BaseModel]:
        """The model of every answer that is no success."""
        return ErrorAnswer if self.api is None else self.api.error


def document(described: Iterable[Described], about: Document) -> bytes:
    """Write the document.

    Args:
        described: the routes.
        about: the API as a whole.
    """
    routes = list(described)
    models: dict[type[BaseModel], None] = dict.fromkeys(
        [about.error, *(model for each in routes for model in each.models)]
    )
    refs, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template=_REF
    )
    names = {model: ref for (model, _), ref in refs.items()}
    written = {
        "openapi": "3.1.0",
        "info": _info(about),
        "servers": [{"url": about.base + about.below}],
        "paths": _paths(routes, names, about.error),
        "components": {
            "schemas": schemas.get("$defs", {}),
            "headers": header_parts(about.api),
            "securitySchemes": {"bearer": _BEARER, "oauth2": _oauth(about.base)},
        },
    }
    return to_json(older(written) if about.api and about.api.openapi == VERSION else written)


def _info(about: Document) -> dict[str, str]:
    info = {"title": about.title, "version": about.version}
    text = "" if about.api is None else about.api.description
    return {**info, "description": text} if text else info


def _oauth(base: str) -> dict[str, Any]:
    """The portal's own authorization server; clients find the rest of it by RFC 9728."""
    urls = {"authorizationUrl": base + AUTHORIZATION_PATH, "tokenUrl": base + TOKENS_PATH}
    flow = {**urls, "refreshUrl": base + TOKENS_PATH, "scopes": _SCOPES}
    text = "The portal's OAuth 2.1 server: authorization code with PKCE (S256)."
    return {"type": "oauth2", "description": text, "flows": {"authorizationCode": flow}}


def _paths(
    routes: Iterable[Described], names: Mapping[Any, Any], error: type[BaseModel]
) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.route.method.lower()] = _operation(each, names, error)
    return paths


def _operation(each: Described, names: Mapping[Any, Any], error: type[BaseModel]) -> dict[str, Any]:
    return {
        "operationId": each.route.name or each.id,
        "tags": [each.plugin],
        "summary": each.route.summary,
        "security": _security(each),
        "parameters": [*_parameters(each)],
        **_body(each),
        **_limit(each),
        "responses": _answers(each, names, error),
    }


def _answers(each: Described, names: Mapping[Any, Any], error: type[BaseModel]) -> dict[str, Any]:
    plain = answers(each, names[each.route.response], names[error])
    return plain if each.stream is None else stream_answers(each, names, plain)


def _security(each: Described) -> list[dict[str, list[str]]]:
    if each.route.admin:
        return [{"bearer": []}]
    if each.floor is Tier.OPEN:  # the community's rules may ask for more
        return [{}, {"bearer": []}, {"oauth2": []}]
    return [{"bearer": []}, {"oauth2": [each.floor.value]}]


def _limit(each: Described) -> dict[str, Any]:
    if each.rate is None:
        return {}
    limit = {"operation": each.operation, "limit": each.rate.limit, "window": each.rate.seconds}
    return {"x-rate-limit": limit}


def _in_path(route: Route) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", route.path))


def _body(each: Described) -> dict[str, Any]:
    """What of a route's parameters stands in its body."""
    route = each.route
    if route.method not in WITH_BODY:
        return {}
    schema = _schema(route)
    fields = {name: own for name, own in schema["properties"].items() if _in_body(route, name, own)}
    required = [name for name in schema.get("required", ()) if name in fields]
    if each.paged:
        fields[CURSOR_ARGUMENT] = dict(CURSOR_SCHEMA)
    own = {"type": "object", "properties": fields, **({"required": required} if required else {})}
    own |= {key: schema[key] for key in ("additionalProperties", "examples") if key in schema}
    content = {"application/json": {"schema": own}}
    return {"requestBody": {"required": bool(required), "content": content}} if fields else {}


def _schema(route: Route) -> dict[str, Any]:
    read = route.params.model_json_schema()
    return {"properties": {}, **_inlined(read, read.get("$defs", {}))}


def _in_body(route: Route, name: str, schema: Mapping[str, Any]) -> bool:
    if name in _in_path(route):
        return False
    return route.method not in WITH_QUERY or (route.method in WITH_BODY and "properties" in schema)


def _parameters(described: Described) -> Iterable[dict[str, Any]]:
    route = described.route
    in_path, schema = _in_path(route), _schema(route)
    required = set(schema.get("required", ()))
    written = models_in(route.params) if described.stream else ()
    for name, own in schema["properties"].items():
        if _in_body(route, name, own):
            continue
        yield {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "description": own.pop("description", ""),
            **(_as_json(own) if name in written else {"schema": own}),
        }
    if described.stream is not None:
        yield from stream_parameters()
    if described.paged and route.method in WITH_QUERY:
        yield _CURSOR


def _as_json(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A copy of a schema with its references replaced by what they refer to."""
    if isinstance(schema, list):
        return [_inlined(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**target, **rest}, definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items()}
