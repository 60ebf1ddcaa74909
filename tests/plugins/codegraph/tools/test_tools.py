"""What an agent asks of a repository, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.catalog.items import tool_item
from plugins.codegraph.repositories.repository import State
from tests.plugins.codegraph.portal import World


def names(answer: dict[str, Any]) -> list[str]:
    return [each["name"] for each in answer["data"]]


async def test_who_calls_a_function_is_told_with_place_strategy_and_confidence(shop: World) -> None:
    answer = await shop.call("get_callers", name="checkout")
    told = {(each["name"], each["at"], each["strategy"]) for each in answer["data"]}
    assert told == {
        ("main", "src/app.ts:5", "import"),
        ("testCheckout", "test/cart.test.ts:5", "import"),
    }
    assert all(each["confidence"] > 0.9 for each in answer["data"])
    assert answer["data"][0]["source"].startswith("export function main()")
    assert answer["meta"]["completeness"] == {"state": "complete"}


async def test_many_callers_are_summarised_and_come_in_pages_of_twenty(shop: World) -> None:
    first = await shop.call("get_callers", name="price")
    assert first["meta"]["summarized"]
    assert "source" not in first["data"][0]
    assert (len(first["data"]), first["pagination"]["totalCount"]) == (20, 31)
    second = await shop.call("get_callers", name="price", cursor=first["pagination"]["cursor"])
    assert len(second["data"]) == 11
    assert not second["pagination"]["hasMore"]
    assert len({each["key"] for each in first["data"] + second["data"]}) == 31


async def test_no_callers_are_told_with_how_sure_that_is(shop: World) -> None:
    answer = await shop.call("get_callers", name="main")
    assert (answer["data"], answer["meta"]["completeness"]["state"]) == ([], "complete")


async def test_a_call_that_may_be_anyones_makes_an_answer_incomplete(shop: World) -> None:
    answer = await shop.call("get_callers", name="Half.apply")
    complete = answer["meta"]["completeness"]
    assert (complete["state"], complete["unresolvedSites"]) == ("incomplete", 1)
    assert complete["unresolvedAt"] == ["src/app.ts:9"]


async def test_calls_of_what_a_method_overrides_may_be_its_own_and_are_told_of(
    shop: World,
) -> None:
    answer = await shop.call("get_callers", name="Half.apply")
    assert [(each["name"], each["through"]) for each in answer["data"]] == [
        ("Cart.total", "Discount.apply")
    ]
    impact = await shop.call("analyze_impact", name="Half.apply")
    assert "src/cart.ts" in {each["file"] for each in impact["data"]}


async def test_a_call_of_a_declared_method_leads_also_to_those_that_can_run(shop: World) -> None:
    answer = await shop.call("get_callees", name="Cart.total")
    called = {each["name"]: each.get("through") for each in answer["data"]}
    assert called == {"price": None, "Discount.apply": None, "Half.apply": "Discount.apply"}


async def test_what_overrides_in_a_class_that_nobody_makes_cannot_run(shop: World) -> None:
    text = b"""export interface Face { go(): void }
    class Idle implements Face { go() {} }
    export function run(face: Face) { face.go(); }
    """
    await shop.index("idle", {"a.ts": text})
    callees = await shop.call("get_callees", name="run", repo="idle")
    assert names(callees) == ["Face.go"]
    callers = await shop.call("get_callers", name="Idle.go", repo="idle")
    assert callers["data"] == []
    said = "1 users of Face.go (a.ts:1), which it overrides, may mean it"
    assert said in callers["meta"]["completeness"]["why"]


async def test_who_changes_a_method_is_told_what_overrides_it(shop: World) -> None:
    impact = await shop.call("analyze_impact", name="Discount.apply")
    names = {one["name"]: one["strategy"] for each in impact["data"] for one in each["entities"]}
    assert names["Half.apply"] == "overrides"


async def test_callers_of_callers_are_told_by_depth_and_way(shop: World) -> None:
    answer = await shop.call("get_callers", name="Cart.total", depth=2)
    ways = {(each["name"], each["depth"], each.get("via")) for each in answer["data"]}
    assert ways >= {("checkout", 1, None), ("main", 2, "checkout")}


async def test_the_callers_of_a_class_are_those_of_its_constructor(shop: World) -> None:
    answer = await shop.call("get_callers", name="Cart", kind="class")
    assert names(answer) == ["main", "testCheckout"]


async def test_what_is_less_sure_than_asked_for_is_left_out(shop: World) -> None:
    every = await shop.call("get_callees", name="checkout")
    sure = await shop.call("get_callees", name="checkout", min_confidence=0.99)
    assert (names(every), names(sure)) == (["Cart.total"], [])


async def test_an_unknown_name_is_an_error_that_lists_the_nearest(shop: World) -> None:
    failed = await shop.refused("get_callers", name="chekout")
    assert failed.code == "unknown_name"
    assert "function checkout (src/cart.ts:13)" in failed.message
    assert failed.details["candidates"][0]["name"] == "checkout"


async def test_a_name_that_is_elsewhere_says_where(shop: World) -> None:
    failed = await shop.refused("get_function", name="price", file="src/cart.ts")
    assert "It is elsewhere: function price (src/pricing.ts:2)" in failed.message


async def test_an_ambiguous_name_lists_every_candidate_with_place_and_kind(shop: World) -> None:
    failed = await shop.refused("get_callers", name="apply")
    assert failed.code == "ambiguous_name"
    found = {(each["name"], each["kind"], each["file"]) for each in failed.details["candidates"]}
    assert found == {
        ("Discount.apply", "method", "src/pricing.ts"),
        ("Half.apply", "method", "src/pricing.ts"),
    }
    assert all(
        f"src/pricing.ts:{each['line']}" in failed.message for each in failed.details["candidates"]
    )


DOUBLES = {
    "bell.py": b"def ring():\n    return 1\n\n\nclass Bell:\n    pass\n",
    "tower.py": b"from bell import ring\n\n\ndef noon():\n    ring()\n",
    "door.py": b"def knock():\n    def ring():\n        pass\n\n    ring()\n",
    "tests/test_bell.py": b"def test_it():\n    class Bell:\n        def ring(self): pass\n",
    "tests/helping.py": b"def ring():\n    pass\n",
}


@pytest.mark.parametrize("tool", ["get_callers", "get_callees", "analyze_impact", "get_function"])
async def test_the_only_one_that_is_no_test_nor_local_is_meant_and_the_others_are_named(
    shop: World, tool: str
) -> None:
    await shop.index("doubles", DOUBLES)
    answer = await shop.call(tool, repo="doubles", name="ring")
    told = answer["meta"]["note"]
    for other in ("knock.ring (door.py:2)", "ring (tests/helping.py:1)", "tests/test_bell.py:3"):
        assert other in told
    assert "bell.py:1)" not in told
    if tool == "get_callers":
        assert names(answer) == ["noon"]
    if tool == "get_function":
        assert answer["entity"]["file"] == "bell.py"


async def test_a_class_that_a_test_has_too_is_the_one_outside_it(shop: World) -> None:
    await shop.index("doubles", DOUBLES)
    answer = await shop.call("get_class", repo="doubles", name="Bell")
    assert answer["entity"]["file"] == "bell.py"
    assert "test_it.Bell (tests/test_bell.py:2)" in answer["meta"]["note"]


async def test_nothing_is_preferred_where_a_kind_is_given_or_two_remain(shop: World) -> None:
    await shop.index("doubles", DOUBLES)
    failed = await shop.refused("get_callers", repo="doubles", name="ring", kind="function")
    assert (failed.code, failed.details["total"]) == ("ambiguous_name", 3)
    more = {**DOUBLES, "gong.py": b"def ring():\n    return 2\n"}
    await shop.index("doubles", more)
    failed = await shop.refused("get_callers", repo="doubles", name="ring")
    assert (failed.code, failed.details["total"]) == ("ambiguous_name", 5)
    here = await shop.call("get_function", repo="doubles", name="ring", file="door.py")
    assert here["entity"]["name"] == "knock.ring"
    assert "note" not in here["meta"]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Cart.total", None),
        ("total", None),
        ("total", "src/cart.ts"),
        ("total", "src\\cart.ts"),
        ("total", ".\\src\\cart.ts"),
        ("total", "cart.ts"),
        ("total", "C:\\work\\shop\\src\\cart.ts"),
        ("total", "/srv/shop/src/cart.ts"),
        ("src/cart.ts::Cart.total", None),
        ("src\\cart.ts::Cart.total", None),
        ("src/cart.ts::Cart::total", None),
    ],
)
async def test_a_method_is_found_by_every_spelling(
    shop: World, name: str, file: str | None
) -> None:
    answer = await shop.call("get_function", name=name, file=file)
    assert (answer["entity"]["name"], answer["entity"]["file"]) == ("Cart.total", "src/cart.ts")
    by_key = await shop.call("get_function", name=answer["entity"]["key"])
    assert by_key == answer


async def test_a_function_is_whole_with_callers_and_callees(shop: World) -> None:
    answer = await shop.call("get_function", name="Cart.total")
    assert answer["source"]["text"].splitlines()[0] == "  total(): number {"
    assert answer["documentation"] == "What all of it costs."
    assert [each["name"] for each in answer["callers"]] == ["checkout"]
    assert {each["name"] for each in answer["callees"]} >= {"price", "Discount.apply"}
    assert answer["callerCount"] == 1
    assert "nextOffset" not in answer["source"]


async def test_a_class_has_its_members_and_what_it_implements(shop: World) -> None:
    answer = await shop.call("get_class", name="Half")
    assert [each["name"] for each in answer["members"]] == ["Half.apply"]
    assert [each["name"] for each in answer["bases"]] == ["Discount"]
    above = await shop.call("get_class", name="Discount")
    assert ([each["name"] for each in above["subclasses"]], above["subclassCount"]) == (["Half"], 1)


async def test_asking_a_class_of_the_tool_for_functions_says_which_tool(shop: World) -> None:
    failed = await shop.refused("get_function", name="Half", kind="class")
    assert "for class use get_class" in failed.message


async def test_a_long_file_is_read_by_offset_to_the_last_byte(shop: World) -> None:
    text = "".join(f"export const value{n} = '{'ü' * 20}';\n" for n in range(2_000))
    await shop.index("long", {"long.ts": text.encode()})
    read, offset, sizes = "", 0, []
    while offset is not None:
        answer = await shop.call("get_file", file="long.ts", offset=offset, repo="long")
        read += answer["source"]["text"]
        sizes.append(len(str(answer).encode()))
        offset = answer["source"].get("nextOffset")
    assert read == text
    assert len(sizes) > 2
    assert max(sizes) < 36_000


async def test_a_file_is_read_with_what_it_defines(shop: World) -> None:
    answer = await shop.call("get_file", file="src\\pricing.ts")
    assert answer["path"] == "src/pricing.ts"
    assert answer["source"]["text"].startswith("/** What a")
    assert {"price", "Discount", "Half"} <= {each["name"] for each in answer["symbols"]}


async def test_an_unknown_file_is_an_error_that_lists_the_nearest(shop: World) -> None:
    failed = await shop.refused("get_file", file="src/pricng.ts")
    assert "file src/pricing.ts" in failed.message


async def test_imports_are_followed_in_both_directions_and_steps(shop: World) -> None:
    direct = await shop.call("get_imports", file="src/app.ts")
    assert {each["file"] for each in direct["data"]} == {"src/cart.ts", "src/pricing.ts"}
    deep = await shop.call("get_imports", file="test/cart.test.ts", depth=2)
    assert {each["file"] for each in deep["data"]} == {"src/cart.ts", "src/pricing.ts"}
    by = await shop.call("get_imports", file="src/cart.ts", direction="imported_by")
    assert {each["file"] for each in by["data"]} == {"src/app.ts", "test/cart.test.ts"}


async def test_an_impact_is_told_by_file_and_by_test(shop: World) -> None:
    answer = await shop.call("analyze_impact", name="Cart.total")
    files = {each["file"]: each["isTest"] for each in answer["data"]}
    assert files == {"src/cart.ts": False, "src/app.ts": False, "test/cart.test.ts": True}
    assert answer["meta"]["tests"] == ["test/cart.test.ts::testCheckout"]
    assert (answer["meta"]["files"], answer["meta"]["testFiles"]) == (2, 1)


async def test_the_impact_of_a_file_is_that_of_all_in_it(shop: World) -> None:
    answer = await shop.call("analyze_impact", name="src/cart.ts")
    assert {each["file"] for each in answer["data"]} == {"src/app.ts", "test/cart.test.ts"}


async def test_words_find_names_that_are_split(shop: World) -> None:
    answer = await shop.call("search_code", query="cart")
    assert {"Cart", "src/cart.ts"} <= set(names(answer))
    only = await shop.call("search_code", query="cart", kind="class")
    assert names(only) == ["Cart"]
    assert only["data"][0]["source"].startswith("export class Cart")


async def test_nothing_found_is_an_empty_page(shop: World) -> None:
    answer = await shop.call("search_code", query="zebra")
    assert (answer["data"], answer["meta"]["originalCount"]) == ([], 0)


async def test_an_overview_counts_and_says_what_is_missing(shop: World) -> None:
    answer = await shop.call("get_project_stats")
    assert answer["files"] == 5
    assert answer["languages"][0]["language"] == "typescript"
    assert answer["entities"]["class"] == 2
    assert answer["unresolvedCalls"] == 1
    assert answer["problems"] == []


async def test_what_goes_on_with_the_index_is_part_of_every_answer(shop: World) -> None:
    shop.registry.doing = State(holder="job", done=3, total=9)
    for tool, args in {
        "get_function": {"name": "price"},
        "get_callers": {"name": "price"},
        "search_code": {"query": "price"},
        "analyze_impact": {"name": "price"},
        "get_project_stats": {},
    }.items():
        answer = await shop.call(tool, **args)
        assert answer["meta"]["index"] == "indexing, 3 of 9", tool


async def test_a_file_with_a_syntax_error_makes_answers_incomplete(shop: World) -> None:
    broken = {"a.ts": b"export function f() { return 1; }\n", "b.ts": b"export function { {{ f( \n"}
    await shop.index("broken", broken)
    answer = await shop.call("get_callers", name="f", repo="broken")
    assert answer["meta"]["completeness"]["state"] == "incomplete"
    assert answer["meta"]["completeness"]["unread"][0].startswith("b.ts: ")


async def test_two_repositories_must_be_told_apart(shop: World) -> None:
    await shop.index("other", {"a.ts": b"export function f() {}\n"})
    failed = await shop.refused("get_callers", name="f")
    assert "'shop', 'other'" in failed.message
    assert (await shop.call("get_callers", name="f", repo="other"))["data"] == []


async def test_a_repository_of_another_group_is_not_there(shop: World) -> None:
    await shop.index("secret", {"a.ts": b"export function f() {}\n"}, "guild", frozenset({"ada"}))
    assert (
        await shop.refused("get_function", "bob", name="f", repo="secret")
    ).code == "repo_needed"
    found = await shop.call("get_function", "ada", name="f", repo="secret")
    assert found["entity"]["name"] == "f"


async def test_every_tool_says_what_it_is_for_and_that_it_only_reads(shop: World) -> None:
    assert len(shop.tools) == 25
    for tool in shop.tools.values():
        item = tool_item("codegraph", tool, tool.name)
        assert "repo" in item.entry["inputSchema"]["properties"]
        assert len(tool.summary) > 80
        assert tool.title
        reads = tool.annotations is not None and tool.annotations.read_only_hint
        assert reads == (tool.name not in ("sync_local_diff", "correct_justification"))


async def test_every_file_that_is_missing_is_told_page_by_page(shop: World) -> None:
    broken = {f"b{at:02}.ts": b"export function { {{ ( \n" for at in range(45)}
    await shop.index("broken", {"a.ts": b"export function f() {}\n", **broken})
    told: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = await shop.call("get_project_stats", repo="broken", offset=offset)
        assert answer["problemCount"] == 45
        told += [each["file"] for each in answer["problems"]]
        offset = answer.get("nextOffset")
    assert told == sorted(broken)


async def test_a_file_with_a_backslash_in_its_name_is_found_by_it(shop: World) -> None:
    await shop.index("odd", {"win/a\\b.py": b"def back(): pass\n"})
    answer = await shop.call("get_file", repo="odd", file="win/a\\b.py")
    assert answer["path"] == "win/a\\b.py"
