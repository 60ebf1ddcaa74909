"""The OpenAPI 3.1 document of all plugins' routes, generated from their models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from gateway.contract import Api, Route
from gateway.pager import ARGUMENT, SCHEMA
from gateway.services.windows import Rate
from gateway.surfaces.parameters import WITH_BODY, WITH_QUERY

_REF = "#/components/schemas/{model}"
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A personal API token, or an access token of the portal's OAuth server.",
}
_CURSOR = {
    "name": ARGUMENT,
    "in": "query",
    "required": False,
    "description": SCHEMA["description"],
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
    """

    plugin: str
    route: Route
    path: str
    paged: bool = False
    rate: Rate | None = None
    api: Api | None = None

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
        url: where the paths begin.
        error: the model of every answer that is no success.
    """

    title: str
    version: str
    url: str
    error: type[BaseModel] = ErrorAnswer


def document(described: Iterable[Described], about: Document) -> bytes:
    """Write the document.

    Args:
        described: the routes.
        about: the API as a whole.
    """
    routes = list(described)
    models: dict[type[BaseModel], None] = dict.fromkeys(
        [about.error, *(each.route.response for each in routes)]
    )
    refs, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template=_REF
    )
    names = {model: ref for (model, _), ref in refs.items()}
    return to_json(
        {
            "openapi": "3.1.0",
            "info": {"title": about.title, "version": about.version},
            "servers": [{"url": about.url}],
            "paths": _paths(routes, names, about.error),
            "components": {
                "schemas": schemas.get("$defs", {}),
                "securitySchemes": {"bearer": _BEARER},
            },
        }
    )


def _paths(
    routes: Iterable[Described], names: Mapping[Any, Any], error: type[BaseModel]
) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.route.method.lower()] = _operation(
            each, names[each.route.response], names[error]
        )
    return paths


def _operation(each: Described, result: Any, error: Any) -> dict[str, Any]:
    route = each.route
    failures = {
        "400": "A parameter is not good.",
        "401": "The route asks for a higher tier; sign in.",
        "403": "The route asks for a higher tier.",
        "404": "There is no such entry.",
    }
    if route.admin:
        failures |= {"401": "Sign in.", "403": "The route is for the portal's admins."}
    if route.method in WITH_BODY:
        failures |= {"413": "The body is too large.", "415": "The body is no JSON."}
    if each.rate is not None:
        failures["429"] = "You have asked too often; Retry-After says how many seconds to wait."
    if each.api is not None:
        failures["default"] = "Anything else that stood in the way; the code says what."
    return {
        "operationId": each.id,
        "tags": [each.plugin],
        "summary": route.summary,
        "security": [{"bearer": []}] if route.admin else [{}, {"bearer": []}],
        "parameters": [*_parameters(each)],
        **_body(each),
        **_limit(each),
        "responses": {
            str(route.status): _answer("The result.", result),
            **{status: _answer(text, error) for status, text in failures.items()},
        },
    }


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
        fields[ARGUMENT] = dict(SCHEMA)
    own = {"type": "object", "properties": fields, "required": required}
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
    for name, own in schema["properties"].items():
        if _in_body(route, name, own):
            continue
        yield {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "description": own.pop("description", ""),
            "schema": own,
        }
    if described.paged and route.method in WITH_QUERY:
        yield _CURSOR


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


def _answer(description: str, reference: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": reference}}
    return {"description": description, "content": content}
