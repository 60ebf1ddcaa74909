"""The whole plugin: real repositories, prompts and served skills."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.config.tiers_file import check_keys
from gateway.contract import Offer
from gateway.testing import RequestRefused, TestPortal
from plugins.skills_repo import plugin
from plugins.skills_repo.config import SkillsRepoConfig
from tests.plugins.skills_repo.waiting import entries


def test_the_declaration_does_nothing_yet() -> None:
    declared = plugin.porch_plugin()
    assert (declared.name, declared.command) == ("skills_repo", "skills")
    assert [command.name for command in declared.commands] == ["index", "check", "install"]
    assert declared.config is SkillsRepoConfig


async def test_without_a_source_it_is_well_and_empty(garden: Any) -> None:
    async with garden.opened(tiers={"items": {"skills_repo/list_*": "open"}}) as portal:
        assert await portal.tools() == {}
        catalog, rules = portal.running.catalog, portal.running.tiers.current
        found = check_keys(rules, catalog.keys(), catalog.plugins())
        assert (found.problems, found.notices) == ((), ()), "what is written for it waits"
        told = (await portal.health())["plugins"]["skills_repo"]
        assert (told["state"], told["detail"]) == ("ok", "No source is configured.")


@pytest.mark.parametrize("backend", ["local", "github"])
async def test_real_repositories_are_listed_and_read_whole(
    test_data: Path, garden: Any, backend: str
) -> None:
    garden.root = test_data / "skills-repo-a"
    garden.github.repos["garden/tools"].directory = garden.root
    async with garden.opened(
        garden.source("house", "skills", backend), garden.source("crew", "agents", backend)
    ) as portal:
        skills = await entries(portal)
        agents = await entries(portal, "list_agents")
        assert (len(skills), len(agents)) == (103, 68)
        assert len(await portal.prompts()) == 103
        for skill in skills[::10]:
            for file in skill["files"]:
                arguments = {"skill": skill["name"], "file": file}
                found = (await portal.call("get_skill_file", arguments)).structured
                content = base64.b64decode(found["content"])
                assert content == (garden.root / "skills" / skill["directory"] / file).read_bytes()
        for agent in agents[::10]:
            by_name = (await portal.call("get_agent", {"name": agent["name"]})).structured
            by_file = (await portal.call("get_agent", {"name": agent["file"]})).structured
            assert by_name["sha"] == by_file["sha"]


async def test_every_page_of_a_real_tree_is_read_under_its_path(
    test_data: Path, garden: Any
) -> None:
    garden.root = test_data / "docs-tree-a"
    sources = [
        garden.source("civic", "docs", path="civic"),
        garden.source("star", "docs", path="starlight"),
    ]
    async with garden.opened(*sources) as portal:
        docs = (await portal.call("list_docs", {"details": True})).structured["docs"]
        paths = list(_paths(docs))
        assert len(paths) == 209
        read = {
            (await portal.call("get_doc", {"path": path})).structured["filePath"] for path in paths
        }
        assert len(read) == 209


def _paths(section: Mapping[str, Any], above: tuple[str, ...] = ()) -> Any:
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))
        else:
            yield [*above, key]


# Prompts.


async def test_a_skill_that_people_start_is_a_prompt_with_its_hint(garden: Any) -> None:
    garden.skill("pdf", "Read the file.", argument_hint="[file]")
    garden.skill("quiet", user_invocable="false")
    garden.skill("exact", "Work on $ARGUMENTS now.")
    async with garden.opened(garden.source("house")) as portal:
        prompts = await portal.prompts()
        assert list(prompts) == ["exact", "pdf"]
        [argument] = prompts["pdf"]["arguments"]
        assert (argument["name"], argument.get("required", False)) == ("arguments", False)
        assert "[file]" in argument["description"]
        assert await _said(portal, "pdf") == "Read the file."
        assert await _said(portal, "pdf", arguments="a.pdf") == "Read the file.\n\nArguments: a.pdf"
        assert await _said(portal, "exact", arguments="x") == "Work on x now."


async def _said(portal: TestPortal, name: str, **arguments: str) -> str:
    [message] = await portal.prompt(name, arguments)
    return str(message["content"]["text"])


async def test_prompts_of_one_name_carry_their_source_in_front(garden: Any) -> None:
    garden.skill("pdf")
    garden.skill("pdf", below="more")
    garden.skill("Ünïcode näme", name="'日本'")
    garden.skill("x" * 60)
    async with garden.opened(garden.source("house"), garden.source("b", path="more")) as portal:
        assert set(await portal.prompts()) == {"house-pdf", "b-pdf", "n-code-n-me", "x" * 45}
        assert [str(each) for each in portal.running.catalog.set_aside] == []


async def test_prompts_and_skills_need_their_sources_tier(garden: Any) -> None:
    garden.skill("pdf")
    rules = {"items": {"skills_repo": "open"}}
    async with garden.opened(garden.source("house", tier="members"), tiers=rules) as portal:
        for tier in ("open", "public"):
            assert await portal.prompts(tier) == {}
            with pytest.raises(RequestRefused, match="Requires members"):
                await portal.prompt("pdf", tier=tier)
        assert set(await portal.prompts("members")) == {"pdf"}


# Skills, as the extension serves them.


@asynccontextmanager
async def _offer(garden: Any, *sources: Any) -> AsyncGenerator[tuple[TestPortal, Offer]]:
    async with garden.opened(*sources) as portal:
        yield portal, portal.running.plugins.offers["skills_repo"]


async def test_skills_carry_their_frontmatter_and_a_true_manifest(garden: Any) -> None:
    garden.skill("group/pdf", metadata="{version: 1.0, on: 2026-01-02}", license="MIT")
    garden.write("skills/group/pdf/scripts/run.py", "print()")
    async with _offer(garden, garden.source("house")) as (_, offer):
        [skill] = offer.skills
        assert skill.path == "house/group/pdf"
        assert skill.frontmatter == {
            "name": "pdf",
            "description": "About pdf.",
            "metadata": {"version": 1.0, "on": "2026-01-02"},
            "license": "MIT",
        }
        assert [file.path for file in skill.files] == ["SKILL.md", "scripts/run.py"]
        for file in skill.files:
            content = (garden.root / "skills/group/pdf" / file.path).read_bytes()
            assert (file.size, file.digest) == (len(content), hashlib.sha256(content).hexdigest())
        assert skill.files[0].mime_type == "text/markdown"


async def test_a_nested_skill_is_one_of_its_own_and_a_part_of_the_outer(garden: Any) -> None:
    garden.skill("outer")
    garden.skill("outer/inner")
    async with _offer(garden, garden.source("house")) as (_, offer):
        outer, inner = offer.skills
        assert (outer.path, inner.path) == ("house/outer", "house/outer/inner")
        assert [file.path for file in outer.files] == ["SKILL.md", "inner/SKILL.md"]


async def test_what_breaks_the_rules_is_listed_and_left_out_and_named(garden: Any) -> None:
    garden.skill("good")
    garden.skill("Loud", name="Loud_Name")
    garden.skill("mute", description=None)
    garden.skill("wordy", description="x" * 1025)
    garden.skill("broken", description="a: b")
    garden.skill("other", name="good")
    garden.write("skills/binary/SKILL.md", b"\x00\xff")
    garden.write("skills/bare/SKILL.md", "Text.")
    async with _offer(garden, garden.source("house")) as (portal, offer):
        assert [skill.path for skill in offer.skills] == ["house/broken", "house/good"]
        assert len(await entries(portal)) == 8
        told = (await portal.health())["plugins"]["skills_repo"]
        assert told["state"] == "ok"
        assert told["detail"].startswith("6 skills broke the rules")
        named = "\n".join(told["facts"]["leftOutOfSkills"])
        for folder in ("Loud", "mute", "wordy", "other", "binary", "bare"):
            assert f"house/{folder}/SKILL.md: " in named
        assert "house/broken/SKILL.md: line 3" in "\n".join(told["facts"]["readLineByLine"])


async def test_a_skill_is_served_under_the_name_in_its_frontmatter(garden: Any) -> None:
    garden.skill("folder", name="proper")
    async with _offer(garden, garden.source("house")) as (portal, offer):
        assert [skill.path for skill in offer.skills] == ["house/proper"]
        for name in ("folder", "proper"):
            assert not (await portal.call("get_skill", {"name": name})).is_error
