"""The portal's own model on real workflows: what each judged task should find comes first."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.services.embedding.service import ThreadedEmbedder, open_embedder
from plugins.workflows.files.importer import import_paths
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL
from plugins.workflows.offer import MIGRATIONS
from plugins.workflows.search.search import Search
from tests.examples import times
from tests.plugins.workflows.search.conftest import Opener, Replica
from tests.plugins.workflows.search.lessons import lessons, shelve

pytestmark = pytest.mark.parametrize("address", ["sqlite"], indirect=True)

MANY = times(thorough=10_000, ordinary=1_500)


@pytest.fixture
async def embedder() -> AsyncIterator[ThreadedEmbedder]:
    """The model that a portal has where nothing is configured."""
    made = open_embedder("embedded")
    assert made is not None
    yield made
    await made.close()


@pytest.fixture
async def real(open_replica: Opener, embedder: ThreadedEmbedder, test_data: Path) -> Replica:
    """A playbook with the real workflows in it."""
    replica = open_replica(embedder)
    await replica.database.migrate(MIGRATIONS)
    writer = Writer(PORTAL, "The portal", may_publish=True)
    await import_paths(replica.playbook, writer, [test_data / "workflows-playbook"])
    return replica


def judged(test_data: Path) -> dict[str, str]:
    """For each task, the key of the workflow that should come first."""
    file = test_data / "workflows-playbook" / "queries.json"
    queries = json.loads(file.read_text(encoding="utf-8"))["queries"]
    return {each["query"]: each["relevant"][0]["id"] for each in queries}


async def firsts(replica: Replica, test_data: Path) -> dict[str, str]:
    """For each task, the key of the workflow that comes first."""
    found = {}
    for query in judged(test_data):
        answer = await replica.found(query, limit=1)
        assert (answer.mode, answer.note) == ("semantic", None)
        found[query] = answer.hits[0].summary.key
    return found


async def test_each_task_finds_its_workflow_first(real: Replica, test_data: Path) -> None:
    await real.search.backfill()
    assert len(judged(test_data)) >= 4
    assert await firsts(real, test_data) == judged(test_data)


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_each_task_finds_its_workflow_first_among_very_many_others(
    real: Replica, test_data: Path
) -> None:
    every = list(lessons(MANY))
    await shelve(real.database, every)
    assert await real.search.backfill() >= MANY
    assert await firsts(real, test_data) == judged(test_data)
    for lesson in every[:: MANY // 20]:
        assert (await real.names(lesson.name, limit=1)) == [lesson.name]
    by_words = Search(real.database, real.playbook, None)
    fresh = Replica(real.database, real.playbook, by_words)
    assert (await fresh.names("Quick Fix Workflow", limit=1)) == ["Quick Fix Workflow"]
    assert len(await fresh.names("tune the harp", limit=50)) == 50
