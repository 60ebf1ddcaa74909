"""The stores over each database, and a second replica on the same one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from auth.callers import Account
from auth.stores import Stores
from gateway.audit import MIGRATIONS
from gateway.services.database import OwnedDatabase, open_database
from gateway.stores import open_stores

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALICE = Account("wallet:0x00000000000000000000000000000000000A11cE", "wallet")
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


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return "sqlite"
    url: str = request.getfixturevalue("postgres")
    return url


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
async def replica(open_replica: Callable[[], Replica]) -> Replica:
    """A migrated one."""
    replica = open_replica()
    await replica.database.migrate(MIGRATIONS)
    return replica


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
