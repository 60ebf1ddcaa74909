"""Fifty people write at once through a whole portal: nothing is lost, and nobody meets a lock.

``PORCH_TEST_CROWD_SECONDS`` makes it longer; ``pytest -s`` shows how long the answers took.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.plugins.workflows.playing import done, opened, stage

WRITERS, SHARED = 50, 5
SECONDS = float(os.environ.get("PORCH_TEST_CROWD_SECONDS", "3"))
OWNER = "owner"

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(120 + 4 * SECONDS)]


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where the database is."""
    at: str = "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")
    return at


@pytest.fixture
async def portal(address: str) -> AsyncIterator[TestPortal]:
    """A portal on each database, where everyone has signed in."""
    people = [OWNER, *(f"writer-{number}" for number in range(WRITERS))]
    async with opened(*people, config={"services": {"database": address}}) as portal:
        yield portal


class Crowd:
    """Writers, and what each of them was told.

    Attributes:
        accepted: the versions that edits made of each workflow, with what they wrote.
        added, deleted: the workflows that came and went beside.
        refused: how many edits came too late.
        took: seconds, by tool.
    """

    def __init__(self, portal: TestPortal, shared: list[str]) -> None:
        self._portal, self._shared = portal, shared
        self.accepted: dict[str, dict[int, str]] = defaultdict(dict)
        self.owners = dict.fromkeys(shared, OWNER)
        self.added: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.refused = 0
        self.took: dict[str, list[float]] = defaultdict(list)

    async def write(self, number: int, until: float) -> None:
        """Go on writing, and looking, for some time."""
        chance, me = random.Random(number), f"writer-{number}"
        mine = await self._add(me, f"Mine {number}")
        count = 0
        while time.monotonic() < until or count < 2 or not self.refused:
            count += 1
            text = f"words {number}.{count}"
            act = chance.random()
            if act < 0.4:
                await self._edit(OWNER, chance.choice(self._shared), text)
            elif act < 0.65:
                await self._edit(me, mine, text)
            elif act < 0.75:
                await self._add(me, text)
            elif act < 0.85:
                await self._come_and_go(me, text)
            else:
                await self._look(me, mine, text)

    async def call(self, who: str, tool: str, **arguments: Any) -> Any:
        """What a call gives; the reason, where it is refused."""
        begun = time.perf_counter()
        result = await self._portal.call(tool, arguments, tier=who)
        self.took[tool].append(time.perf_counter() - begun)
        return result.text if result.is_error else result.structured

    async def _add(self, me: str, text: str) -> str:
        made = await self.call(me, "add_workflow", name=text, stages=[stage("First", "Second")])
        assert made["done"] == "added"
        id: str = made["id"]
        self.added[id], self.owners[id] = text, me
        return id

    async def _edit(self, who: str, id: str, text: str) -> None:
        read = await self.call(who, "get_workflow", workflow_id=id)
        assert read["description"] == self.accepted[id].get(read["version"], read["description"])
        items = read["stages"][0]["items"]
        kept = [{"prompt_id": items[0]["id"], "name": "First", "content": text}]
        answer = await self.call(
            who,
            "edit_workflow",
            workflow_id=id,
            version=read["version"],
            description=text,
            stages=[{"name": "Work", "prompts": [*kept, {"name": text, "content": text}]}],
        )
        if isinstance(answer, str):
            assert answer.startswith("Workflow has changed since version"), answer
            self.refused += 1
            return
        assert answer["version"] == read["version"] + 1
        assert answer["version"] not in self.accepted[id], "two edits of one version"
        self.accepted[id][answer["version"]] = text

    async def _come_and_go(self, me: str, text: str) -> None:
        id = await self._add(me, text)
        gone = await self.call(me, "edit_workflow", workflow_id=id, version=1, is_active=False)
        assert gone["done"] == "deleted"
        self.deleted.add(id)

    async def _look(self, me: str, mine: str, text: str) -> None:
        found = await self.call(me, "get_available_workflows", task=self.added[mine], limit=5)
        assert mine in [each["id"] for each in found["workflows"]]
        chosen = await self.call(me, "select_workflow", workflow_id=mine, start_run=True)
        step = await self.call(me, "get_next_step", run_id=chosen["run"]["runId"])
        assert step["index"] == 0
        await self.call(me, "finish_run", run_id=chosen["run"]["runId"], note=text)


async def test_no_update_is_lost_and_no_lock_is_met(
    portal: TestPortal, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = [
        (await done(portal, OWNER, "add_workflow", name=f"Shared {n}", stages=[stage("First")]))
        for n in range(SHARED)
    ]
    crowd = Crowd(portal, [each["id"] for each in shared])
    until = time.monotonic() + SECONDS
    await asyncio.gather(*(crowd.write(number, until) for number in range(WRITERS)))
    with capsys.disabled():
        _tell(crowd)
    assert crowd.refused > 0, "nobody was in anybody's way"
    for id, versions in crowd.accepted.items():
        if not versions:
            continue
        assert sorted(versions) == list(range(2, len(versions) + 2))
        read = await done(portal, crowd.owners[id], "get_workflow", workflow_id=id)
        assert (read["version"], read["description"]) == max(versions.items())
        walk = {"workflow_id": id, "step_index": 0}
        step = await done(portal, crowd.owners[id], "get_next_step", **walk)
        assert step["content"] == read["description"]
    await _check_lists(portal, crowd)
    assert (await portal.health())["plugins"]["workflows"]["state"] == "ok"


async def _check_lists(portal: TestPortal, crowd: Crowd) -> None:
    """Everyone is shown what they have added and not deleted, in lists and in search."""
    for number in range(0, WRITERS, 7):
        me = f"writer-{number}"
        mine = {id for id, owner in crowd.owners.items() if owner == me} - crowd.deleted
        listed = {each["uri"] for each in await portal.mcp(me).list("resources")}
        assert listed == {f"playbook://workflows/{id}" for id in mine}
        for id in list(mine)[:5]:
            found = await done(portal, me, "get_available_workflows", task=crowd.added[id])
            assert id in [each["id"] for each in found["workflows"]]


def _tell(crowd: Crowd) -> None:
    if "PORCH_TEST_CROWD_SECONDS" not in os.environ:
        return
    edits = sum(map(len, crowd.accepted.values()))
    lines = [f"\n{edits} edits, {crowd.refused} too late, {len(crowd.added)} added"]
    for tool, took in sorted(crowd.took.items()):
        cuts = [1000 * each for each in statistics.quantiles(took, n=100)]
        lines.append(f"{tool:26}{len(took):6}  p50 {cuts[49]:.1f} ms  p99 {cuts[98]:.1f} ms")
    sys.stdout.write("\n".join([*lines, ""]))
