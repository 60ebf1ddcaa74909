"""An API that a specification names, over the real app, with a plugin of the test's own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openapi_spec_validator
import pytest
from pydantic import BaseModel, Field

from gateway.contract import (
    Allowance,
    Api,
    Offer,
    Plugin,
    Refusal,
    Route,
    Tier,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.surfaces.rest.openapi import Described, Document, document
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal

OWN, ALIAS = PREFIXES = ("/spec/v1/things", "/api/v1/demo")


class How(BaseModel):
    gently: bool = False


class Asked(BaseModel):
    id: str = ""
    size: float = Field(default=1, le=9)
    how: How = How()


class Thing(BaseModel):
    id: str
    size: float
    gently: bool


class Problem(BaseModel):
    number: int
    word: str
    text: str


async def _thing(asked: Asked, caller: Any) -> Thing:
    if asked.id == "taken":
        raise ToolFailed("conflict", "It is taken.")
    if asked.id == "crash":
        raise RuntimeError("the password is hunter2")
    return Thing(id=asked.id, size=asked.size, gently=asked.how.gently)


def _failed(refusal: Refusal) -> tuple[int, Problem]:
    status = 409 if refusal.code == "conflict" else refusal.status
    return status, Problem(number=status * 10, word=refusal.code, text=refusal.message)


def _headers(allowance: Allowance | None) -> Mapping[str, str]:
    left = {} if allowance is None else {"X-Left": f"{allowance.left}/{allowance.limit}"}
    return {"X-Maker": "demo", **left}


def _route(method: Any, path: str, tool: str = "find", **fields: Any) -> Route:
    declared = {"operation": "things", **fields}
    return Route(method, path, _thing, tool, Asked, Thing, "A thing.", **declared)


ROUTES = [
    _route("GET", ""),
    _route("POST", "/make", status=201),
    _route("PUT", "/{id}", tool="secret"),
    _route("DELETE", "/{id}"),
    _route("GET", "/{id}/size", rate="2 in 60s", operation="sizes"),
]


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    api = Api(PREFIXES, "Things", "7.1", ROUTES, Problem, _failed, _headers)
    floors = {"find": Tier.OPEN, "secret": Tier.PUBLIC}
    tools = [
        Tool(name, "A tool.", _thing, args=Asked, result=Thing, floor=floor)
        for name, floor in floors.items()
    ]
    beside = Route("GET", "/beside", _thing, "find", Asked, Thing, "A route of the plugin's own.")
    yield Offer(tools=tools, routes=[beside], apis=[api])


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("demo", "A demo.", open=_open)


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    tiers = {"items": {"demo": "open", "demo/secret": "members"}}
    async with open_test_portal(sys.modules[__name__], tiers=tiers) as opened:
        yield opened


async def ask(portal: TestPortal, method: str, path: str, **given: Any) -> httpx2.Response:
    return await portal.http(given.pop("tier", "open")).request(method, path, **given)


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_each_prefix_serves_every_endpoint(portal: TestPortal, prefix: str) -> None:
    assert (await ask(portal, "GET", prefix)).json() == {"id": "", "size": 1, "gently": False}
    made = await ask(portal, "POST", f"{prefix}/make", json={"id": "a", "size": 3})
    assert (made.status_code, made.json()["size"]) == (201, 3)
    put = await ask(portal, "PUT", f"{prefix}/b", json={"id": "x", "size": 2}, tier="members")
    assert put.json() == {"id": "b", "size": 2, "gently": False}
    gone = await ask(portal, "DELETE", f"{prefix}/c?size=4", json={"how": {"gently": True}})
    assert gone.json() == {"id": "c", "size": 4, "gently": True}
    assert (await ask(portal, "DELETE", f"{prefix}/c")).json()["size"] == 1


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("method", "path", "given", "status", "word"),
    [
        ("PUT", "/a", {}, 401, "not_allowed"),
        ("PUT", "/a", {"tier": "public"}, 403, "not_allowed"),
        ("GET", "?size=10", {}, 400, "invalid_parameters"),
        ("POST", "/make", {"json": {"id": "taken"}}, 409, "conflict"),
        ("POST", "/make", {"json": {"id": "crash"}}, 500, "internal_error"),
        ("POST", "/make", {"content": b"no"}, 415, "not_json"),
        ("POST", "/make", {"json": {"id": "x" * 5_000_000}}, 413, "too_large"),
        ("GET", "/no/such/path", {}, 404, "not_found"),
        ("GET", "/", {}, 404, "not_found"),
        ("GET", "/a", {}, 405, "method_not_allowed"),
        ("GET", "", {"headers": {"authorization": "Bearer wrong"}}, 401, "invalid_token"),
        ("GET", "", {"headers": {"host": "evil.example"}}, 421, "foreign_host"),
        ("PUT", "/a", {"headers": {"origin": "https://evil.example"}}, 403, "foreign_origin"),
    ],
)
async def test_every_refusal_has_the_apis_shape(
    portal: TestPortal,
    prefix: str,
    method: str,
    path: str,
    given: dict[str, Any],
    status: int,
    word: str,
) -> None:
    answer = await ask(portal, method, prefix + path, **given)
    problem = Problem.model_validate_json(answer.content)
    assert (answer.status_code, problem.number, problem.word) == (status, status * 10, word)
    assert answer.headers["x-maker"] == "demo"
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert "hunter2" not in answer.text


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
async def test_a_number_that_json_cannot_write_is_refused(
    portal: TestPortal, number: bytes
) -> None:
    body, kind = b'{"size": %s}' % number, {"content-type": "application/json"}
    answer = await ask(portal, "POST", f"{OWN}/make", content=body, headers=kind)
    assert (answer.status_code, answer.json()["word"]) == (400, "invalid_json")


async def test_the_prefixes_share_one_limit(portal: TestPortal) -> None:
    first = await ask(portal, "GET", f"{OWN}/a/size")
    second = await ask(portal, "GET", f"{ALIAS}/a/size")
    assert [each.headers["x-left"] for each in (first, second)] == ["1/2", "0/2"]
    third = await ask(portal, "GET", f"{OWN}/a/size")
    assert (third.status_code, third.json()["word"]) == (429, "rate_limited")
    assert third.headers["x-left"] == "0/2"
    assert int(third.headers["retry-after"]) >= 1


async def test_other_routes_below_an_alias_still_answer(portal: TestPortal) -> None:
    assert (await ask(portal, "GET", "/api/v1/demo/beside?id=a")).json()["id"] == "a"


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_other_sites_pages_may_read_and_see_the_headers(
    portal: TestPortal, prefix: str
) -> None:
    origin = {"origin": "https://elsewhere.example"}
    answer = await ask(portal, "GET", prefix, headers=origin)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "X-Left" in answer.headers["access-control-expose-headers"]
    asked = {**origin, "access-control-request-method": "PUT"}
    preflight = await ask(portal, "OPTIONS", f"{prefix}/a", headers=asked)
    assert preflight.status_code == 400


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_each_prefix_has_a_valid_document(portal: TestPortal, prefix: str) -> None:
    document = (await portal.get(f"{prefix}/openapi.json")).json()
    openapi_spec_validator.validate(document)
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {"title": "Things", "version": "7.1"}
    assert set(document["paths"]) == {
        prefix + path for path in ("", "/make", "/{id}", "/{id}/size")
    }
    operations = document["paths"][f"{prefix}/{{id}}"]
    assert set(operations) == {"put", "delete"}
    fields = operations["delete"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(fields["properties"]) == {"how"}
    assert {each["name"] for each in operations["delete"]["parameters"]} == {"id", "size"}
    made = document["paths"][f"{prefix}/make"]["post"]["responses"]
    assert "201" in made
    assert made["default"]["content"] == made["404"]["content"]
    counted = document["paths"][f"{prefix}/{{id}}/size"]["get"]["responses"]
    limited = {"RateLimit", "RateLimit-Policy", "X-Left"}
    assert limited <= counted["200"]["headers"].keys()
    assert {*limited, "Retry-After"} <= counted["429"]["headers"].keys()
    assert not limited & made["201"]["headers"].keys()
    assert set(document["components"]["headers"]) >= {"X-Request-Id", "X-Left", "X-Maker"}


async def test_the_document_says_who_may_call_and_where_to_sign_in(portal: TestPortal) -> None:
    document = (await portal.get(f"{OWN}/openapi.json")).json()
    schemes = document["components"]["securitySchemes"]
    known = (await portal.get("/.well-known/oauth-authorization-server")).json()
    path = urlsplit(known["issuer"]).path
    flow = schemes["oauth2"]["flows"]["authorizationCode"]
    for url, endpoint in (("authorizationUrl", "authorization"), ("tokenUrl", "token")):
        below = urlsplit(known[f"{endpoint}_endpoint"]).path.removeprefix(path)
        assert flow[url] == document["servers"][0]["url"] + below
    assert list(flow["scopes"]) == known["scopes_supported"]
    paths = document["paths"]
    assert paths[OWN]["get"]["security"] == [{}, {"bearer": []}, {"oauth2": []}]
    put = paths[f"{OWN}/{{id}}"]["put"]["security"]
    assert put == [{"bearer": []}, {"oauth2": ["public"]}]


async def test_an_api_says_what_its_document_is_written_in_and_gives_examples() -> None:
    api = partial(Api, PREFIXES, "Things", "1", ROUTES, Problem, _failed, _headers)
    example = {"id": "a", "size": 1.5, "gently": False}
    written = {
        version: json.loads(document(_described(made), Document("", "", "https://x", api=made)))
        for version in ("3.0.3", "3.1.0")
        for made in [api(openapi=version, description="Read me.", examples={Thing: example})]
    }
    for version, each in written.items():
        openapi_spec_validator.validate(each)
        assert (each["openapi"], each["info"]["description"]) == (version, "Read me.")
        answers = each["paths"]["/make"]["post"]["responses"]
        assert answers["201"]["content"]["application/json"]["example"] == example
        assert "example" not in answers["400"]["content"]["application/json"]


def _described(api: Api) -> list[Described]:
    return [Described("demo", route, route.path or "/", api=api) for route in api.routes]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_path_takes_the_methods_that_the_document_names(
    portal: TestPortal, prefix: str
) -> None:
    for path, allowed in (("", "GET, HEAD"), ("/make", "POST"), ("/a", "DELETE, PUT")):
        for method in ("OPTIONS", "PATCH", "QUERY"):
            answer = await ask(portal, method, prefix + path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert (await ask(portal, "PUT", f"{prefix}/make", tier="members")).status_code == 405


def test_a_route_of_an_api_names_its_operation() -> None:
    with pytest.raises(TypeError, match="names no operation"):
        Api(PREFIXES, "Things", "1", [_route("GET", "", operation="")], Problem, _failed)


def test_a_prefix_is_a_path() -> None:
    with pytest.raises(ValueError, match="no path such as"):
        Api(("things/",), "Things", "1", ROUTES, Problem, _failed)
