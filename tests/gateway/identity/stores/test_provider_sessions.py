"""What ends when a provider has signed somebody out, on each database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auth.callers import Account, SignedOut
from auth.stores import Stores
from tests.gateway.identity.stores.conftest import ALICE, Replica
from tests.gateway.identity.stores.test_grants import code, grant
from tests.gateway.identity.stores.test_sessions import session

ISSUER = "https://id.example"
ANA = Account(f"oidc:{ISSUER}#ana", "oidc")
BEGUN = {
    0: (ANA.subject, "s-1"),
    1: (ANA.subject, "s-2"),
    2: (ANA.subject, None),
    3: (f"oidc:{ISSUER.upper()}#ana", "s-1"),
    4: (f"oidc:{ISSUER}.org#ana", "s-1"),
    5: (ALICE.subject, None),
    6: (None, None),
}
"""What the sessions and grants of one person came of, by their numbers."""


@pytest.mark.parametrize(
    ("account", "sid", "ended"),
    [
        (ANA.subject, None, {0, 1, 2, 6}),
        (ANA.subject, "s-1", {0, 2, 6}),
        (None, "s-1", {0}),
        (None, "s-9", set()),
        (f"oidc:{ISSUER}#nobody", None, set()),
        (f"oidc:{ISSUER}#nobody", "s-1", set()),
    ],
)
async def test_what_came_of_it_ends_and_nothing_else(
    replica: Replica, other: Replica, account: str | None, sid: str | None, ended: set[int]
) -> None:
    stores: Stores = replica.stores
    person = (await stores.people.signed_in(ANA)).id
    await stores.people.link(person, ALICE)
    for number, (subject, session_id) in BEGUN.items():
        begun: dict[str, Any] = {"account": subject, "sid": session_id}
        await stores.sessions.add(replace(session(person, number), **begun))
        given = replace(grant(person, number), **begun)
        await stores.grants.add(given, code(number), f"code-{number}")
        assert await stores.grants.get(given.id) == given
    who = SignedOut(ISSUER, account, sid)
    await other.stores.sessions.end_of(who)
    revoked = await other.stores.grants.revoke_of(who)
    left = {each.digest for each in await stores.sessions.of(person)}
    assert left == {f"d{number}" for number in BEGUN if number not in ended}
    assert set(revoked) == {f"grant-{number}" for number in ended}
    assert await stores.grants.revoke_of(who) == []
    for number in BEGUN:
        found = await stores.grants.get(f"grant-{number}")
        assert found is not None
        assert (found.revoked is not None) == (number in ended)
