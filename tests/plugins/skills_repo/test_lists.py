"""Lists are short, in pages, and have every field for whoever asks for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from plugins.skills_repo.lists import MAX_LINE_CHARS, summary_line
from tests.plugins.skills_repo.waiting import entries


@given(st.text())
def test_a_line_is_one_line_and_the_beginning_of_the_description(description: str) -> None:
    said = summary_line(description)
    assert said is not None
    assert len(said) <= MAX_LINE_CHARS
    assert "\n" not in said
    words = " ".join(description.split())
    assert said == words or words.startswith(said.removesuffix("…"))


async def test_a_list_is_brief_and_its_pages_fit(garden: Any, test_data: Path) -> None:
    garden.root = test_data / "skills-repo-a"
    async with garden.opened(garden.source("house"), garden.source("crew", "agents")) as portal:
        tools = await portal.tools()
        for tool, key, count in (
            ("list_skills", "directory", 103),
            ("list_agents", "file", 68),
        ):
            first = await portal.call(tool)
            jsonschema_rs.validate(tools[tool]["outputSchema"], first.structured)
            assert len(json.dumps(first.structured)) < 12_500
            assert set(first.structured["data"][0]) == {"name", "description", "source", key}
            brief = await entries(portal, tool, details=False)
            whole = await entries(portal, tool)
            assert [each[key] for each in brief] == [each[key] for each in whole]
            assert len({each[key] for each in brief}) == count
            lines = [summary_line(each["description"]) for each in whole]
            assert [each["description"] for each in brief] == lines


async def test_where_there_are_few_each_is_shown_whole(garden: Any) -> None:
    garden.skill("pdf", description="Words " * 100)
    async with garden.opened(garden.source("house")) as portal:
        [shown] = (await portal.call("list_skills")).structured["data"]
        assert len(shown["description"]) == 599
        assert shown["files"] == []


async def test_a_prompt_is_described_in_a_line(garden: Any) -> None:
    garden.skill("pdf", description="Words " * 100)
    async with garden.opened(garden.source("house")) as portal:
        prompts = await portal.prompts()
        assert len(prompts["pdf"]["description"]) <= MAX_LINE_CHARS
