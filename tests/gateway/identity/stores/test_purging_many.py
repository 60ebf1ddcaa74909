"""Tables that are purged stay as small as what is still needed, however much comes in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import Table, insert

from auth.credentials import BadCredential
from auth.portal_addresses import Site
from auth.stores import Code, RefreshToken
from auth.tokens.access_tokens import MAX_CLOCK_SKEW_S, AccessTokens
from auth.tokens.signing_keys import SigningKeys
from gateway.config.access import Tokens
from gateway.identity.stores import purge
from gateway.identity.stores.tables import (
    codes,
    grants,
    refresh_tokens,
    revocations,
    sessions,
    spent,
)
from gateway.services.database.service import OwnedDatabase
from tests.auth.clocks import Clock
from tests.gateway.identity.stores.conftest import ALICE, NOON, Replica
from tests.gateway.identity.stores.test_grants import grant
from tests.gateway.identity.stores.test_retention import counts
from tests.gateway.identity.stores.test_sessions import session

MANY = 10_000
MONTH = timedelta(days=30)
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTES = timedelta(minutes=10)


def moments() -> list[datetime]:
    """As many moments, spread over a month that ends at noon."""
    return [NOON - MONTH + MONTH * number / MANY for number in range(MANY)]


async def fill(database: OwnedDatabase, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    async with database.begin() as connection:
        for at in range(0, len(rows), 1000):
            await connection.execute(insert(table), rows[at : at + 1000])


async def a_busy_month(replica: Replica) -> str:
    """Sign-ins and refreshes of one person, and consents that no client ever took up."""
    database = replica.database
    person = (await replica.stores.people.signed_in(ALICE)).id
    alive = replace(grant(person, 0), created=NOON - MONTH, used=NOON)
    await fill(database, grants, [asdict(alive)])
    some = list(enumerate(moments()))
    await fill(database, spent, [{"key": f"k{n}", "until": at + MINUTES} for n, at in some])
    signed_in = asdict(session(person))
    await fill(
        database,
        sessions,
        [signed_in | {"digest": f"s{n}", "created": at, "expires": at + WEEK} for n, at in some],
    )
    await fill(database, revocations, [{"subject": person, "at": at} for _, at in some])
    await fill(
        database,
        refresh_tokens,
        [
            {"digest": f"r{n}", "grant": alive.id, "expires": at + MONTH, "spent": at}
            for n, at in some
        ],
    )
    given_up = [replace(grant(person, n + 1), created=at) for n, at in some]
    await fill(database, grants, [asdict(each) for each in given_up])
    asked = [Code(each.id, "http://c", True, "c", each.created + MINUTES) for each in given_up]
    rows = [asdict(each) | {"digest": f"c{n}", "spent": None} for n, each in enumerate(asked)]
    await fill(database, codes, rows)
    await replica.stores.grants.add_refresh(RefreshToken(alive.id, NOON + MONTH), "current")
    return alive.id


async def test_after_a_busy_month_what_is_kept_is_what_is_needed(
    replica: Replica, other: Replica
) -> None:
    alive = await a_busy_month(replica)
    # Replicas look at the same hour, and take nothing from each other.
    await asyncio.gather(*(purge(each.database, NOON) for each in (replica, other)))
    await purge(replica.database, NOON)
    kept = await counts(replica.database)
    a_day = MANY / MONTH.days
    assert kept["spent"] <= 10
    assert kept["revocations"] <= a_day + 1
    assert kept["sessions"] <= 8 * a_day + 1
    assert kept["codes"] <= a_day + 10
    assert kept["grants"] <= a_day + 10
    assert (kept["people"], kept["accounts"]) == (1, 1)

    # A used refresh token is known for as long as a thief might present it.
    assert kept["refresh_tokens"] == MANY + 1
    assert await replica.stores.grants.refresh("r0") is not None
    assert await replica.stores.grants.get(alive) is not None

    await purge(replica.database, NOON + MONTH - DAY)
    assert await replica.stores.grants.get(alive) is not None
    assert (await counts(replica.database))["refresh_tokens"] <= 2 * a_day + 2
    await purge(replica.database, NOON + MONTH + DAY + MINUTES)
    assert await counts(replica.database) == {"people": 1, "accounts": 1}


async def test_a_grant_stays_while_a_token_of_it_may_be_good(replica: Replica) -> None:
    person = (await replica.stores.people.signed_in(ALICE)).id
    given = replace(grant(person, 0), created=NOON)
    code = Code(given.id, "http://c", True, "c", NOON + MINUTES)
    await replica.stores.grants.add(given, code, "code")
    await replica.stores.grants.spend_code("code")
    await replica.stores.grants.add_refresh(RefreshToken(given.id, NOON + MINUTES), "refresh")
    # Its only refresh token has ended, and its access token, which is stored nowhere, has not.
    await purge(replica.database, NOON + 2 * DAY)
    assert await replica.stores.grants.get(given.id) is not None


async def test_the_longest_access_token_ends_before_its_grant_is_forgotten(
    replica: Replica,
) -> None:
    longest = timedelta(days=30)
    with pytest.raises(ValidationError, match="at most 30d"):
        Tokens.model_validate({"access": longest + timedelta(seconds=1)})
    lives, clock = Tokens.model_validate({"access": longest}), Clock(NOON.timestamp())
    stores, site = replica.stores, Site("http://127.0.0.1:8321", local=True)
    person = (await stores.people.signed_in(ALICE)).id
    given = replace(grant(person, 0), created=NOON, resource=site.url)
    await stores.grants.add(given, Code(given.id, "http://c", True, "c", NOON + MINUTES), "code")
    await stores.grants.add_refresh(RefreshToken(given.id, NOON + MINUTES), "refresh")
    tokens = AccessTokens(
        SigningKeys(b"k" * 32, clock),
        site,
        stores.people,
        stores.grants,
        lives.access.total_seconds(),
        clock,
    )
    token, seconds = tokens.issue(given, site.url)
    clock.pass_(seconds + MAX_CLOCK_SKEW_S - 1)
    await purge(replica.database, datetime.fromtimestamp(clock(), UTC) + 12 * HOUR)
    assert await tokens.identify(token, "/mcp") is not None
    clock.pass_(2)
    with pytest.raises(BadCredential, match="expired"):
        await tokens.identify(token, "/mcp")
    await purge(replica.database, NOON + longest + DAY + MINUTES)
    assert await stores.grants.get(given.id) is None
