"""Nonsense of every kind, made by hypothesis: never a 5xx, never a traceback, never a hang."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import anyio.from_thread
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.testing import TestPortal, open_test_portal
from tests.examples import examples
from tests.faults.conftest import JSON, PAGE, modern

AGAIN = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PARAMETERS = (
    "q",
    "limit",
    "offset",
    "contentType",
    "group",
    "release",
    "status",
    "tags",
    "dateFrom",
    "dateTo",
    "sort",
    "filters",
)
TEXT = st.text(max_size=40)
HOSTILE = st.sampled_from(
    [
        "../" * 9,
        "%2e%2e%2f",
        "\0",
        "\x1b[2J",
        "9" * 400,
        "-1",
        "NaN",
        "1e999",
        "[]",
        "é" * 70,
    ]
)
VALUE = TEXT | HOSTILE | st.integers().map(str)
JSON_VALUE: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | HOSTILE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Send a member's request to a portal of the installed plugins, from a test without a loop."""
    content = tmp_path_factory.mktemp("content")
    (content / "garden.md").write_text(PAGE.format(title="Garden"))
    config = {"plugins": {"knowledge": {"sources": [{"directory": str(content)}]}}}

    async def opened() -> AsyncIterator[TestPortal]:
        async with open_test_portal(config=config, tiers="default: open\n") as portal:
            yield portal

    with anyio.from_thread.start_blocking_portal() as loop:
        with loop.wrap_async_context_manager(_entered(opened)) as portal:

            def send(method: str, url: str, **options: Any) -> Any:
                options["headers"] = {**options.get("headers", {})}
                options["headers"].pop("authorization", None)  # it has tokens of its own
                return loop.call(lambda: portal.http("members").request(method, url, **options))

            yield send


def _entered(opened: Any) -> Any:
    from contextlib import asynccontextmanager

    return asynccontextmanager(opened)()


def _well(answer: Any) -> None:
    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
    assert answer.headers["x-request-id"]


@AGAIN
@given(
    path=st.lists(TEXT | HOSTILE, max_size=4)
    | st.tuples(st.just("entries"), st.just("pattern") | VALUE, st.just("garden") | VALUE)
    | st.just(["search"]),
    query=st.lists(st.tuples(st.sampled_from(PARAMETERS) | TEXT, VALUE), max_size=5),
)
def test_no_address_under_the_api_is_a_server_error(
    ask: Any, path: list[str], query: list[tuple[str, str]]
) -> None:
    address = "/".join(quote(part, safe="") for part in path)
    pairs = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query)
    _well(ask("GET", f"/api/v1/{address}?{pairs}"))


@AGAIN
@given(
    method=st.sampled_from(
        ["tools/call", "tools/list", "prompts/get", "resources/read", "completion/complete", "ping"]
    )
    | TEXT,
    params=st.dictionaries(
        st.sampled_from(["name", "uri", "arguments", "cursor", "ref", "argument"]) | TEXT,
        JSON_VALUE,
        max_size=4,
    ),
    name=st.sampled_from(["search_knowledge", "get_document", "define_term", "list_groups"]),
    arguments=st.dictionaries(
        st.sampled_from(["query", "filters", "contentType", "id", "term"]) | TEXT, JSON_VALUE
    ),
)
def test_no_request_is_a_server_error(
    ask: Any, method: str, params: dict[str, Any], name: str, arguments: dict[str, Any]
) -> None:
    request = modern("tools/call", name=name, arguments=arguments)
    called = ask("POST", "/mcp", **request)
    _well(called)
    assert "request id" not in called.text
    request["json"]["method"] = method
    request["json"]["params"] |= {k: v for k, v in params.items() if k != "_meta"}
    request["headers"] |= {"mcp-method": quote(method), "mcp-name": quote(str(params.get("name")))}
    _well(ask("POST", "/mcp", **request))


@AGAIN
@given(body=st.binary(max_size=200) | JSON_VALUE.map(lambda value: json.dumps(value).encode()))
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01"])
def test_no_body_is_a_server_error(ask: Any, body: bytes, version: str) -> None:
    answer = ask("POST", "/mcp", content=body, headers=JSON | {"mcp-protocol-version": version})
    _well(answer)
    assert answer.status_code >= 400


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud800"',
        '"\\udc00\\ud800"',
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "NaN",
        "9" * 5000,
    ],
    ids=["high surrogate", "low surrogate", "deep lists", "deep objects", "NaN", "huge number"],
)
def test_what_no_parser_should_take_is_a_400_with_its_code(ask: Any, text: str) -> None:
    request = modern("tools/call", name="search_knowledge", arguments={"query": "HERE"})
    body = json.dumps(request["json"]).replace('"HERE"', text)
    answer = ask("POST", "/mcp", content=body, headers=request["headers"])
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("a" * 100_000, "has 100000 characters; 2000 is the limit"),
        ("gar\0den", "holds control characters"),
        ("\x1b[2J", "holds control characters"),
    ],
)
def test_a_question_that_cannot_be_asked_is_told_to_the_model(
    ask: Any, query: str, said: str
) -> None:
    request = modern("tools/call", name="search_knowledge", arguments={"query": query})
    result = ask("POST", "/mcp", **request).json()["result"]
    assert result["isError"]
    assert said in result["content"][0]["text"]


@pytest.mark.parametrize(
    "id", ["a" * 65, "é" * 33, "../../../etc/passwd", "..%2f..%2fetc", "%252e%252e", "%00"]
)
@pytest.mark.parametrize("quoted", [False, True])
def test_an_id_that_cannot_be_is_not_found_on_any_surface(ask: Any, id: str, quoted: bool) -> None:
    request = modern(
        "tools/call", name="get_document", arguments={"contentType": "pattern", "id": id}
    )
    result = ask("POST", "/mcp", **request).json()["result"]
    assert result["isError"]
    assert "Document not found." in result["content"][0]["text"]
    path = quote(id, safe="") if quoted else quote(id, safe="%/")
    answer = ask("GET", f"/api/v1/entries/pattern/{path}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/knowledge"])
def test_a_body_over_the_limit_is_refused_however_it_comes(
    ask: Any, path: str, chunked: bool
) -> None:
    whole = b" " * (5 * 2**20)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(whole), 65536):
            yield whole[start : start + 65536]

    answer = ask("POST", path, content=pieces() if chunked else whole, headers=JSON)
    assert answer.status_code == 413
    assert "4,194,304 bytes" in answer.text
