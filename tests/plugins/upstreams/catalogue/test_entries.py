"""What a server offers, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from plugins.upstreams.catalogue.entries import Catalogue, fetch
from plugins.upstreams.wire import (
    ConnectionLost,
    HttpRefused,
    NotMcp,
    RpcError,
    SessionExpired,
    TooLarge,
    WireError,
)

GOOD = {"name": "dig", "inputSchema": {"type": "object"}, "spade": 2}
EVERYTHING: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}


class Lists:
    """A server's lists, in pages."""

    def __init__(self, pages: Mapping[str, Any]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def __call__(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(method)
        if method not in self.pages:
            raise RpcError(-32601, "Method not found")
        pages = self.pages[method]
        return pages[int(params.get("cursor", 0))]  # type: ignore[no-any-return]


async def offered(tools: Any, most: int = 100, more: Any = MappingProxyType({})) -> Catalogue:
    lists = Lists({"tools/list": [{"tools": tools}], **more})
    return await fetch(lists, EVERYTHING, most)


@pytest.mark.parametrize(
    ("entry", "name", "reason"),
    [
        ("dig", "number 2", "it is no object"),
        ({"inputSchema": {"type": "object"}}, "number 2", "it has no name"),
        ({"name": "x" * 3000}, "x" * 100, "its name has 3,000 characters"),
        ({"name": "a"}, "a", "its inputSchema is missing"),
        ({"name": "a", "inputSchema": []}, "a", "its inputSchema is no object"),
        (
            {"name": "a", "inputSchema": {}},
            "a",
            'its inputSchema must have "type": "object" at the root',
        ),
        (
            {"name": "a", "inputSchema": {"type": "object", "properties": 3}},
            "a",
            "its inputSchema is not a JSON schema: 3 is not of type",
        ),
        (
            {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": 7}},
            "a",
            "its outputSchema is not a JSON schema: 7 is not valid",
        ),
        ({**GOOD, "description": 3}, "dig", "its description is no text"),
        (GOOD, "dig", "it is listed twice"),
    ],
)
async def test_a_malformed_tool_is_left_out_alone(entry: Any, name: str, reason: str) -> None:
    last = {"name": "water", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}
    found = await offered([GOOD, entry, last])
    assert found.of("tool") == (GOOD, last)
    [malformed] = found.malformed
    assert (malformed.kind, malformed.id) == ("tool", name)
    assert malformed.reason.startswith(reason)


async def test_prompts_and_resources_are_looked_at_likewise() -> None:
    prompts = [
        {"name": "ask", "arguments": [{"name": "who"}]},
        {"name": "bad", "arguments": ["who"]},
    ]
    resources = [{"uri": "urn:plot:7"}, {"uri": "no scheme"}]
    found = await offered(
        [],
        more={
            "prompts/list": [{"prompts": prompts}],
            "resources/list": [{"resources": resources}],
            "resources/templates/list": [{"resourceTemplates": [{"uriTemplate": "{+any}"}]}],
        },
    )
    assert (found.of("prompt"), found.of("resource")) == ((prompts[0],), (resources[0],))
    assert found.of("template") == ({"uriTemplate": "{+any}"},)
    assert [each.id for each in found.malformed] == ["bad", "no scheme"]


async def test_pages_are_followed_and_those_that_never_end_are_left() -> None:
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(3)]
    pages = [
        {"tools": [tools[0]], "nextCursor": "1"},
        {"tools": [tools[1]], "nextCursor": "2"},
        {"tools": [tools[2]], "nextCursor": "1"},
    ]
    found = await fetch(Lists({"tools/list": pages}), {"tools": {}}, 100)
    assert found.of("tool") == tuple(tools)


async def test_what_is_over_the_most_is_left_and_said() -> None:
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(12)]
    found = await offered(tools, most=10)
    assert (len(found.of("tool")), found.cut) == (10, ("tool",))


async def test_a_list_that_the_server_declares_and_has_not_is_empty() -> None:
    assert (await offered([GOOD])).of("resource") == ()


async def test_lists_that_the_server_has_not_are_not_asked_for() -> None:
    lists = Lists({"tools/list": [{"tools": []}]})
    await fetch(lists, {"tools": {}}, 10)
    assert lists.asked == ["tools/list"]


async def test_a_server_that_answers_something_else_has_no_empty_list() -> None:
    found = await offered("no list")
    assert found.failed == {"tool": "the answer to tools/list has no list called tools"}


class Broken:
    """A server that cannot give some of its lists."""

    def __init__(self, **errors: WireError) -> None:
        self._errors = errors

    async def __call__(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if error := self._errors.get(method.partition("/")[0]):
            raise error
        return {"tools": [GOOD], "prompts": [{"name": "ask"}]}


@pytest.mark.parametrize(
    "error",
    [
        RpcError(-32603, "Handler returned an invalid result"),
        HttpRefused("The server answered HTTP 500.", 500),
        NotMcp("The server answered with something that is not JSON."),
        TooLarge("The server answered with more than 100 bytes."),
    ],
)
async def test_a_list_that_the_server_cannot_give_stays_as_it_was(error: WireError) -> None:
    broken = Broken(tools=error)

    before = await offered([GOOD])
    found = await fetch(broken, {"tools": {}, "prompts": {}}, 10, before)
    assert (found.of("tool"), found.of("prompt")) == ((GOOD,), ({"name": "ask"},))
    assert found.failed == {"tool": error.message}


async def test_a_server_that_gives_no_list_but_http_errors_is_in_trouble() -> None:
    error = HttpRefused("The server answered HTTP 503.", 503)
    with pytest.raises(HttpRefused):
        await fetch(Broken(tools=error, prompts=error), {"tools": {}, "prompts": {}}, 10)


@pytest.mark.parametrize("error", [ConnectionLost("It broke."), SessionExpired("It is over.")])
async def test_an_error_of_the_connection_is_no_list_s(error: WireError) -> None:
    with pytest.raises(type(error)):
        await fetch(Broken(prompts=error), {"tools": {}, "prompts": {}}, 10)


async def test_what_is_said_of_a_malformed_entry_clears_no_screen() -> None:
    [malformed] = (await offered([{"name": "\x1b[2J"}])).malformed
    assert malformed.id == "\\x1b[2J"
