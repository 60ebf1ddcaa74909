"""A playbook and its search over each database, and a second replica on the same one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Embedder
from gateway.services.database.service import OwnedDatabase, open_database
from gateway.services.objects import ObjectService
from plugins.workflows.inputs import SkillDraft, WorkflowDraft, Writer
from plugins.workflows.model import Visibility
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import make_embed
from plugins.workflows.search.search import Found, Search
from plugins.workflows.store.queries import Filters
from tests.plugins.workflows.search.words_model import WordsModel

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANA = Writer("person:ana", "Ana", may_publish=True)
BEN = Writer("person:ben", "Ben", may_publish=True)
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


@dataclass(frozen=True)
class Replica:
    """One process's playbook, with an engine and an index of its own."""

    database: OwnedDatabase
    playbook: Playbook
    search: Search

    async def add(self, name: str, writer: Writer = ANA, **fields: Any) -> str:
        """Write a workflow, PUBLIC if nothing else is said, and give its id."""
        draft = WorkflowDraft(name=name, **{"visibility": PUBLIC, **fields})
        return (await self.playbook.add_workflow(writer, draft)).id

    async def add_card(self, name: str, writer: Writer = ANA, **fields: Any) -> str:
        """Write a skill card, likewise."""
        draft = SkillDraft(name=name, **{"visibility": PUBLIC, "content": "Do it.", **fields})
        return (await self.playbook.add_skill(writer, draft)).id

    async def found(
        self, query: str | None, viewer: str | None = None, limit: int = 10, **filters: Any
    ) -> Found:
        """The workflows that fit."""
        return await self.search.workflows(query, viewer, Filters(**filters), limit)

    async def names(self, query: str | None, viewer: str | None = None, **more: Any) -> list[str]:
        """Their names."""
        return names(await self.found(query, viewer, **more))


def names(found: Found) -> list[str]:
    """The names of what was found, in order."""
    return [hit.summary.name for hit in found.hits]


Opener = Callable[..., Replica]


@pytest.fixture
def model() -> WordsModel:
    """The model of :func:`replica`: it takes a dog for a hound."""
    return WordsModel(dog="hound")


@pytest.fixture
async def open_replica(address: str, tmp_path: Path) -> AsyncIterator[Opener]:
    """Open one more replica, with a model or without."""
    services = []

    def open_one(embedder: Embedder | None = None) -> Replica:
        services.append(open_database(address, tmp_path))
        database = services[-1].for_owner("workflows")
        objects = ObjectService(str(tmp_path / "objects"))
        playbook = Playbook(database, objects, make_embed(embedder), lambda: NOON)
        return Replica(database, playbook, Search(database, playbook, embedder))

    yield open_one
    for service in services:
        await service.close()


@pytest.fixture
def replica(open_replica: Opener, model: WordsModel) -> Replica:
    """One with a model."""
    return open_replica(model)


@pytest.fixture
def other(replica: Replica, open_replica: Opener, model: WordsModel) -> Replica:
    """A second one on the same database."""
    return open_replica(model)


@pytest.fixture
def wordless(replica: Replica, open_replica: Opener) -> Replica:
    """One on the same database, without a model."""
    return open_replica(None)
