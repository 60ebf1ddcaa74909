"""Small repositories with vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.plugins.codegraph.portal import WordsModel, World, world


@pytest.fixture
def model() -> WordsModel:
    """A model that remembers what it read."""
    return WordsModel()


@pytest.fixture
async def portal(tmp_path: Path, codegraph_file: Path, model: WordsModel) -> AsyncIterator[World]:
    """A portal with a model."""
    async with world(tmp_path, model, codegraph_file) as made:
        yield made
