"""What no client could be sent, such as a file's name that is no UTF-8, breaks no answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mcp_types as mcp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.contract import (
    Caller,
    ListedResource,
    Listing,
    Offer,
    Page,
    Plugin,
    Prompt,
    ResourceTemplate,
    Route,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.pipeline.json_text import sendable
from gateway.testing import TestPortal, open_test_portal

BAD = "caf\udce9.py"
GOOD = "caf?.py"


class How(BaseModel):
    how: str = "model"


class File(BaseModel):
    name: str
    sizes: dict[str, int]


def file(name: str = BAD) -> File:
    return File(name=name, sizes={BAD: 1})


_host: list[Any] = []


def _returned(how: str) -> Any:
    blocks = [mcp.TextContent(type="text", text=BAD)]
    return {
        "model": file(),
        "mapping": {"name": BAD, "sizes": {BAD: 1}},
        "text": BAD,
        "blocks": blocks,
        "result": mcp.CallToolResult(content=blocks, structured_content={BAD: [BAD]}),
    }[how]


async def _run(args: How, caller: Caller) -> Any:
    if args.how == "failure":
        raise ToolFailed("missing", f"There is no {BAD}.", {"nearest": [BAD]})
    await _host[0].exchange().progress(1, 2, BAD)
    return _returned(args.how)


async def _files(args: How, caller: Caller) -> Listing[File]:
    found = [file(f"{number}{BAD}") for number in range(7)]
    return Listing(found, key=lambda each: each.name, note=How(how=BAD))


async def _route(params: How, caller: Caller) -> File:
    return file()


async def _complete(typed: str, others: Any, caller: Caller) -> list[str]:
    return [BAD]


async def _text(*_: Any) -> str:
    return BAD


async def _listed(caller: Caller, after: str | None, limit: int) -> list[ListedResource]:
    return [] if after else [ListedResource("files://one", BAD, BAD)]


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    _host[:] = [host]
    yield Offer(
        tools=[
            Tool("show", "Shows.", _run, args=How),
            Tool("files", "Files.", _files, args=How, page=Page(3, lambda each: each, File, How)),
        ],
        prompts=[Prompt("say", "Says.", _text, args=How, complete={"how": _complete})],
        templates=[ResourceTemplate("files://{id}", "file", "A file.", _text, listed=_listed)],
        routes=[Route("GET", "/file", _route, "show", How, File, "A file.")],
    )


PLUGIN = SimpleNamespace(porch_plugin=hookimpl(lambda: Plugin("odd", "Odd files.", _open)))


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(PLUGIN, tiers={"default": "open"}) as portal:
        yield portal


@pytest.mark.parametrize("how", ["model", "mapping", "text", "blocks", "result"])
async def test_whatever_a_tool_returns_is_answered(portal: TestPortal, how: str) -> None:
    answer = await portal.call("show", {"how": how})
    assert not answer.is_error
    assert GOOD in json.dumps([answer.structured, answer.content])


async def test_a_failure_reaches_the_agent(portal: TestPortal) -> None:
    answer = await portal.call("show", {"how": "failure"})
    assert answer.content[0]["text"] == f"There is no {GOOD}."
    assert json.loads(answer.content[-1]["text"])["error"]["details"] == {"nearest": [GOOD]}


async def test_every_page_of_a_listing_is_answered_once(portal: TestPortal) -> None:
    seen: list[str] = []
    arguments: dict[str, Any] = {}
    while True:
        page = (await portal.call("files", arguments)).structured
        seen += [each["name"] for each in page["data"]]
        assert page["meta"]["how"] == GOOD
        if not page["pagination"]["hasMore"]:
            break
        arguments = {"cursor": page["pagination"]["cursor"]}
    assert seen == [f"{number}{GOOD}" for number in range(7)]


async def test_prompts_resources_completions_lists_and_rest_answer_too(portal: TestPortal) -> None:
    assert GOOD in json.dumps(await portal.prompt("say"))
    assert await portal.read("files://one") == GOOD
    assert await portal.complete("say", "how", "x") == [GOOD]
    assert GOOD in json.dumps(await portal.resources())
    assert (await portal.get("/api/v1/odd/file")).json() == {"name": GOOD, "sizes": {GOOD: 1}}


async def test_progress_is_told_with_it(portal: TestPortal) -> None:
    meta = {"progressToken": "one"}
    params = {"name": "show", "arguments": {"how": "text"}, "_meta": meta}
    answer = await portal.mcp().request("tools/call", params)
    assert answer["content"][0]["text"] == GOOD


async def test_a_caller_cannot_send_one(portal: TestPortal) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    message = b'{"jsonrpc": "2.0", "id": 1, "method": "\\udce9"}'
    answer = await portal.http().post("/mcp", content=message, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "The body is not JSON."


@dataclass(frozen=True)
class Held:
    text: str
    inner: Any


texts = st.text(st.characters())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts, inner, max_size=4)
        | st.tuples(inner, inner)
        | st.builds(Held, texts, inner)
        | st.builds(lambda name, size: File(name=name, sizes={name: size}), texts, st.integers())
    ),
    max_leaves=20,
)


@given(values)
def test_any_value_can_be_sent_and_what_could_be_is_left_as_it_is(value: Any) -> None:
    whole = to_json(sendable(value), inf_nan_mode="null")
    assert json.loads(whole.decode()) == json.loads(
        to_json(sendable(sendable(value)), inf_nan_mode="null")
    )
    try:
        before = to_json(value, inf_nan_mode="null")
    except ValueError:
        return
    assert before == whole
