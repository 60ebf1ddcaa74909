"""A playbook over each database, people who write in it, and drafts to write."""

from __future__ import annotations

import shutil
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Objects
from gateway.services.database.service import OwnedDatabase, open_database
from gateway.services.objects import open_objects
from plugins.workflows.inputs import (
    PromptDraft,
    SkillDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import PORTAL
from plugins.workflows.playbook import Playbook
from tests.migrated import Migrated

MIGRATIONS = Path(__file__).parents[3] / "plugins" / "workflows" / "migrations"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = "digest-8"
_SORTED = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"
"""A database that sorts as English dictionaries do, unless a column says otherwise."""


class Clock:
    """A time that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


async def embed(text: str) -> tuple[str | None, bytes | None]:
    """A vector of length one that follows from the text, and means nothing."""
    numbers = [byte - 127.5 for byte in sha256(text.encode()).digest()[:8]]
    length = sum(each * each for each in numbers) ** 0.5
    return MODEL, struct.pack("<8f", *(each / length for each in numbers))


async def embed_nothing(text: str) -> tuple[str | None, bytes | None]:
    """What a portal without a model gives."""
    return None, None


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    """The plugin's tables, migrated once."""
    folder = tmp_path_factory.mktemp("migrated")
    with Migrated("workflows", MIGRATIONS, folder, _SORTED) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, migrated: Migrated, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(migrated.file, tmp_path)
        return "sqlite"
    return migrated.on(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def open_another(address: str, tmp_path: Path) -> AsyncIterator[Callable[[], OwnedDatabase]]:
    """Open the database once more, as another process would."""
    services = []

    def open_one() -> OwnedDatabase:
        services.append(open_database(address, tmp_path))
        return services[-1].for_owner("workflows")

    yield open_one
    for service in services:
        await service.close()


@pytest.fixture
def database(open_another: Callable[[], OwnedDatabase]) -> OwnedDatabase:
    """SQLite, and PostgreSQL: migrated and empty."""
    return open_another()


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    """A store of objects in a folder."""
    return open_objects("embedded", tmp_path).scoped("workflows")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def playbook(database: OwnedDatabase, objects: Objects, clock: Clock) -> Playbook:
    """An empty playbook of a portal that has a model."""
    return Playbook(database, objects, embed, clock)


@pytest.fixture
def plain_playbook(database: OwnedDatabase, objects: Objects, clock: Clock) -> Playbook:
    """The same playbook, of a portal that has no model."""
    return Playbook(database, objects, embed_nothing, clock)


@pytest.fixture
def alice() -> Writer:
    return Writer("person:alice", "Alice", may_publish=True)


@pytest.fixture
def bob() -> Writer:
    return Writer("person:bob", "Bob", may_publish=True)


@pytest.fixture
def portal() -> Writer:
    """Who writes what the portal brings."""
    return Writer(PORTAL, "The portal", may_publish=True)


def prompt(name: str = "Look around", **fields: Any) -> StageItemDraft:
    """A new mini-prompt at its place in a stage."""
    return StageItemDraft(PromptDraft(**{"name": name, "content": f"Do: {name}.", **fields}))


def stage(*items: StageItemDraft, name: str = "Begin", **fields: Any) -> StageDraft:
    """A stage with some items."""
    return StageDraft(name=name, items=items, **fields)


def workflow(*stages: StageDraft, name: str = "Code review", **fields: Any) -> WorkflowDraft:
    """A workflow; without stages it gets one of two steps."""
    given = stages or (stage(prompt("Read the change"), prompt("Write what you found")),)
    return WorkflowDraft(name=name, stages=given, **fields)


def skill(name: str = "Naming", **fields: Any) -> SkillDraft:
    """A skill card."""
    return SkillDraft(**{"name": name, "content": "Short names.", **fields})
