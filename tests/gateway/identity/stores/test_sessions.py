"""Browser sessions, on each database."""

from __future__ import annotations

from datetime import timedelta

import pytest

from auth.stores import Session, Stores
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Clock


def session(person: str, number: int = 0) -> Session:
    return Session(
        digest=f"d{number}",
        person=person,
        created=NOON + timedelta(seconds=number),
        expires=NOON + timedelta(days=7 - number),
        agent="A browser\0",
    )


async def test_sessions_end_by_time_one_by_one_and_all_at_once(
    stores: Stores, clock: Clock
) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    other = (await stores.people.signed_in(OCTO)).id
    for number in range(4):
        await stores.sessions.add(session(person, number))
    await stores.sessions.add(session(other, 5))
    found = await stores.sessions.get("d0")
    assert found is not None
    assert (found.person, found.agent) == (person, "A browser?")
    assert await stores.sessions.get("d9") is None
    clock.pass_(days=4)
    assert [each.digest for each in await stores.sessions.of(person)] == ["d2", "d1", "d0"]
    assert await stores.sessions.get("d3") is None
    await stores.sessions.end("d2")
    assert [each.digest for each in await stores.sessions.of(person)] == ["d1", "d0"]
    clock.time = NOON
    await stores.sessions.end_all(person)
    assert await stores.sessions.of(person) == []
    assert len(await stores.sessions.of(other)) == 1


async def test_a_deleted_person_has_no_session_and_gets_none(stores: Stores) -> None:
    person = (await stores.people.signed_in(ALICE)).id
    await stores.sessions.add(session(person))
    await stores.people.delete(person)
    assert await stores.sessions.get("d0") is None
    with pytest.raises(LookupError):
        await stores.sessions.add(session(person, 1))
