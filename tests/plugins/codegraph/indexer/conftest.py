"""Indexers over each database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.indexer.worker_pool import WorkerPool
from tests.plugins.codegraph.indexer.bench import Bench, bench


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty directory to index."""
    root = tmp_path / "tree"
    root.mkdir()
    return root


@pytest.fixture
async def indexed(
    database: OwnedDatabase, tmp_path: Path, tree: Path, workers: WorkerPool
) -> AsyncIterator[Bench]:
    """An indexer of the directory ``tree``."""
    async with bench(database, tmp_path / "indexing", tree, workers) as found:
        yield found
        await found.indexer.close()
