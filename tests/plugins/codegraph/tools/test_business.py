"""What agents are told of why code exists, and how members correct it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.codegraph.changes import states
from plugins.codegraph.store.owner import Owner
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.portal import WordsModel, World, world

OWNER = Owner("portal", "shop")
DIFF = """diff --git a/shop/orders/store.py b/shop/orders/store.py
--- a/shop/orders/store.py
+++ b/shop/orders/store.py
@@ -6,3 +6,8 @@
 def place_order(name):
     db.session.add(name)
     return name
+
+
+def cancel_order(name):
+    \"\"\"Take an order back.\"\"\"
+    return name
"""


@pytest.fixture
async def shop(tmp_path: Path, codegraph_file: Path) -> AsyncIterator[World]:
    async with world(tmp_path, WordsModel(), codegraph_file) as made:
        await made.index("shop", SHOP)
        await justified(made, OWNER)
        yield made


async def test_a_blueprint_has_features_infrastructure_and_helpers(shop: World) -> None:
    answer = await shop.call("get_blueprint")
    orders = next(each for each in answer["verticals"] if each["name"] == "orders")
    assert (orders["id"], orders["entityCount"]) == ("feature_order", 3)
    assert {each["label"] for each in orders["entryPoints"]} == {"POST /orders", "GET /orders/*"}
    assert orders["userFlows"][0] == {
        "name": "Orders: POST /orders",
        "steps": 2,
        "actors": ["user"],
    }
    assert {each["name"] for each in answer["horizontals"]} == {"database", "authentication"}
    assert answer["utilities"]["entityCount"] == 3
    assert (answer["unknownCount"], answer["leftOut"]) == (0, 0)


async def test_one_feature_is_asked_for_by_name_or_id(shop: World) -> None:
    for name in ("Orders", "feature_order"):
        answer = await shop.call("get_blueprint", feature=name)
        assert [each["name"] for each in answer["verticals"]] == ["orders"]
        assert answer["horizontals"] == []
    failed = await shop.refused("get_blueprint", feature="billing")
    assert failed.code == "unknown_feature"
    assert "orders" in failed.message


async def test_the_context_of_a_function_says_why_it_exists(shop: World) -> None:
    answer = await shop.call("get_business_context", name="place_order")
    said = answer["justification"]
    assert (said["type"], said["typeBy"], said["featureArea"]) == ("VERTICAL", "facts", "orders")
    assert said["purpose"] == "Orders are written once, and never changed."
    assert answer["tests"] == ["tests/test_orders.py::test_an_order_is_placed"]
    assert answer["meta"]["completeness"]["state"] == "complete"
    test = await shop.call("get_business_context", name="test_an_order_is_placed")
    assert test["justification"]["type"] == "unknown"
    assert "no tests are classified" in test["meta"]["note"]


async def test_code_is_found_by_what_it_is_for(shop: World) -> None:
    orders = await shop.call("search_by_purpose", feature="orders")
    assert {each["name"] for each in orders["data"]} == {
        "create_order",
        "place_order",
        "show_order",
    }
    helpers = await shop.call("search_by_purpose", type="UTILITY")
    assert {each["name"] for each in helpers["data"]} == {"slugify", "even", "odd"}
    asked = await shop.call("search_by_purpose", query="open the database", type="HORIZONTAL")
    assert asked["data"][0]["name"] == "connect"
    everything = await shop.call("search_by_purpose")
    assert {"place_order", "slugify", "connect"} <= {each["name"] for each in everything["data"]}


async def test_impact_says_which_features_break_only_where_it_is_asked(shop: World) -> None:
    plain = await shop.call("analyze_impact", name="slugify")
    assert "features" not in plain["meta"]
    assert "purpose" not in plain["data"][0]["entities"][0]
    asked = await shop.call("analyze_impact", name="slugify", business=True)
    assert asked["meta"]["features"] == [
        {"name": "orders", "affected": 1, "entryPoints": ["POST /orders"]}
    ]
    first = asked["data"][0]["entities"][0]
    assert (first["type"], first["purpose"]) == ("VERTICAL", "Take an order of a customer.")


async def test_uncommitted_code_is_judged_when_it_is_asked_for(shop: World) -> None:
    await shop.call("sync_local_diff", "ada", diff=DIFF, branch="main", baseSha="0" * 40)
    mine = await shop.call("get_business_context", "ada", name="cancel_order")
    said = mine["justification"]
    assert (said["type"], said["purpose"]) == ("VERTICAL", "Take an order back.")
    assert mine["meta"]["workspace"]["files"] == 1
    assert (await shop.refused("get_business_context", name="cancel_order")).code == "unknown_name"


async def test_a_member_is_told_to_wait_where_nothing_is_justified(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        await made.index("shop", SHOP)
        for tool, args in (
            ("get_blueprint", {}),
            ("get_business_context", {"name": "place_order"}),
            ("search_by_purpose", {"feature": "orders"}),
        ):
            assert (await made.refused(tool, **args)).code == "not_justified"


async def test_a_correction_wins_and_outlives_an_index_and_a_new_signature(shop: World) -> None:
    said = {"type": "VERTICAL", "feature_area": "accounts", "purpose": "Lets people in."}
    first = await shop.call(
        "correct_justification", "ada", name="check_password", version=0, correction=said
    )
    assert first["version"] == 1
    changed = SHOP["shop/auth/login.py"].replace(b"(user, password):", b"(user, password, once):")
    await shop.index("shop", SHOP | {"shop/auth/login.py": changed})
    await justified(shop, OWNER)
    answer = await shop.call("get_business_context", name="check_password")
    told = answer["justification"]
    assert (told["type"], told["featureArea"], told["typeBy"]) == ("VERTICAL", "accounts", "person")
    assert (told["purpose"], told["purposeBy"]) == ("Lets people in.", "person")
    assert (told["confidence"], answer["correctionVersion"]) == (1, 1)
    names = {each["name"] for each in (await shop.call("get_blueprint"))["verticals"]}
    assert "accounts" in names


async def test_a_correction_is_seen_at_once_and_can_be_taken_back(shop: World) -> None:
    async def purpose() -> tuple[str, str]:
        told = (await shop.call("get_business_context", name="connect"))["justification"]
        return told["purpose"], told["purposeBy"]

    correct = {"name": "connect", "version": 0, "correction": {"purpose": "Begins all work."}}
    await shop.call("correct_justification", "ada", **correct)
    assert await purpose() == ("Begins all work.", "person")
    taken = {"name": "connect", "version": 1, "correction": {"purpose": ""}}
    await shop.call("correct_justification", "ada", **taken)
    await justified(shop, OWNER)
    assert await purpose() == ("Open the database.", "facts")


async def test_the_later_of_two_people_is_told_of_the_first(shop: World) -> None:
    correct = {"name": "connect", "version": 0, "correction": {"purpose": "Begins all work."}}
    await shop.call("correct_justification", "ada", **correct)
    late = {"name": "connect", "version": 0, "correction": {"purpose": "Nothing."}}
    failed = await shop.refused("correct_justification", "bob", **late)
    assert failed.code == "version_conflict"
    assert failed.details == {"version": 1, "values": {"purpose": "Begins all work."}}


async def test_what_is_no_entity_with_a_class_cannot_be_corrected(shop: World) -> None:
    correction = {"purpose": "x"}
    for name in ("shop/database.py", "test_an_order_is_placed"):
        args = {"name": name, "version": 0, "correction": correction}
        assert (await shop.refused("correct_justification", "ada", **args)).code == "bad_input"
    empty = {"name": "connect", "version": 0, "correction": {}}
    assert (await shop.refused("correct_justification", "ada", **empty)).code == "bad_input"


async def test_the_context_of_a_function_says_what_became_of_it_through_its_renames(
    shop: World,
) -> None:
    answer = await shop.call("get_business_context", name="place_order")
    assert answer["past"] == {"edits": [], "more": 0, "why": None}
    text = SHOP["shop/orders/store.py"]
    added = b"""

def cancelled(order, reason, by):
    db.session.delete(order)
    return [reason, by, order]
"""
    longer = text + added
    await shop.index("shop", {**SHOP, "shop/orders/store.py": longer})
    edited = longer.replace(b"[reason, by, order]", b"[by, order]")
    await shop.index("shop", {**SHOP, "shop/orders/store.py": edited})
    moved = {**SHOP, "shop/orders/gone.py": edited[len(text) :]}
    await shop.index("shop", moved)
    await justified(shop, OWNER)
    past = (await shop.call("get_business_context", name="cancelled"))["past"]
    assert [each["change"] for each in past["edits"]] == ["renamed", "updated", "added"]
    assert past["edits"][0]["formerly"] == "cancelled, shop/orders/store.py:11"
    assert past["why"] is None


async def test_a_history_says_why_it_may_be_incomplete(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MAX_FILES", 0)
    text = SHOP["shop/orders/store.py"].replace(b"return name", b"return [name]")
    await shop.index("shop", {**SHOP, "shop/orders/store.py": text})
    await justified(shop, OWNER)
    past = (await shop.call("get_business_context", name="place_order"))["past"]
    assert past["edits"] == []
    assert "only files are told" in past["why"]
