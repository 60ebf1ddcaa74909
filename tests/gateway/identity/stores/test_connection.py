"""A database that does not answer is said to be away, by every store; a bug is not."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest
from sqlalchemy.exc import DBAPIError

from auth.stores import Stores, StoreUnavailable
from gateway.identity.stores import connection as reaching
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database import sqlite
from gateway.services.database.service import open_database
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Replica

ASKED: dict[str, Callable[[Stores], Awaitable[object]]] = {
    "people": lambda stores: stores.people.get("person:x"),
    "tokens": lambda stores: stores.tokens.by_digest("d"),
    "sessions": lambda stores: stores.sessions.get("d"),
    "grants": lambda stores: stores.grants.get("g"),
    "spent": lambda stores: stores.spent.spend("k", NOON),
    "revocations": lambda stores: stores.revocations.latest(),
}


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never says a word."""
    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"postgresql://somebody@127.0.0.1:{listening.getsockname()[1]}/portal"


@pytest.fixture
def absent() -> str:
    """The address of a server that is not there."""
    with socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"postgresql://somebody@127.0.0.1:{closed.getsockname()[1]}/portal"


@pytest.mark.parametrize("store", ASKED)
async def test_a_server_that_is_not_there(store: str, absent: str, tmp_path: Path) -> None:
    service = open_database(absent, tmp_path)
    with pytest.raises(StoreUnavailable):
        await ASKED[store](open_stores(service.for_owner("gateway")))
    await service.close()


async def test_a_server_that_never_answers(
    silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "TRANSACTION_TIMEOUT_SECONDS", 0.2)
    service = open_database(silent, tmp_path)
    with pytest.raises(StoreUnavailable):
        await ASKED["people"](open_stores(service.for_owner("gateway")))
    await service.close()


async def test_a_database_that_is_not_on_the_server(postgres: str, tmp_path: Path) -> None:
    service = open_database(re.sub(r"/[^/]+$", "/nowhere", postgres), tmp_path)
    with pytest.raises(StoreUnavailable):
        await ASKED["people"](open_stores(service.for_owner("gateway")))
    await service.close()


async def test_a_file_that_another_program_keeps_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PRAGMAS", (*sqlite._PRAGMAS, "PRAGMA busy_timeout=10"))
    service = open_database("sqlite", tmp_path)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    stores = open_stores(database)
    person = await stores.people.signed_in(ALICE)
    with closing(sqlite3.connect(tmp_path / "porch.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable):
            await stores.people.signed_in(OCTO)
        assert await stores.people.get(person.id) == person
        holder.execute("ROLLBACK")
    await service.close()


async def test_what_a_caller_does_wrong_is_no_outage(replica: Replica) -> None:
    with pytest.raises(LookupError):
        await replica.stores.people.link("person:nobody", ALICE)
    with pytest.raises(ZeroDivisionError):
        async with reaching.Reached(replica.database).begin():
            raise ZeroDivisionError


@pytest.mark.parametrize("text", ["\0", "\ud800"])
async def test_text_that_no_database_takes_is_no_outage(
    postgres: str, tmp_path: Path, text: str
) -> None:
    service = open_database(postgres, tmp_path)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    with pytest.raises(DBAPIError):
        await open_stores(database).people.get(text)
    await service.close()


async def test_a_connection_that_the_server_ended_is_an_outage(
    postgres: str, tmp_path: Path
) -> None:
    service = open_database(postgres, tmp_path)
    with pytest.raises(StoreUnavailable):
        async with reaching.Reached(service.for_owner("gateway")).connect() as connection:
            ending = "SELECT pg_terminate_backend(pg_backend_pid())"
            await connection.exec_driver_sql(ending)
    await service.close()
