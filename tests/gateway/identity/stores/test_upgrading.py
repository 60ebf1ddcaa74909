"""From the tables of the release before to those of this one, and back."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from auth.callers import Account
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.migrations import MigrationFailed
from gateway.services.database.service import OwnedDatabase
from tests.gateway.identity.stores.conftest import ALICE, Replica
from tests.gateway.identity.stores.test_tables import (
    test_the_migrations_make_the_tables_that_the_code_declares as check_tables,
)

BEFORE = "0001_audit.py"
CALL = text(
    "INSERT INTO porch_audit (id, at, request_id, tier, item, kind, surface, outcome,"
    " milliseconds, bytes_out) VALUES (:id, '2026-03-01 12:00:00', 'r', 'open',"
    " 'knowledge/look', 'tool', 'mcp', 'ok', 1.5, 100)"
)
CALLS = 500


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a database is that has no tables yet."""
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The migrations of the release before."""
    versions = tmp_path / "before" / "versions"
    versions.mkdir(parents=True)
    shutil.copy(MIGRATIONS / "versions" / BEFORE, versions)
    return versions.parent


@pytest.fixture
async def old(open_replica: Callable[[], Replica], before: Path) -> OwnedDatabase:
    """A database of the release before, with records of calls."""
    database = open_replica().database
    await database.migrate(before)
    async with database.begin() as connection:
        await connection.execute(CALL, [{"id": number} for number in range(1, CALLS + 1)])
    return database


async def recorded(database: OwnedDatabase) -> int:
    async with database.engine.connect() as connection:
        return int(await connection.scalar(text("SELECT count(*) FROM porch_audit")) or 0)


async def test_replicas_that_upgrade_at_once_do_it_once_and_keep_the_record(
    old: OwnedDatabase, open_replica: Callable[[], Replica]
) -> None:
    replicas = [open_replica() for _ in range(4)]
    await asyncio.gather(*(each.database.migrate(MIGRATIONS) for each in replicas))
    assert await recorded(old) == CALLS
    await check_tables(old)
    person = await replicas[0].stores.people.signed_in(ALICE)
    assert await open_stores(old).people.get(person.id) == person


async def test_the_release_before_goes_on_while_a_replica_upgrades(
    old: OwnedDatabase, open_replica: Callable[[], Replica]
) -> None:
    new = open_replica().database

    async def record() -> None:
        for number in range(CALLS + 1, CALLS + 21):
            async with old.begin() as connection:
                await connection.execute(CALL, {"id": number})

    await asyncio.gather(record(), new.migrate(MIGRATIONS))
    assert await recorded(new) == CALLS + 20


async def test_the_release_before_refuses_newer_tables(old: OwnedDatabase, before: Path) -> None:
    await old.migrate(MIGRATIONS)
    with pytest.raises(MigrationFailed, match="Install the newer version again"):
        await old.migrate(before)
    assert await recorded(old) == CALLS


async def test_claims_of_the_release_before_count_as_of_their_last_proof(
    open_replica: Callable[[], Replica], tmp_path: Path
) -> None:
    database = open_replica().database
    older = tmp_path / "older" / "versions"
    older.mkdir(parents=True)
    for each in ("0001_audit.py", "0002_access.py", "0003_forgotten.py"):
        shutil.copy(MIGRATIONS / "versions" / each, older)
    await database.migrate(older.parent)
    async with database.begin() as connection:
        for row in ROWS_BEFORE:
            await connection.execute(text(row))
    await database.migrate(MIGRATIONS)
    stores = open_stores(database)
    person = await stores.people.get("person:ana")
    assert person is not None
    proved = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
    assert person.accounts[0].claims == {"groups": ["staff"]}
    assert person.accounts[0].dated == {"groups": proved, "email": proved}
    before = replace(person.accounts[0], claims={"groups": []}, dated={"groups": proved - 1})
    assert (await stores.people.signed_in(before)).accounts == person.accounts
    newer = replace(before, dated={"groups": proved + 1})
    assert (await stores.people.signed_in(newer)).accounts[0].claims == {"groups": []}
    grant = await stores.grants.get("grant-1")
    assert grant is not None
    assert grant.created == datetime(2026, 3, 1, 12, tzinfo=UTC)


ROWS_BEFORE = (
    "INSERT INTO porch_people (id, created) VALUES ('person:ana', '2026-03-01 12:00:00')",
    "INSERT INTO porch_accounts (subject, person, place, provider, name, email, claims, proved)"
    " VALUES ('oidc:https://id.example#ana', 'person:ana', 0, 'oidc', 'Ana', 'ana@example.org',"
    """ '{"groups": ["staff"]}', '2026-03-01 12:00:00')""",
    "INSERT INTO porch_grants (id, person, client_id, client_name, resource, scope, created)"
    " VALUES ('grant-1', 'person:ana', 'client', 'Client', 'http://x', '[]',"
    " '2026-03-01 12:00:00')",
)


async def test_a_downgrade_takes_what_is_new_and_keeps_the_record(
    old: OwnedDatabase, before: Path
) -> None:
    await old.migrate(MIGRATIONS)
    await open_stores(old).people.signed_in(ALICE)
    async with old.begin() as connection:
        await connection.run_sync(downgrade, "0001")
        tables = await connection.run_sync(lambda sync: set(inspect(sync).get_table_names()))
    assert {name for name in tables if name.startswith("porch_")} == {"porch_audit"}
    assert await recorded(old) == CALLS
    await old.migrate(before)
    await old.migrate(MIGRATIONS)
    await check_tables(old)


async def test_who_signed_for_a_wallet_of_the_release_before_is_unknown_until_its_key_signs(
    open_replica: Callable[[], Replica], before: Path
) -> None:
    for name in ("0002_access.py", "0003_forgotten.py", "0004_said.py"):
        shutil.copy(MIGRATIONS / "versions" / name, before / "versions")
    database = open_replica().database
    await database.migrate(before)
    async with database.begin() as connection:
        await connection.execute(PERSON)
        await connection.execute(WALLET, {"subject": ALICE.subject})
    await database.migrate(MIGRATIONS)
    people = open_stores(database).people
    old = await people.by_subject(ALICE.subject)
    assert old is not None
    assert [(each.signer, each.address) for each in old.accounts] == [(None, ALICE.address)]
    # A contract at the address, on any chain, is somebody else until the person links it.
    contract = Account.of_contract(10, ALICE.address)
    assert (await people.signed_in(contract)).id != old.id
    assert await people.signed_in(ALICE) == await people.get(old.id)
    assert (await people.get(old.id) or old).accounts == (ALICE,)


PERSON = text("INSERT INTO porch_people (id, created) VALUES ('person:a', '2026-03-01 12:00:00')")
WALLET = text(
    "INSERT INTO porch_accounts (subject, person, place, provider, claims, proved)"
    " VALUES (:subject, 'person:a', 0, 'wallet', '{}', '2026-03-01 12:00:00')"
)


def downgrade(connection: Connection, revision: str) -> None:
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    versions: Any = {"version_locations": [str(MIGRATIONS / "versions")]}
    script = ScriptDirectory(str(MIGRATIONS), **versions)

    def steps(current: Any, _: Any) -> Any:
        return script._downgrade_revs(revision, current)

    options = {"fn": steps, "script": script}
    context = MigrationContext.configure(
        connection, opts={**options, "version_table": "alembic_version_gateway"}
    )
    with Operations.context(context):
        context.run_migrations()
