"""Pages of long results: each result once, in order, in JSON that fits."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import to_json

from auth import Caller, Tier
from auth.sealer import Sealer
from gateway.catalog.items import tool_item
from gateway.catalog.schemas import BadDeclaration
from gateway.contract import (
    Listing,
    Offer,
    Page,
    Plugin,
    Route,
    Tool,
    ToolFailed,
    ToolResult,
    hookimpl,
    piece,
)
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.json_budget import size
from gateway.pipeline.pager import Pager
from gateway.testing import TestPortal, open_test_portal

ANA = Caller(person="person:ana", tier=Tier.MEMBERS)
BEN = Caller(person="person:ben", tier=Tier.MEMBERS)
BYTES = 700


class Brief(BaseModel):
    name: str
    purpose: str


class Function(Brief):
    body: str
    calls: list[str] = Field(default_factory=list)


class Completeness(ToolResult):
    complete: bool
    not_parsed: list[str] = Field(default_factory=list)


def brief(function: Function) -> Brief:
    return Brief(name=function.name, purpose=function.purpose)


def named(name: str, purpose: str = "Adds.", body: str = "return 1") -> Function:
    return Function(name=name, purpose=purpose, body=body)


def pager(size: int = 4, limit: int = BYTES, key: bytes = b"key", **more: Any) -> Pager:
    page = Page(size, brief, Function | Brief, Completeness, bytes=limit, **more)
    return Pager(page, Cursors(Sealer(key, "test")), "purpose")


def listing(functions: list[Function], **more: Any) -> Listing[Function]:
    return Listing(functions, lambda function: function.name, Completeness(complete=True), **more)


def walk(
    shown: Pager, found: Callable[[int], Listing[Function]], limit: int = BYTES
) -> list[dict[str, Any]]:
    """The results of all pages, from a listing that may be another one for every page."""
    results: list[dict[str, Any]] = []
    cursor, number = None, 0
    while True:
        answer = shown.show(found(number), shown.cursors.open(cursor, shown.purpose))
        written = to_json(answer)
        assert json.loads(written.decode()) == answer
        assert len(written) <= limit
        assert answer["meta"]["bytesEstimate"] == size(answer["data"])
        results += answer["data"]
        cursor = answer.get("pagination", {}).get("cursor")
        number += 1
        if cursor is None:
            assert not answer.get("pagination", {}).get("hasMore")
            return results
        assert answer["data"]


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
texts = st.text(st.characters(codec="utf-8"), max_size=400)
functions = st.builds(Function, name=names, purpose=texts, body=texts)
lists = st.lists(functions, max_size=14, unique_by=lambda each: each.name)


@given(lists, st.integers(1, 6))
def test_all_pages_together_hold_each_result_once_and_in_order(
    found: list[Function], size: int
) -> None:
    results = walk(pager(size), lambda _: listing(found))
    assert [each["name"] for each in results] == [each.name for each in found]


@given(lists, st.lists(st.sets(st.integers(0, 13)), min_size=1, max_size=8), st.integers(1, 4))
def test_what_stays_is_shown_once_whatever_comes_and_goes(
    found: list[Function], gone: list[set[int]], size: int
) -> None:
    """Results are gone at some pages and back at others; of those that stay none is missed."""
    found = sorted(found, key=lambda each: each.name)
    restless = set().union(*gone)

    def now(number: int) -> Listing[Function]:
        left = gone[number % len(gone)]
        there = [each for place, each in enumerate(found) if place not in left]
        return listing(there, ordered=True)

    stay = [each.name for place, each in enumerate(found) if place not in restless]
    seen = [each["name"] for each in walk(pager(size), now)]
    assert len(seen) == len(set(seen))
    assert [name for name in seen if name in stay] == stay


@given(lists, st.integers(1, 4), st.data())
def test_in_any_order_what_comes_and_goes_elsewhere_changes_nothing(
    found: list[Function], size: int, data: st.DataObject
) -> None:
    shown = pager(size)
    first = shown.show(listing(found), None)
    cursor = first.get("pagination", {}).get("cursor")
    if cursor is None:
        return
    seen = [each["name"] for each in first["data"]]
    others = [each for each in found if each.name != seen[-1]]
    gone = data.draw(st.sets(st.sampled_from([each.name for each in others]))) if others else set()
    new = data.draw(st.lists(functions, max_size=4))
    taken = {each.name for each in found}
    left = [each for each in found if each.name not in gone]
    for each in new:
        if each.name not in taken:
            taken.add(each.name)
            left.insert(data.draw(st.integers(0, len(left))), each)
    follow: Any = shown.cursors.open(cursor, "purpose")
    expected = [each.name for each in left][[each.name for each in left].index(seen[-1]) + 1 :]
    answer = shown.show(listing(left), follow)
    assert [each["name"] for each in answer["data"]] == expected[: len(answer["data"])]
    assert bool(answer["data"]) == bool(expected)


def test_where_the_result_that_ended_a_page_is_gone_the_one_after_it_is_next() -> None:
    found = [named(name) for name in ("delta", "alpha", "echo", "bravo")]
    shown = pager(2)
    cursor = shown.show(listing(found), None)["pagination"]["cursor"]
    place = shown.cursors.open(cursor, "purpose")
    assert shown.show(listing([found[0], *found[2:]]), place)["data"][0]["name"] == "echo"
    assert shown.show(listing([]), place)["data"] == []


def test_results_with_one_key_do_not_make_a_walk_without_end() -> None:
    assert len(walk(pager(1), lambda _: listing([named("same")] * 7))) == 7


def test_keys_may_be_tuples() -> None:
    found = [named(f"f{number}") for number in range(9)]
    pages = Listing(found, lambda each: (1, ("src/a.py", each.name)), ordered=True)
    assert len(walk(pager(2), lambda _: pages)) == 9


def test_few_results_are_whole_and_many_are_brief() -> None:
    few = pager(20).show(listing([named(name) for name in "abcd"]), None)
    assert all(each["body"] == "return 1" for each in few["data"])
    assert few["meta"] == {
        "complete": True,
        "notParsed": [],
        "truncated": False,
        "summarized": False,
        "originalCount": 4,
        "bytesEstimate": size(few["data"]),
    }
    assert "pagination" not in few
    many = pager(20).show(listing([named(name) for name in "abcde"]), None)
    assert many["data"][0] == {"name": "a", "purpose": "Adds."}
    assert many["meta"]["summarized"]
    assert not many["meta"]["truncated"]


def test_a_page_says_how_many_there_are_and_how_to_go_on() -> None:
    shown = pager(4)
    found = listing([named(str(number)) for number in range(6)], total=90)
    first = shown.show(found, None)
    assert first["pagination"]["hasMore"]
    assert first["pagination"]["totalCount"] == first["meta"]["originalCount"] == 90
    last = shown.show(found, shown.cursors.open(first["pagination"]["cursor"], "purpose"))
    assert last["pagination"] == {"hasMore": False, "totalCount": 90}
    assert last["meta"]["truncated"]  # the tool itself stopped before the end


def test_a_result_larger_than_a_page_is_brief_and_cut_where_that_is_not_enough() -> None:
    large = named("large", body="x" * 2 * BYTES)
    (only,) = pager().show(listing([large]), None)["data"]
    assert only == {"name": "large", "purpose": "Adds."}
    larger = pager().show(listing([named("larger", purpose="é" * BYTES)]), None)
    assert larger["meta"]["truncated"]
    assert larger["data"][0]["name"] == "larger"
    assert larger["data"][0]["purpose"].startswith("éé")
    assert larger["data"][0]["purpose"].endswith("é…")
    assert BYTES - 4 <= size(larger) <= BYTES


@given(st.text(st.characters()), st.integers(1, 40))
def test_the_pieces_of_a_text_are_the_text(text: str, limit: int) -> None:
    whole, parts = text.encode(errors="replace").decode(), []
    offset: int | None = 0
    while offset is not None:
        part = piece(text, offset, limit)
        assert part.offset == offset
        assert part.total == len(whole.encode())
        length = len(part.text.encode())
        assert length <= limit or len(part.text) == 1
        parts.append(part.text)
        offset = part.next_offset
    assert "".join(parts) == whole


def test_a_piece_ends_with_a_line_where_it_can_and_never_within_a_character() -> None:
    assert piece("one\ntwo\nthree", 0, 9).text == "one\ntwo\n"
    assert piece("ééé", 0, 3).text == "é"
    assert piece("ééé", 3, 4).offset == 2
    assert piece("ééé", 0, 1).text == "é"
    assert piece("ééé", 99, 4).text == ""
    assert piece("ééé", -5, 99).next_offset is None


def test_a_paged_tool_may_not_have_a_cursor_of_its_own() -> None:
    async def find(cursor: str = "") -> Listing[Function]:
        """Find.

        Args:
            cursor: its own.
        """
        return listing([])

    with pytest.raises(BadDeclaration, match="'cursor' is the gateway's"):
        tool_item("code", Tool.of(find, page=pager().page), "find")


PAGE = Page(3, brief, Function | Brief, Completeness)


class Query(BaseModel):
    count: int


async def find_functions(count: int) -> Listing[Function]:
    """Find functions.

    Args:
        count: how many there are.
    """
    if count < 0:
        raise ToolFailed("nothing", "There is nothing.")
    return listing([named(f"f{number:03}") for number in range(count)], ordered=True)


async def _route(params: Query, caller: Caller) -> Listing[Function]:
    return await find_functions(params.count)


@asynccontextmanager
async def _opened(config: Any, host: Any) -> Any:
    yield Offer(
        tools=[Tool.of(find_functions, page=PAGE)],
        routes=[
            Route(method, "/functions", _route, "find_functions", Query, PAGE.result, "Functions.")
            for method in ("GET", "POST")
        ],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin(name="code", summary="Code.", open=_opened)


@pytest.fixture
async def portal() -> Any:
    plugin = SimpleNamespace(porch_plugin=porch_plugin)
    async with open_test_portal(plugin, tiers={"default": "open"}) as opened:
        yield opened


async def test_over_mcp_a_client_walks_pages_that_keep_to_the_schema(portal: TestPortal) -> None:
    tool = (await portal.tools())["find_functions"]
    assert "cursor" not in tool["inputSchema"]["required"]
    seen, arguments = [], {"count": 8}
    while True:
        answer = await portal.call("find_functions", arguments)
        jsonschema_rs.validate(tool["outputSchema"], answer.structured)
        assert json.loads(answer.text) == answer.structured
        seen += [each["name"] for each in answer.structured["data"]]
        if not answer.structured["pagination"]["hasMore"]:
            break
        arguments = {"count": 8, "cursor": answer.structured["pagination"]["cursor"]}
    assert seen == [f"f{number:03}" for number in range(8)]


async def test_a_cursor_is_refused_with_other_arguments_and_from_others(portal: TestPortal) -> None:
    answer = await portal.call("find_functions", {"count": 8})
    cursor = answer.structured["pagination"]["cursor"]
    for arguments, tier in (
        ({"count": 9, "cursor": cursor}, "members"),
        ({"count": 8, "cursor": cursor}, "public"),
        ({"count": 8, "cursor": cursor[:-1]}, "members"),
        ({"count": 8, "cursor": ["x"]}, "members"),
    ):
        refused = await portal.call("find_functions", arguments, tier=tier)
        assert refused.is_error
        assert json.loads(refused.content[-1]["text"])["error"]["code"] == "invalid_cursor"


async def test_bad_arguments_and_failures_are_what_they_are_without_pages(
    portal: TestPortal,
) -> None:
    assert "count" in (await portal.call("find_functions", {"cursor": "x"})).text
    assert (await portal.call("find_functions", {"count": -1})).text == "There is nothing."


async def test_over_rest_the_pages_are_the_same(portal: TestPortal) -> None:
    first = (await portal.get("/api/v1/code/functions?count=4")).json()
    assert first == (await portal.call("find_functions", {"count": 4}, tier="open")).structured | {
        "pagination": first["pagination"]
    }
    cursor = first["pagination"]["cursor"]
    last = (await portal.get(f"/api/v1/code/functions?count=4&cursor={cursor}")).json()
    assert [each["name"] for each in last["data"]] == ["f003"]
    refused = await portal.get(f"/api/v1/code/functions?count=5&cursor={cursor}")
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "invalid_cursor"


async def test_a_body_takes_the_cursor_too(portal: TestPortal) -> None:
    first = (await portal.http().post("/api/v1/code/functions", json={"count": 4})).json()
    given = {"count": 4, "cursor": first["pagination"]["cursor"]}
    last = (await portal.http().post("/api/v1/code/functions", json=given)).json()
    assert [each["name"] for each in last["data"]] == ["f003"]


async def test_the_openapi_document_names_the_cursor(portal: TestPortal) -> None:
    document = (await portal.get("/api/v1/openapi.json")).json()
    operations = document["paths"]["/code/functions"]
    assert [each["name"] for each in operations["get"]["parameters"]] == ["count", "cursor"]
    body = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert operations["post"]["parameters"] == []
    assert set(body["properties"]) == {"count", "cursor"}


def test_the_result_model_takes_what_is_sent() -> None:
    answer = pager(2).show(listing([named(name) for name in "abc"]), None)
    PAGE.result.model_validate(answer)
    with pytest.raises(ValidationError):
        PAGE.result.model_validate({"data": []})
