"""A plugin in a process of its own: callers see no difference, and it takes nobody along."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from auth.tokens.assertions import subject_of
from gateway.cli.mcp_client import RequestRefused
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.isolation import workshop
from tests.gateway.isolation.portals import TIERS, eventually, portal_of, process_of
from tests.gateway.surfaces.mcp.conftest import LEGACY, Wire
from tests.journeys import garden


@pytest.fixture(scope="module")
async def apart() -> AsyncGenerator[TestPortal]:
    async with portal_of(garden) as portal:
        yield portal


@pytest.fixture(scope="module")
async def inside() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(workshop, tiers=TIERS) as portal:
        yield portal


async def raw(portal: TestPortal, tool: str, arguments: Any = None) -> Any:
    try:
        return await portal.mcp("members").call(tool, arguments or {})
    except RequestRefused as refused:
        return str(refused)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("make", {"thing": "chair", "count": 2}),
        ("make", {}),
        ("make", {"thing": 5, "more": 1}),
        ("shelve", {}),
        ("tell", {"lines": 5}),
        ("tell", {"lines": 9_000}),
        ("draw", {}),
        ("hand_on", {}),
        ("hand_on", {"how": "relay"}),
        ("hand_on", {"how": "error"}),
        ("fail", {"how": "typed"}),
        ("list_parts", {}),
        ("list_parts", {"count": 3}),
        ("raw", {"n": 7}),
        ("raw", {"n": "seven"}),
        ("long", {"kind": "text"}),
        ("long", {"kind": "rows"}),
        ("long", {"kind": "text", "mebibytes": 9}),
    ],
    ids=str,
)
async def test_a_call_is_answered_as_in_the_portal(
    apart: TestPortal, inside: TestPortal, tool: str, arguments: Any
) -> None:
    found, expected = await raw(apart, tool, arguments), await raw(inside, tool, arguments)
    for each in (found, expected):  # what is sealed, and what is of one request
        if isinstance(each, dict):
            each.get("structuredContent", {}).get("pagination", {}).pop("cursor", None)
            each["content"] = [b for b in each["content"] if "request_id" not in str(b)]
            if tool == "list_parts":
                each.pop("content")
    assert found == expected


async def test_lists_are_the_same_and_so_is_what_is_read(
    apart: TestPortal, inside: TestPortal
) -> None:
    async def everything(portal: TestPortal) -> list[Any]:
        uris = ("workshop://about", "workshop://picture", "workshop://boards/oak")
        own = [await portal.tools(), await portal.prompts(), await portal.skills()]
        read = [await portal.read(uri) for uri in (*uris, "skill://sawing/SKILL.md")]
        prompts = [
            await portal.prompt("plan", {"wood": "oak"}),
            await portal.prompt("ponder"),
            await portal.prompt("recipe-table", {"wood": "ash"}),
        ]
        completed = [
            await portal.complete("plan", "wood", "o"),
            await portal.complete("recipe-chair", "wood", "e"),
            await portal.complete("workshop://boards/{name}", "name", "a"),
        ]
        return [*own, await portal.resources(), read, prompts, completed]

    found, expected = await everything(apart), await everything(inside)
    for listed, own in zip(found[:4], expected[:4], strict=True):  # beside those of the garden
        assert {name: listed[name] for name in own} == own
    assert found[4:] == expected[4:]


async def test_what_is_not_there_is_told(apart: TestPortal) -> None:
    with pytest.raises(RequestRefused, match="There is no such board"):
        await apart.read("workshop://boards/none")
    with pytest.raises(RequestRefused):
        await apart.prompt("recipe-none")
    with pytest.raises(RequestRefused, match="wood"):
        await apart.prompt("plan")


async def test_pages_go_on_where_they_stopped(apart: TestPortal) -> None:
    shown, cursor = list[str](), dict[str, str]()
    while True:
        page = (await apart.call("list_parts", {"count": 25, **cursor})).structured
        shown += [each["thing"] for each in page["data"]]
        if "cursor" not in page["pagination"]:
            break
        cursor = {"cursor": page["pagination"]["cursor"]}
    assert shown == [f"part-{number:03}" for number in range(25)]
    assert page["meta"]["from"] == "the shelf"


async def test_tiers_hold_and_are_told_to_the_plugin(apart: TestPortal) -> None:
    refused = await apart.call("guarded", tier="open")
    assert refused.is_error
    assert refused.text.startswith("Requires members access")
    lower = await apart.call("where", tier="open")
    higher = await apart.call("where", headers={"x-wood-token": "a-token-for-wood"})
    assert (lower.structured["allowed"], lower.structured["credential"]) == (["make"], None)
    assert higher.structured["allowed"] == ["make", "guarded"]
    assert lower.structured["process"] == higher.structured["process"] != os.getpid()


async def test_it_calls_tools_of_others_as_its_caller(apart: TestPortal) -> None:
    found = await apart.call("pass_on", {"key": "garden/harvest"})
    assert found.structured["content"] == [{"type": "text", "text": "Harvested."}]
    refused = await apart.call("pass_on", {"key": "workshop/guarded"}, tier="open")
    assert refused.structured == {"refused": "not_allowed"}


async def test_it_has_the_portals_word_about_its_caller_and_nobody_else(apart: TestPortal) -> None:
    uma = await apart.sign_in("uma")
    said = (await apart.call("vouch", tier="uma")).structured
    subject = subject_of(uma.id, "https://login.far.example")
    assert said == {"person": uma.id, "subject": subject, "issuer": "http://localhost"}
    portals = (
        await apart.call("vouch", {"audience": "http://localhost/mcp"}, tier="uma")
    ).structured
    assert portals == {"refused": "bad_audience"}
    nobodys = (await apart.call("vouch", tier="open")).structured
    assert nobodys == {"refused": "sign_in_needed"}


async def test_it_has_a_database_objects_and_a_cache_of_its_own(apart: TestPortal) -> None:
    person = await apart.sign_in("zoe")
    kept = await apart.call("keep", {"note": "mine"}, tier="zoe")
    assert kept.text.startswith("mine 1 ")
    personal = apart.running.plugins.offers["workshop"].personal
    assert personal is not None
    assert set(await personal.people()) == {person.id}
    assert [(f.path, f.data) async for f in personal.export(person.id)] == [("note.txt", b"mine")]
    await personal.erase(person.id)
    assert list(await personal.people()) == []


async def test_a_client_is_told_of_progress_and_asked(apart: TestPortal) -> None:
    wire = await Wire(apart).begin({"elicitation": {}})
    stream = await wire.send(method="GET", headers={"mcp-protocol-version": LEGACY}).start()
    answer = wire.legacy(
        "tools/call", {"name": "report", "arguments": {}, "_meta": {"progressToken": "p"}}
    )
    progress = await answer.event()
    assert progress is not None
    assert progress["params"] == {
        "progressToken": "p",
        "progress": 1,
        "total": 2,
        "message": "half",
    }
    told = await answer.event()
    assert told is not None
    assert told["params"]["data"] == {"saw": "sharp", "wanted": "info"}
    done = await stream.event()
    assert done is not None
    assert done["params"] == {"elicitationId": "catalogue-7"}
    question = await answer.event()
    assert question is not None
    result = {"action": "accept", "content": {"wood": "oak"}}
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": result}
    assert (await wire.send(reply, {"mcp-protocol-version": LEGACY}).start()).status == 202
    assert (await answer.reply())["result"]["content"][0]["text"] == "oak"
    await stream.leave()


async def test_what_it_offers_anew_and_tells_of_reaches_the_portal() -> None:
    async with portal_of() as portal:
        heard: list[Any] = []
        portal.running.changes.listen(heard.append)
        with capture_logs() as lines:
            await portal.call("change")

            async def logged() -> bool:
                return len([each for each in lines if each.get("plugin") == "workshop"]) > 1

            await eventually(logged)
        assert (await portal.call("extra")).text == "done"
        assert {each.kind for each in heard} == {"tools", "resource"}
        (told,) = [each for each in lines if each["event"] == "workshop_changed"]
        assert (told["wood"], told["log_level"], told["plugin"]) == ("oak", "warning", "workshop")
        (printed,) = [each for each in lines if each["event"] == "plugin_output"]
        assert printed["text"] == "printed by the workshop"


@pytest.mark.parametrize("how", ["raise", "exit", "recursion", "cancelled"])
async def test_what_raises_is_a_failed_call_with_its_traceback_in_the_log(
    apart: TestPortal, how: str
) -> None:
    before = await process_of(apart)
    with capture_logs() as lines, pytest.raises(RequestRefused, match="request id"):
        await apart.call("fail", {"how": how})
    (line,) = [each for each in lines if each["event"] == "call_failed"]
    assert "tooling.py" in line.get("exception", "tooling.py")
    assert await process_of(apart) == before


async def test_a_call_that_is_given_up_ends_there_too(apart: TestPortal, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    calling = asyncio.create_task(apart.call("wait", {"mark": str(mark)}))

    async def says(word: str) -> bool:
        return mark.exists() and mark.read_text() == word

    await eventually(lambda: says("begun"))
    calling.cancel()
    await eventually(lambda: says("ended"))
