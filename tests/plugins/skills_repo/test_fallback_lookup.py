"""What is not there: answered by the index, with what comes nearest, and asked if need be."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.testing import TestPortal
from plugins.skills_repo import remote_heads
from tests.plugins.skills_repo.test_tools import error_of
from tests.servers.github_contents import Repo

OPERATOR = "ghp_theoperatorstokenfortheindexonly"


@pytest.fixture
def houses(garden: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two public repositories and a private one, which callers read with tokens of their own."""
    monkeypatch.setenv("OPERATORS_TOKEN", OPERATOR)
    garden.skill("water-plants")
    garden.write("skills/water-plants/references/forms.md", "# Forms")
    garden.skill("mend-roof", below="more")
    garden.skill("pay-rent", below="private")
    garden.github.repos["garden/more"] = Repo(garden.root)
    garden.github.repos["garden/private"] = Repo(garden.root, tokens={OPERATOR})
    garden.github.tokens.add(OPERATOR)
    return garden


def opened(houses: Any, *more: Any, **other: Any) -> Any:
    remote = {"kind": "skills"}
    return houses.opened(
        remote | {"name": "house", "github": "garden/tools", "path": "skills"},
        remote | {"name": "more", "github": "garden/more", "path": "more"},
        remote
        | {"name": "own", "github": "garden/private", "path": "private", "credential": "caller"},
        *more,
        github={"token": "env:OPERATORS_TOKEN"},
        **other,
    )


async def missed(portal: TestPortal, name: str, tool: str = "get_skill", **more: Any) -> Any:
    return error_of(await portal.call(tool, {"name": name, **more}))


async def test_a_miss_is_answered_by_the_index_and_names_what_is_near(houses: Any) -> None:
    async with opened(houses) as portal:
        houses.github.requests.clear()
        for number in range(20):
            error = await missed(portal, f"nothing-{number}")
            assert error["code"] == "NOT_FOUND"
            assert "repo" not in error["details"]
        assert len(houses.github.requests) == 3
        error = await missed(portal, "Water-Plant")
        assert error["details"]["near"] == ["water-plants"]
        assert 'Did you mean "water-plants"?' in error["message"]
        assert len(houses.github.requests) == 3


async def test_a_skills_file_that_is_not_there_is_answered_with_those_that_are(houses: Any) -> None:
    async with opened(houses) as portal:
        houses.github.requests.clear()
        asked = {"skill": "water-plants", "file": "references/form.md"}
        error = error_of(await portal.call("get_skill_file", asked))
        assert error["details"]["near"] == ["references/forms.md"]
        assert len(houses.github.requests) == 1


async def test_what_is_newer_than_an_index_is_found_once_the_branch_has_moved(
    houses: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(houses) as portal:
        await missed(portal, "fresh")
        houses.skill("fresh", below="more")
        assert (await missed(portal, "fresh"))["code"] == "NOT_FOUND"
        anew = await portal.call("get_skill", {"name": "fresh", "skipCache": True})
        assert anew.structured["path"] == "more/fresh/SKILL.md"
    monkeypatch.setattr(remote_heads, "HEAD_TTL_S", 0.0)
    async with opened(houses) as portal:
        await missed(portal, "newer")
        houses.skill("newer", below="more")
        assert not (await portal.call("get_skill", {"name": "newer"})).is_error


async def test_a_source_of_the_callers_own_does_not_turn_a_miss_into_a_missing_token(
    houses: Any,
) -> None:
    async with opened(houses) as portal:
        houses.skill("fresh", below="private")  # its index is behind, and there is no token
        error = await missed(portal, "fresh")
        assert error["code"] == "NOT_FOUND"
        assert (
            'newer than the index of "own" is read with your own GitHub token' in error["message"]
        )
        assert (await missed(portal, "pay-rent"))["code"] == "UNAUTHORIZED"


async def test_a_github_that_does_not_answer_is_said_beside_what_the_index_knows(
    houses: Any,
) -> None:
    local = {"name": "near", "kind": "skills", "directory": str(houses.root), "path": "more"}
    async with opened(houses, local) as portal:
        houses.github.failing = 502
        houses.github.requests.clear()
        for _ in range(5):
            error = await missed(portal, "mend-rof")
            assert error["code"] == "NOT_FOUND"
            assert "The source house could not be asked:" in error["message"]
            assert error["details"]["near"] == ["mend-roof"]
        assert len(houses.github.requests) == 3
        assert (await missed(portal, "mend-rof", source="more"))["code"] == "UPSTREAM_ERROR"


async def test_nothing_of_a_higher_tier_is_told_as_near(garden: Any) -> None:
    garden.skill("plain-words")
    garden.skill("secret-garden", below="hidden")
    garden.write("agents/secret-agent.md", "x")
    garden.write("docs/secret-page.md", "x")
    rules = {"default": "open", "items": {"skills_repo": "open"}}
    async with garden.opened(
        garden.source("house", tier="open"),
        garden.source("inner", path="hidden", tier="members"),
        garden.source("crew", "agents", tier="members"),
        garden.source("handbook", "docs", tier="members"),
        tiers=rules,
    ) as portal:
        for tier, told in (("open", False), ("public", False), ("members", True)):
            for tool, arguments in (
                ("get_skill", {"name": "secret-gardens"}),
                ("get_agent", {"name": "secret-agents"}),
                ("get_doc", {"path": ["secret-pages"]}),
            ):
                error = error_of(await portal.call(tool, arguments, tier=tier))
                assert error["code"] == "NOT_FOUND"
                assert ("near" in error["details"]) is told
                assert ("did you mean" in error["message"].lower()) is told
