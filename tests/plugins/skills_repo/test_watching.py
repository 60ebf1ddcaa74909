"""What changes in a directory is served by itself."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest

from gateway.contract import Caller, Change, Tier
from gateway.repositories import stamps
from plugins.skills_repo import index_loop
from plugins.skills_repo.index.build import build
from tests.plugins.skills_repo.waiting import entries, names, told, until


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

    monkeypatch.setattr(index_loop, "follow_each", nothing_is_reported)
    monkeypatch.setattr(index_loop, "POLL_INTERVAL_S", 0.05)
    garden.skill("pdf", "Before.")
    async with garden.opened(garden.source("house"), cache="1ms", wait_ready=False) as portal:
        garden.skill("pdf", "After.", description="New words.")
        [skill] = portal.running.plugins.offers["skills_repo"].skills
        await skill.read("SKILL.md", _member())

        async def renewed() -> bool:
            listed = await entries(portal)
            return bool(listed[0]["description"] == "New words.")

        await until(renewed)
        [skill] = portal.running.plugins.offers["skills_repo"].skills
        content = await skill.read("SKILL.md", _member())
        assert hashlib.sha256(content).hexdigest() == skill.files[0].digest


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Builds:
    """Which sources are built, and when the large one may go on."""
    found = Builds()
    monkeypatch.setattr(index_loop, "build", found.build)
    return found


class Builds:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.large = asyncio.Event()
        self.rounds = 0

    async def build(self, source: Any, *more: Any) -> Any:
        self.names.append(source.name)
        if source.name == "large":
            more[-1](4321)
            await self.large.wait()
        return await build(source, *more)


async def test_a_change_builds_the_source_concerned_and_no_other(
    garden: Any, builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "SETTLED_SECONDS", 0.0)
    garden.skill("pdf")
    garden.write("docs/index.md", "# Before")
    garden.write("agents/a.md", "An agent.")
    (house, crew) = (garden.root / "skills", garden.root / "agents")
    async with garden.opened(
        {"name": "house", "kind": "skills", "directory": str(house)},
        {"name": "crew", "kind": "agents", "directory": str(crew)},
        garden.source("handbook", "docs"),
        wait_ready=False,
    ) as portal:
        assert sorted(builds.names) == ["crew", "handbook", "house"]
        builds.names.clear()
        garden.skill("xlsx")

        async def renewed() -> bool:
            return await names(portal) == ["pdf", "xlsx"]

        await until(renewed)
        # The handbook lies in a directory that holds the others too, and not in what changed.
        assert set(builds.names) == {"house"}


async def test_a_directory_is_looked_through_now_and_then_and_not_read_again(
    garden: Any, builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "SETTLED_SECONDS", 0.0)
    monkeypatch.setattr(index_loop, "RESCAN_INTERVAL_S", 1)
    looked, up_to_date = asyncio.Semaphore(0), index_loop.IndexLoop._up_to_date

    async def seen(self: Any, directories: Any) -> bool:
        done = await up_to_date(self, directories)
        looked.release()
        return done

    monkeypatch.setattr(index_loop.IndexLoop, "_up_to_date", seen)
    garden.skill("pdf")
    async with garden.opened(garden.source("house"), wait_ready=False), asyncio.timeout(60):
        for _ in range(3):
            await looked.acquire()
        assert builds.names == ["house"]


async def test_a_large_directory_holds_up_neither_the_opening_nor_the_others(
    garden: Any, builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_loop, "FIRST_BUILD_TIMEOUT_S", 0.1)
    garden.skill("pdf")
    garden.skill("huge", below="more")
    large = garden.source("large", path="more")
    async with garden.opened(large, garden.source("house"), wait_ready=False) as portal:

        async def listed() -> bool:
            return await names(portal) == ["pdf"]

        await until(listed)
        how = await told(portal)
        assert how["state"] == "starting"
        assert how["detail"] == "Reading large (4,321 files so far) for the first time."
        builds.large.set()

        async def all_listed() -> bool:
            return await names(portal) == ["huge", "pdf"]

        await until(all_listed)
        assert (await told(portal))["state"] == "ok"


async def test_an_edit_of_a_body_is_told_to_those_who_follow_it_and_changes_no_list(
    garden: Any,
) -> None:
    garden.skill("pdf", "Before.")
    garden.skill("xlsx")
    async with garden.opened(garden.source("house"), wait_ready=False) as portal:
        told: asyncio.Queue[Change] = asyncio.Queue()
        portal.running.changes.listen(told.put_nowait)
        garden.skill("pdf", "After.")
        async with asyncio.timeout(60):
            uri = "skill://house/pdf/SKILL.md"
            assert await told.get() == Change("skills_repo", "resource", uri)
            garden.skill("new")
            lists = {(await told.get()).kind, (await told.get()).kind}
        assert lists == {"prompts", "resources"}
        assert told.empty()


def _member() -> Caller:
    return Caller(person="token:test", tier=Tier.MEMBERS)
