"""The knowledge base is brought up to date for who asks: as a task, or in one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auth import Caller, Tier
from gateway.contract import Tool
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.tasks import followed
from gateway.toolkit.job_waiting import settled
from plugins.knowledge import plugin
from plugins.knowledge.sync import sync_tool
from plugins.knowledge.sync.sync_loop import SyncLoop
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.plugins.knowledge.sync.test_pushes import finds, opened
from tests.plugins.knowledge.sync.test_pushes import github as github
from tests.plugins.knowledge.sync.test_pushes import history as history
from tests.plugins.skills_repo.waiting import until
from tests.servers.github_contents import GithubContents
from tests.servers.github_history import History


async def answered(portal: TestPortal, result: Mapping[str, Any], *, admin: bool) -> Any:
    """What the tool answers of a job's result."""
    tools = portal.running.plugins.offers["knowledge"].tools
    tool: Tool = next(each for each in tools if each.name == "sync_knowledge")
    assert tool.task is not None
    assert tool.task.answer is not None
    return await tool.task.answer(result, Caller("ada", Tier.MEMBERS, admin=admin))


async def test_a_page_that_no_push_told_of_is_found_after_it(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        history.commit({"tags/new.md": note("A blancmange.")})
        done = (await portal.call("sync_knowledge", {})).structured
        assert (done["state"], done["behind"], done["documents"]) == ("done", 0, 2)
        assert await finds(portal, "blancmange", "new")()
        told = await portal.call("sync_knowledge", {}, tier="public")
        assert told.is_error


async def test_a_client_that_follows_tasks_is_handed_one(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        history.commit({"tags/new.md": note("A blancmange.")})
        done = await followed(portal, "sync_knowledge", {})
        assert done["status"] == "completed"
        assert done["result"]["structuredContent"]["documents"] == 2
        assert await finds(portal, "blancmange", "new")()


async def test_what_stays_behind_is_counted_and_told_to_admins_alone(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        del github.repos[NAME]
        done = (await portal.call("sync_knowledge", {})).structured
        assert (done["state"], done["behind"], done.get("errors")) == ("done", 1, [])
        result = {"errors": ["kb is away"], "documents": 1}
        assert (await answered(portal, result, admin=True)).errors == ["kb is away"]
        assert (await answered(portal, result, admin=False)).errors == []
        assert await finds(portal, "marmalade", "old")()


async def test_who_does_not_want_to_wait_is_told_that_it_goes_on(
    github: GithubContents, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        may_end = asyncio.Event()

        async def sync_all(self: SyncLoop) -> list[str]:
            await may_end.wait()
            return []

        monkeypatch.setattr(SyncLoop, "sync_all", sync_all)
        monkeypatch.setattr(sync_tool, "settled", partial(settled, seconds=0.0))
        running = (await portal.call("sync_knowledge", {})).structured
        assert running["state"] == "running"
        assert "goes on" in running["note"]
        may_end.set()


async def test_without_a_source_on_github_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    config = {"plugins": {"knowledge": {"sources": [{"directory": str(tmp_path)}]}}}
    async with open_test_portal(plugin, config=config) as portal:
        assert "sync_knowledge" not in await portal.tools()
