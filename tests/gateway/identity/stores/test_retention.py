"""What ended long ago is deleted, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from auth.stores import Code, RefreshToken
from gateway.identity.stores import purge
from gateway.identity.stores import retention as purging
from gateway.identity.stores.tables import people
from gateway.services.database.service import OwnedDatabase
from tests.gateway.identity.stores.conftest import ALICE, NOON, Clock, Replica
from tests.gateway.identity.stores.test_api_tokens import OPERATOR, token
from tests.gateway.identity.stores.test_grants import grant
from tests.gateway.identity.stores.test_sessions import session

MINUTES = timedelta(minutes=10)


async def counts(database: OwnedDatabase) -> dict[str, int]:
    found = {}
    async with database.engine.connect() as connection:
        for name, table in people.metadata.tables.items():
            found[name.removeprefix("porch_")] = (
                await connection.scalar(select(func.count()).select_from(table)) or 0
            )
    return {name: number for name, number in found.items() if number}


@pytest.fixture
async def filled(replica: Replica) -> Replica:
    """One of everything, at noon: a used grant, a revoked one and one never used."""
    stores = replica.stores
    person = (await stores.people.signed_in(ALICE)).id
    await stores.sessions.add(session(person))
    await stores.tokens.add(token(person), "d0")
    await stores.tokens.add(token("token:ci", 1, **OPERATOR), "d1")
    await stores.tokens.add(token("token:old", 2, **OPERATOR), "d2")
    await stores.tokens.revoke("token-2", "token:old")
    for number in range(3):
        given = replace(grant(person, number), created=NOON)
        code = Code(given.id, "http://127.0.0.1:9/cb", True, "c", NOON + MINUTES)
        await stores.grants.add(given, code, f"code-{number}")
    for number in range(2):
        refresh = RefreshToken(f"grant-{number}", NOON + timedelta(days=30))
        await stores.grants.add_refresh(refresh, f"refresh-{number}")
    await stores.grants.revoke(["grant-1"])
    await stores.spent.spend("nonce", NOON + MINUTES)
    await stores.revocations.append(["person:x"])
    return replica


async def test_each_kind_goes_when_its_time_has_come(filled: Replica) -> None:
    database = filled.database
    everything = {
        "people": 1,
        "accounts": 1,
        "api_tokens": 3,
        "sessions": 1,
        "grants": 3,
        "codes": 3,
        "refresh_tokens": 2,
        "spent": 1,
        "revocations": 1,
    }
    assert await purge(database, NOON) == 0
    assert await counts(database) == everything
    await purge(database, NOON + timedelta(hours=1))
    del everything["spent"]
    assert await counts(database) == everything
    await purge(database, NOON + timedelta(days=2))
    del everything["codes"], everything["revocations"]
    assert await counts(database) == everything | {"grants": 2}
    await purge(database, NOON + timedelta(days=29))
    del everything["sessions"]
    assert await counts(database) == everything | {"grants": 2}
    await purge(database, NOON + timedelta(days=32))
    del everything["refresh_tokens"], everything["grants"]
    assert await counts(database) == everything | {"api_tokens": 2}
    await purge(database, NOON + timedelta(days=3650))
    assert await counts(database) == {"people": 1, "accounts": 1, "api_tokens": 1}


async def test_many_rows_go_in_batches(
    replica: Replica, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "BATCH_ROWS", 2)
    for number in range(5):
        await replica.stores.spent.spend(str(number), NOON)
    assert await purge(replica.database, NOON) == 5
