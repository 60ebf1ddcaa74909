"""Grants, codes and refresh tokens, on each database."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from auth.stores import Code, Grant, RefreshToken, Stores
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Clock, Replica

SOON = NOON + timedelta(minutes=10)
LATER = NOON + timedelta(days=30)


def grant(person: str, number: int = 0) -> Grant:
    return Grant(
        id=f"grant-{number}",
        person=person,
        client_id="https://client.example.org/metadata.json",
        client_name="A client",
        resource="http://127.0.0.1:8321",
        scope=("public", "members"),
        created=NOON + timedelta(seconds=number),
    )


def code(number: int = 0) -> Code:
    return Code(f"grant-{number}", "http://127.0.0.1:9/cb", False, "c" * 43, SOON)


async def granted(stores: Stores, number: int = 0) -> str:
    person = (await stores.people.signed_in(ALICE)).id
    await stores.grants.add(grant(person, number), code(number), f"code-{number}")
    return person


async def test_a_grant_is_listed_once_a_token_was_issued(stores: Stores, clock: Clock) -> None:
    person = await granted(stores)
    assert await stores.grants.get("grant-0") == grant(person)
    assert await stores.grants.code("code-0") == (code(), False)
    assert await stores.grants.of(person) == []
    assert len(await stores.grants.of(person, ended=True)) == 1
    clock.pass_(minutes=1)
    await stores.grants.add_refresh(RefreshToken("grant-0", LATER), "refresh-0")
    (found,) = await stores.grants.of(person)
    assert found.used == NOON + timedelta(minutes=1)
    assert await stores.grants.refresh("refresh-0") == (RefreshToken("grant-0", LATER), False)


async def test_a_code_and_a_refresh_token_are_spent_once_on_two_replicas(
    replica: Replica, other: Replica
) -> None:
    await granted(replica.stores)
    await replica.stores.grants.add_refresh(RefreshToken("grant-0", LATER), "refresh-0")
    both = [replica.stores.grants, other.stores.grants] * 10
    assert sum(await asyncio.gather(*(each.spend_code("code-0") for each in both))) == 1
    assert sum(await asyncio.gather(*(each.spend_refresh("refresh-0") for each in both))) == 1
    assert await other.stores.grants.code("code-0") == (code(), True)
    assert await other.stores.grants.refresh("refresh-0") == (RefreshToken("grant-0", LATER), True)
    assert not await replica.stores.grants.spend_code("code-9")
    assert not await replica.stores.grants.spend_refresh("refresh-9")


async def test_nothing_that_hangs_on_a_revoked_grant_is_good(stores: Stores, clock: Clock) -> None:
    person = await granted(stores)
    await granted(stores, 1)
    for number in range(2):
        token = RefreshToken(f"grant-{number}", LATER)
        await stores.grants.add_refresh(token, f"refresh-{number}")
    clock.pass_(minutes=1)
    await stores.grants.revoke(["grant-0", "grant-9"])
    assert await stores.grants.code("code-0") is None
    assert await stores.grants.refresh("refresh-0") is None
    assert not await stores.grants.spend_code("code-0")
    assert not await stores.grants.spend_refresh("refresh-0")
    with pytest.raises(LookupError):
        await stores.grants.add_refresh(RefreshToken("grant-0", LATER), "refresh-2")
    found = await stores.grants.get("grant-0")
    assert found is not None
    assert found.revoked == clock.time
    assert [each.id for each in await stores.grants.of(person)] == ["grant-1"]
    assert await stores.grants.spend_refresh("refresh-1")


async def test_revoking_all_takes_grants_that_were_never_used_too(stores: Stores) -> None:
    person = await granted(stores)
    octo = (await stores.people.signed_in(OCTO)).id
    await stores.grants.add(grant(octo, 1), code(1), "code-1")
    await stores.grants.revoke_all(person)
    assert not await stores.grants.spend_code("code-0")
    assert await stores.grants.spend_code("code-1")


async def test_a_deleted_person_leaves_no_grant_code_or_token(stores: Stores) -> None:
    person = await granted(stores)
    await stores.grants.add_refresh(RefreshToken("grant-0", LATER), "refresh-0")
    await stores.people.delete(person)
    assert await stores.grants.get("grant-0") is None
    assert await stores.grants.code("code-0") is None
    assert await stores.grants.refresh("refresh-0") is None
    with pytest.raises(LookupError):
        await stores.grants.add(grant(person, 1), code(1), "code-1")
    with pytest.raises(LookupError):
        await stores.grants.add_refresh(RefreshToken("grant-0", LATER), "refresh-1")
