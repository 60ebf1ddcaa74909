"""Models are asked where facts are unsure or silent, and believed where the graph allows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.gateway.scrubbing.fakes import made
from tests.plugins.codegraph.justification.opinions.asked import (
    answering,
    asked_shop,
    begun,
    context,
    context_of,
    honest,
    questions,
    until,
    written,
)
from tests.plugins.codegraph.justification.shops import SHOP
from tests.servers.openai_compatible import OpenAICompatible

pytestmark = pytest.mark.heavy


async def test_a_model_adds_what_facts_lack_and_its_words_are_marked(tmp_path: Path) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible()) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            await until(runs, await begun(portal, runs), "done")
            shown = await context(portal, "show_order", lambda found: True)
            said = shown["justification"]
            assert (said["purpose"], said["purposeBy"]) == (
                "show_order as a model sees it.",
                "model",
            )
            assert said["businessValueBy"] == "model"
            assert (said["type"], said["typeBy"]) == ("VERTICAL", "facts")
            assert said["evidence"]
            assert shown["answeredBy"]["model"] == "large"
            quoted = (await context(portal, "connect", lambda found: True))["justification"]
            assert (quoted["purpose"], quoted["purposeBy"]) == ("Open the database.", "facts")
            asked = [name for group in questions(server) for name in group]
            assert len(asked) == len(set(asked))
            assert {"slugify", "place_order", "create_order"}.isdisjoint(asked)
            assert "test_an_order_is_placed" not in asked


async def test_what_is_used_is_asked_before_what_uses_it_and_circles_at_once(
    tmp_path: Path,
) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible(), _careful) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            await until(runs, await begun(portal, runs, everything=True), "done")
        order = questions(server)
        assert sorted(["even", "odd"]) in [sorted(each) for each in order]
        place = {name: at for at, each in enumerate(order) for name in each}
        assert place["slugify"] < place["create_order"]
        assert place["place_order"] < place["create_order"]
        assert place["connect"] < place["main"]
        told = next(
            found
            for each in server.asked
            if (found := context_of(each.body)) and found["entities"][0]["name"] == "create_order"
        )
        (asked,) = told["entities"]
        assert {each["name"]: each["purpose"] for each in asked["callees"]} == {
            "slugify": "Make a text fit for an address.",
            "place_order": "Orders are written once, and never changed.",
        }
        assert asked["facts"]["entryPoint"] == "POST /orders"
        roles = {each.body["model"] for each in server.asked}
        assert roles == {"small", "large"}


def _careful(entity: Mapping[str, Any]) -> dict[str, Any]:
    """Agrees with the facts."""
    kind = entity["facts"]["class"]
    found = honest(entity) | {"type": kind}
    if kind != "VERTICAL":
        found.pop("featureArea")
    if kind == "HORIZONTAL":
        found["technologyType"] = entity["facts"]["technology"]
    return found


async def test_nothing_is_asked_again_until_its_code_changes(tmp_path: Path) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible()) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            repo = await begun(portal, runs)
            await until(runs, repo, "done")
            before = len(server.asked)
            await begun(portal, runs)
            await until(runs, repo, "done")
            assert len(server.asked) == before
            text = SHOP["shop/orders/routes.py"].replace(b"return {}", b"return {id: 1}")
            (tree / "shop/orders/routes.py").write_bytes(text)
            # What was said is of other code, so it is not said of this.
            await context(
                portal, "show_order", lambda found: found["justification"]["purpose"] == "unknown"
            )
            await begun(portal, runs)
            await until(runs, repo, "done")
            assert questions(server)[before:] == [["show_order"]]


@pytest.mark.parametrize(
    ("purpose", "again"),
    [
        ("Numbers the pages of a printed catalogue.", ["slugify", "create_order"]),
        ("slugify as a model sees it, in short.", ["slugify"]),
    ],
)
async def test_callers_are_asked_again_where_what_they_call_is_for_something_else(
    tmp_path: Path, purpose: str, again: list[str]
) -> None:
    tree = written(tmp_path / "shop")
    told = "slugify as a model sees it."

    def answer(entity: Mapping[str, Any]) -> dict[str, Any]:
        found = _careful(entity)
        return found | {"purpose": told} if entity["name"] == "slugify" else found

    with answering(OpenAICompatible(), answer) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            repo = await begun(portal, runs, everything=True)
            await until(runs, repo, "done")
            before, told = len(server.asked), purpose
            text = SHOP["shop/textutils.py"].replace(b'replace(" ", "-")', b'replace(" ", "_")')
            (tree / "shop/textutils.py").write_bytes(text)
            await context(portal, "slugify", lambda found: found.get("answeredBy") is None)
            await begun(portal, runs, everything=True)
            await until(runs, repo, "done")
            assert [name for group in questions(server)[before:] for name in group] == again


async def test_what_the_graph_contradicts_is_asked_once_more_and_left_to_facts(
    tmp_path: Path,
) -> None:
    effects = b"def save(text):\n    open('x', 'w').write(text)\n"
    tree = written(tmp_path / "shop", {**SHOP, "shop/files.py": effects})

    def lying(entity: Mapping[str, Any]) -> dict[str, Any]:
        if entity["name"] != "save":
            return honest(entity)
        told = {"type": "UTILITY", "purpose": "Pure.", "businessValue": "None.", "confidence": 1}
        return {"entity": entity["entity"], **told}

    with answering(OpenAICompatible(), lying) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            repo = await begun(portal, runs)
            await until(runs, repo, "done")
            assert questions(server).count(["save"]) == 2
            again = [each.texts() for each in server.asked if "contradicts" in each.texts()]
            assert any("a UTILITY has no side effects" in each for each in again)
            said = await context(portal, "save", lambda found: True)
            assert said["justification"]["purpose"] == "unknown"
            assert "side effects" in said["answeredBy"]["refused"]
            await begun(portal, runs)
            await until(runs, repo, "done")
            assert questions(server).count(["save"]) == 2


async def test_nobody_is_asked_unless_an_admin_says_so(tmp_path: Path) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible()) as server:
        async with asked_shop(tree, server) as (portal, runs):
            repo = await begun(portal, runs)
            text = SHOP["shop/database.py"].replace(b"Open the database.", b"Begin.")
            (tree / "shop/database.py").write_bytes(text)
            await context(
                portal, "connect", lambda found: found["justification"]["purpose"] == "Begin."
            )
            run = await runs.of(repo)
            assert run is not None
            assert run.state == "requested"
        assert server.asked == []


async def test_no_secret_reaches_a_model(tmp_path: Path) -> None:
    secret = made("ghp_{alnum:36}", Random(11))
    text = f'def fetch():\n    # with {secret}\n    return open("{secret}")\n'
    tree = written(tmp_path / "shop", {"fetching.py": text.encode(), **SHOP})
    with answering(OpenAICompatible()) as server:
        async with asked_shop(tree, server, model=True) as (portal, runs):
            await until(runs, await begun(portal, runs), "done")
        assert ["fetch"] in questions(server)
        assert all(secret not in each.texts() for each in server.asked)
