"""Members' agents are asked where no model is: level by level, and held against the graph."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.testing import TestPortal
from gateway.work.tools import RETURN_WORK, TAKE_WORK
from plugins.codegraph.justification.opinions.runs import Runs
from tests.plugins.codegraph.justification.opinions.asked import (
    asked_shop,
    begun,
    context,
    honest,
    until,
    written,
)
from tests.plugins.codegraph.justification.shops import SHOP

KIND = "codegraph/justify"


async def taken(portal: TestPortal) -> list[Mapping[str, Any]]:
    """Everything that an agent can take now."""
    found = await portal.call(TAKE_WORK, {"kinds": [KIND], "max_items": 20}, tier="members")
    assert not found.is_error, found.text
    return list(found.structured["items"])


async def brought(portal: TestPortal, item: Mapping[str, Any], answer: Any = honest) -> Any:
    """What an agent is told that brings an answer."""
    entities = [answer(each) for each in item["context"]["entities"]]
    told = {"id": item["id"], "answer": {"entities": entities}, "model": "claude-of-mine"}
    return await portal.call(RETURN_WORK, told, tier="members")


async def test_agents_say_what_facts_lack_level_by_level(tmp_path: Path) -> None:
    tree = written(tmp_path / "shop")
    async with asked_shop(tree, None, agents=True) as (portal, runs):
        repo = await begun(portal, runs)
        await until(runs, repo, "agents")
        names: list[list[str]] = []
        for _ in range(20):
            run = await runs.of(repo)
            if run is not None and run.state == "done":
                break
            for item in await taken(portal):
                names.append([each["name"] for each in item["context"]["entities"]])
                assert not (await brought(portal, item)).is_error
            await _settled(runs, repo)
        assert sorted(map(sorted, names)) == [
            ["check_password"],
            ["connect"],
            ["even", "odd"],
            ["main"],
            ["show_order"],
        ]
        assert names.index(["connect"]) < names.index(["main"])  # which calls it
        said = await context(
            portal, "show_order", lambda found: found["justification"]["purposeBy"] == "agent"
        )
        assert said["answeredBy"]["model"] == "claude-of-mine"
        assert said["answeredBy"]["provider"] == "agent"
        assert await taken(portal) == []


async def _settled(runs: Runs, repo: str) -> None:
    """Wait until the next level has its work, or there is none left."""
    before = await runs.of(repo)
    assert before is not None
    async with asyncio.timeout(60):
        while True:
            await asyncio.sleep(0.2)
            now = await runs.of(repo)
            assert now is not None
            if now.state == "done" or (now.state == "agents" and now.attempt != before.attempt):
                return


async def test_an_agent_is_told_what_the_code_contradicts_and_the_item_stays_theirs(
    tmp_path: Path,
) -> None:
    effects = b"def save(text):\n    open('x', 'w').write(text)\n"
    tree = written(tmp_path / "shop", {"files.py": effects, **_only("shop/database.py")})

    def lying(entity: Mapping[str, Any]) -> dict[str, Any]:
        told = {"type": "UTILITY", "purpose": "Pure.", "businessValue": "None.", "confidence": 1}
        return {"entity": entity["entity"], **told}

    async with asked_shop(tree, None, agents=True) as (portal, runs):
        repo = await begun(portal, runs)
        await until(runs, repo, "agents")
        (item,) = [
            each for each in await taken(portal) if each["context"]["entities"][0]["name"] == "save"
        ]
        told = await brought(portal, item, lying)
        assert told.is_error
        assert "a UTILITY has no side effects" in told.text
        assert not (await brought(portal, item)).is_error
        said = await context(
            portal, "save", lambda found: found["justification"]["purposeBy"] == "agent"
        )
        assert said["answeredBy"]["provider"] == "agent"
        await _is_theirs(portal)


async def _is_theirs(portal: TestPortal) -> None:
    """What an agent said is its person's to have, and stays without them."""
    personal = portal.running.plugins.offers["codegraph"].personal
    assert personal is not None
    (person,) = await personal.people()
    files = {each.path: each.data async for each in personal.export(person)}
    (told,) = json.loads(files["answers.json"])
    assert (told["name"], told["model"]) == ("save", "claude-of-mine")
    await personal.erase(person)
    assert set(await personal.people()) == set()
    said = await context(portal, "save", lambda found: True)
    assert said["justification"]["purposeBy"] == "agent"


def _only(*paths: str) -> dict[str, bytes]:
    return {path: SHOP[path] for path in paths}
