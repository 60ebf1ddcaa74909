"""The stores over each database, and a second replica on the same one."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from auth.callers import Account
from auth.stores import Stores
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import OwnedDatabase, open_database
from tests.migrated import Migrated

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALICE = Account.of_key("0x00000000000000000000000000000000000A11cE")
OCTO = Account("github:583231", "github", "Octo-Cat", None, {"login": "Octo-Cat"})


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def pass_(self, **span: float) -> None:
        self.time += timedelta(**span)


class Replica(NamedTuple):
    """One process's view of the database: an engine of its own."""

    database: OwnedDatabase
    stores: Stores


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    """The gateway's tables, migrated once."""
    with Migrated("gateway", MIGRATIONS, tmp_path_factory.mktemp("migrated")) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, migrated: Migrated, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(migrated.file, tmp_path)
        return "sqlite"
    return migrated.on(request.getfixturevalue("postgres_url"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def open_replica(
    address: str, tmp_path: Path, clock: Clock
) -> AsyncIterator[Callable[[], Replica]]:
    """Open one more replica."""
    services = []

    def open_one() -> Replica:
        services.append(open_database(address, tmp_path))
        database = services[-1].for_owner("gateway")
        return Replica(database, open_stores(database, clock))

    yield open_one
    for service in services:
        await service.close()


@pytest.fixture
def replica(open_replica: Callable[[], Replica]) -> Replica:
    return open_replica()


@pytest.fixture
def other(replica: Replica, open_replica: Callable[[], Replica]) -> Replica:
    """A second one on the same database."""
    return open_replica()


@pytest.fixture
def stores(replica: Replica) -> Stores:
    return replica.stores


@pytest.fixture
def database(replica: Replica) -> OwnedDatabase:
    return replica.database
