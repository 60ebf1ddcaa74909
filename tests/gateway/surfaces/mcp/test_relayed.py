"""What another server wrote crosses as it is, in both eras, under the portal's names and tiers."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.contract import (
    Caller,
    Offer,
    Origin,
    Plugin,
    Prompt,
    Relayed,
    RelayedError,
    Resource,
    ResourceTemplate,
    Tool,
    hookimpl,
)
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.surfaces.mcp.conftest import LEGACY, MODERN, Wire

FAR = {"name": "far", "version": "1"}
LIST_OF_NUMBERS = {"type": "array", "items": {"type": "integer"}}
DIG = {
    "name": "dig",
    "description": "Dig a hole.",
    "inputSchema": {"type": "object", "properties": {"deep": {"type": "integer"}}},
    "outputSchema": LIST_OF_NUMBERS,
    "spade": {"size": 2},
    "_meta": {"garden/bed": 7},
}
GREET = {"name": "greet", "arguments": [{"name": "who", "required": True, "hint": "a name"}]}
PLOT = {"uri": "plot:7", "name": "plot", "soil": "clay"}
BEDS = {"uriTemplate": "bed:{+path}", "name": "beds", "soil": "sand"}
ANSWER = {
    "content": [{"type": "text", "text": "dug", "shovel": "red"}, {"type": "hole", "deep": 3}],
    "structuredContent": [1, 2],
    "resultType": "complete",
    "_meta": {
        "garden/bed": 7,
        "io.modelcontextprotocol/serverInfo": FAR,
    },
    "later": True,
}


async def dig(args: Mapping[str, Any], caller: Caller) -> Relayed:
    if args.get("deep") == "no number":
        raise RelayedError(-32602, "deep must be a number", {"field": "deep"})
    if args.get("deep") == 99:
        raise RelayedError(-32001, "too deep", 99)
    said = {"back": args["said"][::-1]} if "said" in args else {}
    return Relayed(ANSWER | {"given": dict(args) | said})


async def greet(args: Mapping[str, Any], caller: Caller) -> Relayed:
    text = {"type": "text", "text": f"Hello {args['who']}"}
    return Relayed({"messages": [{"role": "user", "content": text}], "mood": "sunny"})


async def names(typed: str, others: Mapping[str, str], caller: Caller) -> Relayed:
    values = {"values": [f"{typed}na"], "total": 40, "hasMore": True, "fuzzy": False}
    return Relayed({"completion": values})


async def plot(caller: Caller) -> Relayed:
    return Relayed({"contents": [{"uri": "plot:7", "text": "beans", "ripe": 4}], "ttlMs": 5})


async def bed(variables: Mapping[str, str], caller: Caller) -> Relayed:
    return Relayed({"contents": [{"uri": variables["uri"], "text": "a bed"}]})


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[
            Tool("far__dig", "", dig, origin=Origin("far/dig", DIG)),
            Tool("bad", "", dig, origin=Origin("near/bad", {"name": "bad", "inputSchema": {}})),
            Tool(
                "dig",
                "",
                dig,
                origin=Origin("near/dig", {"name": "dig", "inputSchema": {"type": "object"}}),
            ),
        ],
        prompts=[
            Prompt(
                "far__greet",
                "",
                greet,
                complete={"who": names},
                origin=Origin("far/greet", GREET),
            )
        ],
        resources=[Resource("plot:7", "plot", "", plot, origin=Origin("far/plot:7", PLOT))],
        templates=[
            ResourceTemplate(
                "bed:{+path}",
                "beds",
                "",
                bed,
                pattern=re.compile("bed:.+"),
                origin=Origin("far/bed:{+path}", BEDS),
            )
        ],
    )


class Elsewhere:
    __name__ = "elsewhere"

    @staticmethod
    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin(name="elsewhere", summary="Servers of others.", open=_open)


TIERS = {"items": {"elsewhere": "open", "elsewhere/near/*": "members"}}


@pytest.fixture(scope="module")
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(Elsewhere, tiers=TIERS) as portal:
        yield portal


@pytest.fixture(params=[MODERN, LEGACY])
def era(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


async def reply(wire: Wire, era: str, method: str, params: Any = None) -> dict[str, Any]:
    send = wire.modern if era == MODERN else (await wire.begin()).legacy
    return await send(method, params).reply()


async def result(wire: Wire, era: str, method: str, params: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = (await reply(wire, era, method, params))["result"]
    return found


async def dug(wire: Wire, era: str, **arguments: Any) -> dict[str, Any]:
    return await result(wire, era, "tools/call", {"name": "far__dig", "arguments": arguments})


async def test_an_entry_is_listed_with_all_its_fields_under_the_portals_name(
    wire: Wire, era: str
) -> None:
    [tool] = (await result(wire, era, "tools/list"))["tools"]
    # A client of the older era refuses a whole list over an output schema of no object.
    left_out = {} if era == MODERN else {"outputSchema": LIST_OF_NUMBERS}
    assert tool | left_out == {**DIG, "name": "far__dig"}
    assert ("outputSchema" in tool) is (era == MODERN)
    [prompt] = (await result(wire, era, "prompts/list"))["prompts"]
    assert prompt == {**GREET, "name": "far__greet"}
    assert (await result(wire, era, "resources/list"))["resources"] == [PLOT]
    assert (await result(wire, era, "resources/templates/list"))["resourceTemplates"] == [BEDS]


async def test_a_result_keeps_what_the_portal_does_not_know(wire: Wire) -> None:
    found = await dug(wire, MODERN, deep=3, unknown=None)
    assert found["content"] == ANSWER["content"]
    assert found["structuredContent"] == [1, 2]
    assert found["later"] is True
    assert found["given"] == {"deep": 3, "unknown": None}
    assert found["resultType"] == "complete"
    assert found["_meta"]["garden/bed"] == 7
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "porch"


async def test_a_result_for_the_older_era_has_what_that_era_takes(wire: Wire) -> None:
    assert await dug(wire, LEGACY) == {
        "content": ANSWER["content"],
        "later": True,
        "given": {},
        "_meta": {"garden/bed": 7},
    }


async def test_prompts_and_resources_cross_likewise(wire: Wire, era: str) -> None:
    asked = {"name": "far__greet", "arguments": {"who": "Ana"}}
    prompt = await result(wire, era, "prompts/get", asked)
    assert prompt["mood"] == "sunny"
    assert prompt["messages"][0]["content"]["text"] == "Hello Ana"
    read = await result(wire, era, "resources/read", {"uri": "plot:7"})
    assert read["contents"] == [{"uri": "plot:7", "text": "beans", "ripe": 4}]
    kept = (5, "private") if era == MODERN else (None, None)
    assert (read.get("ttlMs"), read.get("cacheScope")) == kept
    read = await result(wire, era, "resources/read", {"uri": "bed:a/b%20c?d"})
    assert read["contents"][0]["uri"] == "bed:a/b%20c?d"


async def test_completions_cross_likewise(wire: Wire, era: str) -> None:
    ref = {"type": "ref/prompt", "name": "far__greet"}
    asked = {"ref": ref, "argument": {"name": "who", "value": "A"}}
    completion = (await result(wire, era, "completion/complete", asked))["completion"]
    assert completion == {"values": ["Ana"], "total": 40, "hasMore": True, "fuzzy": False}


async def test_a_servers_error_keeps_its_code_and_data(wire: Wire, era: str) -> None:
    for deep, code, data in (("no number", -32602, {"field": "deep"}), (99, -32001, {"data": 99})):
        asked = {"name": "far__dig", "arguments": {"deep": deep}}
        error = (await reply(wire, era, "tools/call", asked))["error"]
        assert (error["code"], error["data"]) == (code, data)


async def test_lines_bind_to_the_servers_name_and_not_to_the_shown_one(portal: TestPortal) -> None:
    assert set(await portal.tools("members")) == {"far__dig", "dig"}
    refused = await portal.call("dig", tier="open")
    assert "Requires members access" in refused.text
    [near] = portal.running.catalog.named("elsewhere/near/dig")
    assert near.name == "dig"


async def test_secrets_in_what_a_server_answers_are_taken_out(wire: Wire, era: str) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    found = await dug(wire, era, said=token[::-1])
    assert token not in str(found)
    assert found["given"]["back"] == "[REDACTED: GitHub personal access token (classic)]"


async def test_a_malformed_tool_is_set_aside_alone(portal: TestPortal) -> None:
    [aside] = portal.running.catalog.set_aside
    assert str(aside) == (
        'elsewhere/bad: its input schema must have "type": "object" at the root. '
        "Its author must mend it."
    )
