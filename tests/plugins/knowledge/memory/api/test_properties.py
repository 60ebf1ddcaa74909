"""Whatever is sent to the API: no answer is a fault of ours, and each is as its document says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES

OPERATIONS = [
    ("get", ""),
    ("post", "/query"),
    ("post", "/create"),
    ("put", "/{id}"),
    ("delete", "/{id}"),
    ("get", "/{id}/metadata"),
]

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)


def fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that are nearly as a schema says: most of them fit, and some of their parts do not."""
    return st.integers(0, 19).flatmap(lambda dice: _fitting(schema) if dice else anything)


def _fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema:
        return st.one_of([fitting(each) for each in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        own, needed = schema["properties"], set(schema.get("required", ()))
        return st.fixed_dictionaries(
            {name: fitting(each) for name, each in own.items() if name in needed},
            optional={name: fitting(each) for name, each in own.items() if name not in needed},
        )
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), max_size=3)
    return _PLAIN.get(kind or "", anything)


_PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=30) | st.datetimes().map(lambda time: time.isoformat() + "Z"),
    "integer": st.integers(-2, 300),
    "number": st.floats(-1, 3),
    "boolean": st.booleans(),
    "null": st.none(),
    "object": st.dictionaries(st.text(max_size=9), anything, max_size=3),
}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[asyncio.Runner, TestPortal]]:
    """A portal on a loop of its own, for examples that are drawn outside of any."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        off = dict.fromkeys(("queries", "creates", "updates", "deletes", "metadata"), "none")
        limits = {"operations": {f"knowledge.{name}": rate for name, rate in off.items()}}
        opening = stack.enter_async_context(open_test_portal(plugin, config={"limits": limits}))
        yield runner, runner.run(opening)
        runner.run(stack.aclose())


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_fits_the_document(
    served: tuple[asyncio.Runner, TestPortal], method: str, path: str
) -> None:
    runner, portal = served
    document = runner.run(portal.get(f"{PREFIXES[0]}/openapi.json")).json()
    operation = document["paths"][PREFIXES[0] + path][method]
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("schema")
    entry = {"entry": {"content": "What is kept already.", "metadata": {"custom": {"a": [1]}}}}
    kept = runner.run(portal.http("members").post(f"{PREFIXES[0]}/create", json=entry)).json()[
        "entry"
    ]["id"]
    queried = [each for each in operation["parameters"] if each["in"] == "query"]
    parameters = st.fixed_dictionaries(
        {}, optional={each["name"]: fitting(each["schema"]).map(str) for each in queried}
    )
    ids = st.sampled_from([kept, "none", "%00", "note:x", "a%2Fb"]) | st.from_regex(r"\A\w{1,9}\Z")

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(id=ids, asked=parameters, sent=st.none() if body is None else fitting(body))
    def send(id: str, asked: Any, sent: Any) -> None:
        at = PREFIXES[0] + path.replace("{id}", id)
        answer = runner.run(portal.http("members").request(method, at, params=asked, json=sent))
        assert answer.status_code < 500, answer.text
        told = operation["responses"]
        told = told.get(str(answer.status_code), told["default"])
        schema = told["content"]["application/json"]["schema"]
        whole = {**schema, "components": document["components"]}
        jsonschema_rs.Draft202012Validator(whole).validate(answer.json())

    send()
