"""Killed in the middle, again and again: the next whole pass leaves memory in order."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.store.vectors import collection_name
from tests.examples import IS_THOROUGH
from tests.migrated import Migrated
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, Clock, World, opened
from tests.plugins.knowledge.memory.upkeep.conftest import named, points, rows, upkeep
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.heavy, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[5]
LATER = 91
MOMENTS = [3, 8, 15, 24, 36, 60] if IS_THOROUGH else [3, 15, 36]


@pytest.fixture
def data(knowledge_migrated: Migrated, tmp_path: Path) -> Path:
    """A directory with a migrated database."""
    shutil.copy(knowledge_migrated.file, tmp_path)
    return tmp_path


def killed(data: Path, moment: int) -> bool:
    """Run a pass that dies at a moment; false where it was done by then."""
    script = Path(__file__).with_name("crash.py")
    words = [sys.executable, str(script), str(data), str(moment), str(LATER)]
    ended = subprocess.run(
        words,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr.decode()
    return ended.returncode != 0


async def test_a_pass_that_is_killed_anywhere_is_made_good_by_the_next(
    data: Path, record_property: Callable[[str, object], None]
) -> None:
    async with opened("sqlite", data, Clock(), WordEmbedder()) as world:
        wanted = await _filled(world)
    kills = sum(killed(data, moment) for moment in MOMENTS)
    assert kills > len(MOMENTS) // 2
    record_property("kills", kills)
    clock = Clock()
    clock.time += timedelta(days=LATER)
    async with opened("sqlite", data, clock, WordEmbedder()) as world:
        await upkeep(world)
        assert await upkeep(world) == {}
        await _in_order(world, wanted)


async def _filled(world: World) -> dict[str, list[str]]:
    """Entries for every part of a pass: their ids, by what is to become of them."""
    sure: dict[str, Any] = {"importance": 1.0, "confidence": 1.0}
    little: dict[str, Any] = {"importance": 0.1, "confidence": 0.1}
    made: dict[str, list[str]] = {"semantic": [], "archival": [], "one": [], "gone": []}
    for number in range(4):
        rising = await world.remember(ANA, f"Well {number}.", layer="episodic", **sure)
        fading = await world.remember(BEN, f"Kettle {number}.", **little)
        over = await world.remember(ANA, f"Session {number}.", layer="session")
        forgotten = await world.remember(ANA, f"Quincunx {number}.")
        removal = DeleteRequest.model_validate({"id": forgotten.id})
        await world.memory.entries.delete(removal, ANA)
        same = await world.remember(CY, f"Beds {number}.", tags=[f"tag{number}"])
        await world.change(CY, same.id, "Beds are full.")
        made["semantic"].append(rising.id)
        made["archival"].append(fading.id)
        made["gone"] += [over.id, forgotten.id]
        made["one"].append(same.id)
    return made


async def _in_order(world: World, wanted: dict[str, list[str]]) -> None:
    standing = {row.id: row for row in await rows(world, "entries") if row.deleted is None}
    for layer in ("semantic", "archival"):
        moved = [standing[id] for id in wanted[layer]]
        assert {(row.layer, row.version) for row in moved} == {(layer, 2)}
    (winner,) = [id for id in wanted["one"] if id in standing]
    assert set(standing[winner].metadata["tags"]) == {"tag0", "tag1", "tag2", "tag3"}
    for id in wanted["gone"]:
        assert await named(world, id) == {"memory_audit"}
    has = [
        (collection_name(row.layer), row.id, row.version)
        for row in standing.values()
        if row.embedded
    ]
    assert await points(world) == sorted(has)
