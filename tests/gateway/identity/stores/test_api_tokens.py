"""API tokens, on each database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from auth.stores import ApiToken, Stores
from auth.tiers import Tier
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Clock, Replica


def token(person: str, number: int = 0, **changes: Any) -> ApiToken:
    usual = ApiToken(
        id=f"token-{number}",
        person=person,
        name="laptop",
        ceiling=Tier.PUBLIC,
        granted=None,
        tools=frozenset({"search_knowledge", "get_document"}),
        created=NOON + timedelta(seconds=number),
        expires=NOON + timedelta(days=30),
    )
    return replace(usual, **changes)


OPERATOR: dict[str, Any] = {
    "ceiling": Tier.MEMBERS,
    "granted": Tier.MEMBERS,
    "tools": None,
    "expires": None,
}


async def test_a_token_is_found_by_its_digest_as_it_was_kept(stores: Stores) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    personal, operators = token(person), token("token:ci", 1, name="ci", **OPERATOR)
    assert await stores.tokens.add(personal, "d0")
    assert await stores.tokens.add(operators, "d1")
    assert await stores.tokens.by_digest("d0") == personal
    assert await stores.tokens.by_digest("d1") == operators
    assert await stores.tokens.by_digest("d2") is None
    assert await stores.tokens.operators() == [operators]


async def test_a_persons_tokens_are_theirs_the_newest_first(stores: Stores) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    other = (await stores.people.signed_in(OCTO)).id
    for number in range(3):
        await stores.tokens.add(token(person, number), f"d{number}")
    await stores.tokens.add(token(other, 9), "d9")
    assert [each.id for each in await stores.tokens.of(person)] == ["token-2", "token-1", "token-0"]
    assert not await stores.tokens.revoke("token-9", person)
    assert await stores.tokens.revoke("token-1", person)
    assert await stores.tokens.revoke("token-1", person)
    assert [each.id for each in await stores.tokens.of(person)] == ["token-2", "token-0"]
    ended = await stores.tokens.of(person, ended=True)
    assert [each.revoked for each in ended] == [None, NOON, None]
    found = await stores.tokens.by_digest("d1")
    assert found is not None
    assert found.revoked == NOON
    assert len(await stores.tokens.of(other)) == 1


async def test_revoking_all_leaves_those_of_others(stores: Stores) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    await stores.tokens.add(token(person), "d0")
    await stores.tokens.add(token("token:ci", 1, **OPERATOR), "d1")
    await stores.tokens.revoke_all(person)
    assert await stores.tokens.of(person) == []
    assert len(await stores.tokens.operators()) == 1


async def test_at_most_counts_what_is_still_good(stores: Stores, clock: Clock) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    assert await stores.tokens.add(token(person, 0), "d0", at_most=2)
    assert await stores.tokens.add(token(person, 1), "d1", at_most=2)
    assert not await stores.tokens.add(token(person, 2), "d2", at_most=2)
    await stores.tokens.revoke("token-0", person)
    assert await stores.tokens.add(token(person, 3), "d3", at_most=2)
    clock.pass_(days=30)
    assert await stores.tokens.add(token(person, 4), "d4", at_most=1)
    assert not await stores.tokens.add(token(person, 5), "d5", at_most=0)


async def test_at_most_holds_for_many_attempts_at_once_on_two_replicas(
    replica: Replica, other: Replica
) -> None:
    person = (await replica.stores.people.signed_in(ALICE)).id
    adds = [
        each.stores.tokens.add(token(person, number), f"d{number}", at_most=3)
        for number, each in enumerate((replica, other) * 15)
    ]
    assert sum(await asyncio.gather(*adds)) == 3
    assert len(await other.stores.tokens.of(person)) == 3


async def test_nobody_gets_no_token(stores: Stores) -> None:
    with pytest.raises(LookupError):
        await stores.tokens.add(token("person:nobody"), "d0")
    assert await stores.tokens.by_digest("d0") is None


async def test_the_last_use_only_grows(stores: Stores) -> None:
    await stores.tokens.add(token("token:ci", **OPERATOR), "d0")
    for minutes in (1, 5, 3):
        await stores.tokens.used({"token-0": NOON + timedelta(minutes=minutes)})
    (found,) = await stores.tokens.operators()
    assert found.used == NOON + timedelta(minutes=5)


async def test_the_uses_of_several_tokens_are_noted_each_with_its_time(stores: Stores) -> None:
    for number in range(3):
        await stores.tokens.add(token(f"token:ci-{number}", number, **OPERATOR), f"d{number}")
    uses = {f"token-{number}": NOON + timedelta(minutes=number) for number in (2, 0)}
    await stores.tokens.used(uses | {"gone": NOON})
    assert {each.id: each.used for each in await stores.tokens.operators()} == {
        "token-0": NOON,
        "token-1": None,
        "token-2": NOON + timedelta(minutes=2),
    }


async def test_a_deleted_persons_tokens_go_with_them(stores: Stores) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    await stores.tokens.add(token(person), "d0")
    await stores.tokens.add(token("token:ci", 1, **OPERATOR), "d1")
    await stores.people.delete(person)
    assert await stores.tokens.by_digest("d0") is None
    assert await stores.tokens.by_digest("d1") is not None
