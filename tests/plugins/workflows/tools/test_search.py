"""Finding workflows and skill cards through a whole portal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob") as portal:
        yield portal


async def add(portal: TestPortal, name: str, who: str = "alice", **more: Any) -> str:
    given = {"name": name, "stages": [stage("Read")], "visibility": "PUBLIC", **more}
    id: str = (await done(portal, who, "add_workflow", **given))["id"]
    return id


async def add_card(portal: TestPortal, name: str, who: str = "alice", **more: Any) -> str:
    given = {"name": name, "content": "Do it.", "visibility": "PUBLIC", **more}
    id: str = (await done(portal, who, "add_skill", **given))["id"]
    return id


async def found(portal: TestPortal, who: str = ANYONE, **arguments: Any) -> list[str]:
    answer = await done(portal, who, "get_available_workflows", **arguments)
    return [each["name"] for each in answer["workflows"]]


async def test_a_task_finds_workflows_under_either_name_of_the_argument(
    portal: TestPortal,
) -> None:
    await add(portal, "Code review")
    await add(portal, "Write an article")
    for argument in ("task", "task_description"):
        assert await found(portal, **{argument: "review my code"}) == ["Code review"]
    assert await found(portal, task=" ", task_description="review my code") == ["Code review"]


async def test_an_answer_says_what_was_found_how_well_and_by_what(portal: TestPortal) -> None:
    id = await add(portal, "Code review", description="For changes.", complexity="M", tags=["code"])
    answer = await done(portal, ANYONE, "get_available_workflows", task="Code review")
    assert answer["mode"] == "text"
    assert "no embedding model" in answer["note"]
    (item,) = answer["workflows"]
    assert (item["id"], item["key"], item["score"]) == (id, "code-review", 1.0)
    assert (item["type"], item["complexity"], item["tags"]) == ("WORKFLOW", "M", ["code"])
    assert (item["author"], item["mine"]) == ("alice", False)
    assert "content" not in item
    (own,) = (await done(portal, "alice", "get_available_workflows", task="code"))["workflows"]
    assert own["mine"] is True
    assert 0 < own["score"] < 1


async def test_without_a_task_workflows_are_listed_by_name(portal: TestPortal) -> None:
    for name in ("Beta", "Alpha", "Gamma"):
        await add(portal, name)
    answer = await done(portal, ANYONE, "get_available_workflows", limit=2)
    assert [each["name"] for each in answer["workflows"]] == ["Alpha", "Beta"]
    assert {each["score"] for each in answer["workflows"]} == {None}
    assert answer["mode"] is None
    assert "There are more" in answer["note"]
    assert await found(portal) == ["Alpha", "Beta", "Gamma"]


async def test_tags_complexity_and_limit_narrow_the_answer(portal: TestPortal) -> None:
    await add(portal, "Review code", tags=["code", "team"], complexity="M")
    await add(portal, "Review text", tags=["text"], complexity="S")
    assert await found(portal, task="review", tags=["code", "team"]) == ["Review code"]
    assert await found(portal, task="review", complexity="s") == ["Review text"]
    assert await found(portal, task="review", tags=["code"], complexity="S") == []
    assert len(await found(portal, task="review", limit=-5)) == 1
    assert len(await found(portal, task="review", limit=5_000)) == 2


async def test_private_items_are_found_by_their_owner_alone(portal: TestPortal) -> None:
    await add(portal, "Secret review", visibility="PRIVATE")
    await add_card(portal, "Secret card", visibility="PRIVATE")
    assert await found(portal, "alice", task="Secret review") == ["Secret review"]
    for who in ("bob", ANYONE):
        assert await found(portal, who, task="Secret review") == []
        assert await found(portal, who) == []
        for arguments in ({"task": "Secret card"}, {}):
            answer = await done(portal, who, "get_skills", **arguments)
            assert answer["skills"] == []


async def test_scopes_of_ones_own_need_a_sign_in(portal: TestPortal) -> None:
    mine = await add(portal, "Review code", "alice")
    await add(portal, "Review text", "bob")
    assert await found(portal, "alice", task="review", scope="mine") == ["Review code"]
    assert await found(portal, "bob", task="review", scope="library") == []
    await done(portal, "bob", "add_to_library", id=mine)
    assert await found(portal, "bob", task="review", scope="library") == ["Review code"]
    for tool in ("get_available_workflows", "get_skills"):
        for scope in ("mine", "library"):
            said = await refused(portal, ANYONE, tool, task="review", scope=scope)
            assert said == "Authentication required"


async def test_cards_are_found_under_every_name_of_the_argument(portal: TestPortal) -> None:
    await add(portal, "Sharpen tools")
    id = await add_card(portal, "Sharpen a chisel", content="Lay it on a stone.", tags=["wood"])
    for argument in ("task_description", "task", "search"):
        answer = await done(portal, ANYONE, "get_skills", **{argument: "chisel"})
        (item,) = answer["skills"]
        assert (item["id"], item["type"], item["complexity"]) == (id, "SKILL", None)
    answer = await done(portal, ANYONE, "get_skills", search="stone", tags=["wood"])
    assert [each["name"] for each in answer["skills"]] == ["Sharpen a chisel"]
    assert (await done(portal, ANYONE, "get_skills", tags=["iron"]))["skills"] == []


@pytest.mark.parametrize("task", ["\x00\x1b[2J", "<script>alert(1)</script>", "x " * 50_000])
async def test_no_text_makes_a_search_fail(portal: TestPortal, task: str) -> None:
    await add(portal, "Code review")
    for tool in ("get_available_workflows", "get_skills"):
        await done(portal, ANYONE, tool, task=task)


async def test_arguments_that_cannot_be_are_refused(portal: TestPortal) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "scope": {"scope": "everyone"},
        "complexity": {"complexity": "XXL"},
        "tags": {"tags": [""]},
        "limit": {"limit": "many"},
        "taks": {"taks": "x"},
    }
    for name, arguments in wrong.items():
        assert name in await refused(portal, ANYONE, "get_available_workflows", **arguments)


async def test_summaries_say_what_comes_next_and_whose_skills_these_are(
    portal: TestPortal,
) -> None:
    tools = await portal.tools()
    assert "`select_workflow`" in tools["get_available_workflows"]["description"]
    described = tools["get_skills"]["description"]
    assert "`get_selected_skill`" in described
    assert "skill card of the playbook" in described
    for name in ("get_available_workflows", "get_skills"):
        assert tools[name]["annotations"]["readOnlyHint"] is True


async def test_a_portal_with_its_model_compares_by_meaning() -> None:
    async with opened("alice", config={"services": {"embedding": "embedded"}}) as portal:
        await add(portal, "Quick fix", description="Repair a bug in production at once.")
        await add(portal, "Article", description="Write a text for a blog.")
        answer = await done(
            portal, ANYONE, "get_available_workflows", task="the site is down since this morning"
        )
        assert answer["mode"] == "semantic"
        assert answer["note"] is None
        assert answer["workflows"][0]["name"] == "Quick fix"
