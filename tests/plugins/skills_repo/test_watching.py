"""What changes in a directory is served by itself."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest

from gateway.contract import Caller, Tier
from plugins.skills_repo import keeper
from tests.plugins.skills_repo.waiting import names, told, until


async def test_an_edit_in_a_directory_is_listed_by_itself(garden: Any) -> None:
    garden.skill("pdf")
    garden.write("docs/index.md", "# Before")
    sources = [garden.source("house"), garden.source("handbook", "docs")]
    async with garden.opened(*sources, wait_ready=False) as portal:
        before = await portal.call("get_doc", {"path": []})
        assert before.structured["content"] == "# Before"
        garden.skill("xlsx")
        (garden.root / "skills/pdf/SKILL.md").unlink()
        garden.write("docs/index.md", "# After")

        async def renewed() -> bool:
            page = await portal.call("get_doc", {"path": []})
            return await names(portal) == ["xlsx"] and page.structured["content"] == "# After"

        await until(renewed)
        assert set(await portal.prompts()) == {"xlsx"}


async def test_a_directory_that_stays_as_it_is_keeps_its_index(garden: Any) -> None:
    garden.skill("pdf")
    async with garden.opened(garden.source("house"), wait_ready=False) as portal:
        built = (await told(portal))["facts"]["sources"]["house"]["built"]
        objects = portal.running.services.for_plugin("skills_repo").objects
        stamp = await objects.get("index/stamp")
        garden.write("skills/README.txt", "No part of any skill.")
        await asyncio.sleep(1)
        assert await objects.get("index/stamp") == stamp
        assert built is not None


async def test_an_edit_is_listed_after_it_was_seen_by_a_reader(
    garden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_is_reported(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(keeper, "follow", nothing_is_reported)
    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.05)
    garden.skill("pdf", "Before.")
    async with garden.opened(garden.source("house"), cache="1ms", wait_ready=False) as portal:
        garden.skill("pdf", "After.", description="New words.")
        [skill] = portal.running.plugins.offers["skills_repo"].skills
        await skill.read("SKILL.md", _member())

        async def renewed() -> bool:
            listed = (await portal.call("list_skills")).structured["skills"]
            return bool(listed[0]["description"] == "New words.")

        await until(renewed)
        [skill] = portal.running.plugins.offers["skills_repo"].skills
        content = await skill.read("SKILL.md", _member())
        assert hashlib.sha256(content).hexdigest() == skill.files[0].digest


def _member() -> Caller:
    return Caller(person="token:test", tier=Tier.MEMBERS)
