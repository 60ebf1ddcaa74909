"""Workflows as prompts, through a whole portal."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import RequestRefused, TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, stage

NAME = re.compile(r"[A-Za-z0-9_-]{1,45}")


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob") as portal:
        yield portal


async def add(portal: TestPortal, who: str = "alice", **more: Any) -> dict[str, Any]:
    given = {"name": "Code review", "stages": [stage("Read", "Judge")], **more}
    return await done(portal, who, "add_workflow", **given)


async def names(portal: TestPortal, who: str) -> list[str]:
    return list(await portal.prompts(who))


async def test_the_starter_workflows_are_everyone_s_prompts() -> None:
    async with opened("alice", starter=True) as portal:
        anyone = await portal.prompts(ANYONE)
        assert "workflow-code-review" in anyone
        assert anyone == await portal.prompts("alice")
        assert all(NAME.fullmatch(name) and name.startswith("workflow-") for name in anyone)
        for name, prompt in anyone.items():
            assert prompt["title"]
            assert [each["name"] for each in prompt["arguments"]] == ["task"]
            assert "get_next_step" in (await portal.prompt(name))[0]["content"]["text"]


async def test_one_s_own_are_prompts_and_others_are_not(portal: TestPortal) -> None:
    await add(portal, visibility="PUBLIC")
    await add(portal, name="Draft")
    assert await names(portal, "alice") == ["workflow-code-review", "workflow-draft"]
    assert await names(portal, "bob") == await names(portal, ANYONE) == []
    with pytest.raises(RequestRefused, match="workflow-code-review"):
        await portal.prompt("workflow-code-review", tier="bob")


async def test_what_is_in_the_library_is_a_prompt_until_it_is_taken_back(
    portal: TestPortal,
) -> None:
    made = await add(portal, visibility="PUBLIC")
    await done(portal, "bob", "add_to_library", id=made["id"])
    (name,) = await names(portal, "bob")
    assert name == f"workflow-code-review_{made['id'][:8]}"
    assert "Code review" in (await portal.prompt(name, tier="bob"))[0]["content"]["text"]
    back = {"type": "WORKFLOW", "id": made["id"], "version": 1, "visibility": "PRIVATE"}
    await done(portal, "alice", "publish", **back)
    assert await names(portal, "bob") == []
    with pytest.raises(RequestRefused):
        await portal.prompt(name, tier="bob")


async def test_of_two_with_one_key_one_s_own_has_the_plain_name() -> None:
    async with opened("alice", starter=True) as portal:
        before = await names(portal, "alice")
        made = await add(portal)
        assert made["key"] == "code-review"
        after = await names(portal, "alice")
        (suffixed,) = set(after) - set(before)
        assert re.fullmatch(r"workflow-code-review_[a-z2-7]{8}", suffixed)
        assert len(after) == len(set(after)) == len(before) + 1
        own = (await portal.prompt("workflow-code-review", tier="alice"))[0]["content"]["text"]
        assert made["id"] in own
        portal_s = (await portal.prompt(suffixed, tier="alice"))[0]["content"]["text"]
        assert made["id"] not in portal_s
        assert await names(portal, ANYONE) == before


async def test_long_and_odd_names_give_names_that_every_client_takes(portal: TestPortal) -> None:
    for name in ("x" * 255, "y " * 60 + "1", "y " * 60 + "2", "Größe & Maß", "東京", "-", "..."):
        await add(portal, name=name)
    found = await names(portal, "alice")
    assert len(found) == len(set(found)) == 7
    assert [name for name in found if not NAME.fullmatch(name)] == []
    for name in found:
        assert await portal.prompt(name, tier="alice")


async def test_many_are_listed_page_by_page_each_once(portal: TestPortal) -> None:
    for number in range(120):
        await add(portal, name=f"Same name {number % 3}", stages=[])
    found = await portal.mcp("alice").list("prompts")
    assert len({each["name"] for each in found}) == len(found) == 120


async def test_the_prompt_tells_the_plan_in_words(portal: TestPortal) -> None:
    made = await add(portal, description="For pull requests.")
    (message,) = await portal.prompt("workflow-code-review", {"task": "Review #12"}, tier="alice")
    text = message["content"]["text"]
    assert message["role"] == "user"
    assert text.startswith('Follow the workflow "Code review", step by step.')
    for part in (
        "The task: Review #12",
        "For pull requests.",
        "- step 0 (Work): Read",
        "- step 1 (Work): Judge",
        f'workflow_id "{made["id"]}"',
        "start_run true",
        "finish_run",
    ):
        assert part in text
    assert "Do Read." not in text, "contents come with get_next_step"


async def test_someone_anonymous_is_told_to_walk_without_a_run() -> None:
    async with opened(starter=True) as portal:
        text = (await portal.prompt("workflow-code-review", tier=ANYONE))[0]["content"]["text"]
        assert "step_index 0" in text
        assert "start_run" not in text


async def test_a_workflow_without_steps_says_so(portal: TestPortal) -> None:
    await add(portal, name="Empty", stages=[])
    text = (await portal.prompt("workflow-empty", tier="alice"))[0]["content"]["text"]
    assert "It has no steps yet." in text


async def test_unknown_prompts_and_arguments_are_refused(portal: TestPortal) -> None:
    await add(portal)
    for name in ("workflow-nowhere", "workflow-", "workflow-_", "workflow-%", "workflow-_%"):
        with pytest.raises(RequestRefused):
            await portal.prompt(name, tier="alice")
    with pytest.raises(RequestRefused, match="no_such"):
        await portal.prompt("workflow-code-review", {"no_such": "x"}, tier="alice")
