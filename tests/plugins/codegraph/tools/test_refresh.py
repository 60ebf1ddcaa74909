"""A repository is indexed again for who asks: as a task, or in one answer, and once for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.mcp_client import McpClient
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.tasks import FOLLOWS_TASKS, followed
from gateway.toolkit.job_waiting import settled
from plugins.codegraph import plugin
from plugins.codegraph.tools import refresh
from tests.plugins.codegraph.test_waiting import Held
from tests.plugins.codegraph.test_waiting import held as held

TIERS = """
items:
  codegraph: open
  codegraph/refresh_index: {tier: members, approve: {by: caller}}
"""


def tree_in(place: Path) -> Path:
    tree = place / "town"
    tree.mkdir()
    (tree / "a.py").write_text("def well():\n    pass\n")
    return tree


def config_of(tree: Path) -> dict[str, Any]:
    return {"plugins": {"codegraph": {"repositories": [{"path": str(tree)}]}}}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tree_in(tmp_path)


@pytest.fixture
async def portal(tree: Path) -> AsyncIterator[TestPortal]:
    """A portal that has indexed a directory, and does not watch it."""
    async with open_test_portal(plugin, config=config_of(tree)) as opened:
        yield opened


@pytest.fixture
async def first_index(tree: Path, held: Held) -> AsyncIterator[TestPortal]:
    """A portal whose first index of a repository is held."""
    async with open_test_portal(plugin, config=config_of(tree), wait_ready=False) as opened:
        async with asyncio.timeout(60):
            await held.begun.wait()
        yield opened
        held.go_on.set()


async def finds(portal: TestPortal, name: str) -> bool:
    return not (await portal.call("get_function", {"name": name})).is_error


async def test_what_was_added_is_found_once_the_index_is_made_again(
    portal: TestPortal, tree: Path
) -> None:
    (tree / "b.py").write_text("def bridge():\n    pass\n")
    assert not await finds(portal, "bridge")
    made = (await portal.call("refresh_index", {"repo": "town"})).structured
    assert (made["repo"], made["state"], made["note"]) == ("town", "ready", None)
    assert await finds(portal, "bridge")


async def test_a_client_that_follows_tasks_is_handed_one_with_the_same_answer(
    portal: TestPortal, tree: Path
) -> None:
    (tree / "c.py").write_text("def tower():\n    pass\n")
    done = await followed(portal, "refresh_index", {})
    assert done["status"] == "completed"
    assert done["result"]["structuredContent"]["state"] == "ready"
    assert await finds(portal, "tower")


async def test_it_takes_a_member_and_a_repository_that_they_see(portal: TestPortal) -> None:
    told = await portal.call("refresh_index", {}, tier="public")
    assert told.is_error
    assert "members" in told.text
    unknown = await portal.call("refresh_index", {"repo": "city"})
    assert "no repository 'city' that you may see" in unknown.text


async def test_who_asks_during_the_first_index_waits_for_the_same_one(
    first_index: TestPortal, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "settled", partial(settled, seconds=0.0))
    goes_on = (await first_index.call("refresh_index", {})).structured
    assert goes_on["state"] == "indexing"
    assert "call refresh_index again" in goes_on["note"]
    client = McpClient(first_index.http("members"), capabilities=FOLLOWS_TASKS)
    task = await client.call("refresh_index", {})
    assert (task["resultType"], task["status"]) == ("task", "working")
    jobs = first_index.running.services.jobs.for_owner("codegraph")
    assert len(await jobs.list("index")) == 1
    held.go_on.set()
    done = await followed(first_index, "refresh_index", {})
    assert done["result"]["structuredContent"]["state"] == "ready"


async def test_behind_an_approval_no_job_is_queued_before_the_yes(tree: Path) -> None:
    async with open_test_portal(plugin, config=config_of(tree), tiers=TIERS) as portal:
        told = await portal.call("refresh_index", {})
        assert "has not run" in told.text
        jobs = portal.running.services.jobs.for_owner("codegraph")
        assert await jobs.list("index") == []
