"""A desk for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.codegraph.indexer.worker_pool import WorkerPool
from tests.plugins.codegraph.workspaces.desk import Desk, desk


@pytest.fixture
async def ada(tmp_path: Path, codegraph_file: Path, workers: WorkerPool) -> AsyncIterator[Desk]:
    """A person's checkout beside the portal."""
    async with desk(tmp_path, codegraph_file, workers) as made:
        yield made
