"""A store over each database, and small graphs to write into it."""

from __future__ import annotations

import pytest

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.store.store import GraphStore


@pytest.fixture
def store(database: OwnedDatabase) -> GraphStore:
    """The store, empty."""
    return GraphStore(database)
