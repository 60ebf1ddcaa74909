"""The members' page on memory: what it says one may say, done with the tools that it names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin

PAGE = (Path(__file__).parents[2] / "docs" / "members" / "memory.md").read_text()
TABLE = PAGE.partition("## Ask")[2].partition("\nAsk with")[0]
ROWS = dict(re.findall(r'^\| "(.+?)" \| (`.+?`) \|', TABLE, re.M))
"""What one says, and the tools for it."""
TIERS = """
access: {members: {any_of: [{github_org: garden}]}}
items: {knowledge: open}
"""
SAID = "The gate code changes in May."


@pytest.fixture(scope="module")
async def portal() -> AsyncIterator[TestPortal]:
    config = {"services": {"embedding": "embedded"}, "plugins": {"knowledge": {"sources": []}}}
    async with open_test_portal(plugin, config=config, tiers=TIERS) as portal:
        yield portal


class Agent:
    """The agent of a person, who says what stands in the table, and what it has called."""

    def __init__(self, portal: TestPortal, name: str) -> None:
        self.portal, self.name = portal, name
        self.called: list[str] = []

    async def does(self, tool: str, **arguments: Any) -> Any:
        self.called.append(tool)
        result = await self.portal.call(tool, arguments, tier=self.name)
        assert not result.is_error, result.text
        return result.structured


async def test_each_sentence_of_the_table_does_what_it_says(portal: TestPortal) -> None:
    await portal.sign_in("ana")
    agent = Agent(portal, "ana")
    kept = await agent.does("remember", content=SAID)
    assert (kept["status"], kept["near"]) == ("created", [])
    (found,) = (await agent.does("query_memory", query="the gate"))["results"]
    assert (found["content"], found["id"]) == (SAID, kept["id"])
    turn = {"speaker": "Ana", "text": "We decided to buy a ladder."}
    talk = await agent.does("remember_conversation", name="Ladders", turns=[turn])
    assert [each["kind"] for each in talk["found"]] == ["decision"]
    entry = {"id": kept["id"]}
    changed = await agent.does("update_memory", **entry, content="The gate code changes in June.")
    assert changed["version"] == 2
    await agent.does("update_memory", **entry, content=SAID)
    later = await agent.does(
        "remember", content="The gate code changes in June, and that is all of it."
    )
    (near,) = later["near"]
    assert (near["id"], near["seems"]) == (kept["id"], "seems_to_replace")
    pair = {"id": later["id"], "target": kept["id"]}
    await agent.does("settle_memory", **pair, decision="supersedes")
    rita = await agent.does("remember", content="Rita leads the garden group.")
    await agent.does("update_memory", id=rita["id"], valid_until="2026-06-30")
    await agent.does("verify_memory", id=later["id"])
    assert (await agent.does("review_memory"))["pairs"] == []
    history = await agent.does("memory_history", **entry)
    assert len(history["data"]) == 3
    assert kept["id"] in {each["id"] for each in (await agent.does("list_memory"))["data"]}
    assert (await agent.does("get_memory", **entry))["content"] == SAID
    readers = {"policy": "shared", "allowed_teams": ["github_org:garden"]}
    await agent.does("update_memory", **entry, **readers)
    assert (await agent.does("find_people", name="Noa"))["people"] == []
    assert (await agent.does("forget", **entry))["forgotten"]
    assert set(agent.called) == set(re.findall(r"`(\w+)`", "".join(ROWS.values())))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SAID, "The gate code changes in June."),
        ("The garden is watered at six.", "The garden is watered at seven."),
        ("The market moves to Friday.", "The market moves to Saturday."),
        ("The door code is 4711.", "The door code is 5822."),
        ("The treasurer is Rita.", "The treasurer is Noa."),
    ],
)
async def test_plain_changes_are_named_as_they_are_kept(
    portal: TestPortal, before: str, after: str
) -> None:
    person = re.sub(r"\W", "", before).lower()
    await portal.sign_in(person)
    agent = Agent(portal, person)
    kept = await agent.does("remember", content=before)
    (near,) = (await agent.does("remember", content=after))["near"]
    assert (near["id"], near["seems"]) == (kept["id"], "seems_to_replace")
