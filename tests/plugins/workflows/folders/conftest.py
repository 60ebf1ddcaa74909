"""The folders of a playbook, over each database."""

from __future__ import annotations

import pytest

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from tests.plugins.workflows.conftest import Clock


@pytest.fixture
def edits(database: OwnedDatabase, clock: Clock) -> FolderEdits:
    return FolderEdits(database, clock)


@pytest.fixture
def lists(database: OwnedDatabase) -> FolderLists:
    return FolderLists(database)
