"""Tokens are renewed before they end, by one at a time, and never end up with another member."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from gateway.contract import Caller, Database, Place, Tier, Vault
from gateway.testing import TestPortal
from plugins.upstreams.config import Server
from plugins.upstreams.credential_settings import MemberOAuth
from plugins.upstreams.credentials.member import MemberAccounts, Target
from plugins.upstreams.credentials.oauth_http import OAuthHttp
from plugins.upstreams.credentials.registration import Registration
from plugins.upstreams.servers.reach import target_of
from plugins.upstreams.store.connections import ConnectionStore, Kept
from plugins.upstreams.wire import Unauthorized
from tests.plugins.upstreams.credentials.members import BASE, Member, member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until_offered

MEMBERS = 100
REFUSED = Unauthorized("The server answered HTTP 401.", 401)

S = TypeVar("S", bound=ConnectionStore)


class HeldStore(ConnectionStore):
    """A store whose first answer comes late, once it is let go."""

    asked = 0

    def __init__(self, database: Database, vault: Vault) -> None:
        super().__init__(database, vault)
        self.has_read, self.let_go = asyncio.Event(), asyncio.Event()

    async def get(self, person: str, server: str) -> Kept | None:
        self.asked += 1
        is_first, found = self.asked == 1, await super().get(person, server)
        if is_first:
            self.has_read.set()
            await self.let_go.wait()
        return found


class FailingStore(ConnectionStore):
    """A store that cannot write the first time."""

    asked = 0

    async def renew(self, before: Kept, after: Kept) -> bool:
        self.asked += 1
        if self.asked == 1:
            raise OSError("the database is away")
        return await super().renew(before, after)


def store_of(portal: TestPortal, kind: type[S]) -> S:
    """A store on the database of a portal's upstreams."""
    services = portal.running.services
    vault = Vault(services.signing_key, "upstreams")
    return kind(services.for_plugin("upstreams").database, vault)


def replica(portal: TestPortal, guarded: Guarded, store: ConnectionStore) -> MemberAccounts:
    """The accounts as another process has them."""
    config = MemberOAuth()
    where = target_of(Server.model_validate({"name": "far", "url": guarded.url}))
    http = OAuthHttp(guarded.url)
    registration = Registration(http, store, config, str, "Test")

    async def told(person: str, server: str) -> None:
        return None

    return MemberAccounts(
        Target("far", guarded.url, where), config, store, registration, http, told
    )


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    with guarded_server() as guarded:
        yield guarded


async def connect(portal: TestPortal, guarded: Guarded, each: Member, user: str) -> None:
    """Connect without the pages, which let one address try so often and no more."""
    connections = portal.running.plugins.offers["upstreams"].connections
    assert connections is not None
    place = Place(f"{BASE}/connect/upstreams/far/callback", f"{BASE}/client.json")
    caller, guarded.user = Caller(person=each.person, tier=Tier.PUBLIC), user
    departure = await connections.begin("far", caller, place)
    query = dict(parse_qsl(urlsplit(await each.arrive(departure.url)).query))
    await connections.finish("far", caller, place, query, departure.remembered)


async def added(each: Member, number: int) -> Any:
    """An answer; a busy machine's connection that broke says so, and is no token of another's."""
    for _ in range(100):
        answer = await each.add(number)
        if "the connection before" not in answer.text:
            break
        await asyncio.sleep(0.1)
    return answer


async def test_many_calls_renew_a_token_once(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        guarded.forget_access()
        answers = await asyncio.gather(*(ana.add(number) for number in range(20)))
        assert [each.structured["sum"] for each in answers] == [n + 2 for n in range(20)]
        assert guarded.refreshes["ana-there"] == 1


async def test_two_replicas_renew_a_token_once(guarded: Guarded, tmp_path: Path) -> None:
    # Each refresh token is good for once: a second renewal with the same one would be refused.
    async with portal_of(guarded, tmp_path) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        one, other = (replica(portal, guarded, store_of(portal, ConnectionStore)) for _ in range(2))
        for each in (one, other):
            await each.headers(ana.person)
        both = await asyncio.gather(*(each.refused(ana.person, REFUSED) for each in (one, other)))
        assert both == [True, True]
        for each in (one, other):
            each.forget(ana.person)
        assert await one.headers(ana.person) == await other.headers(ana.person)
        assert guarded.refreshes["ana-there"] == 1


async def test_what_a_renewal_gave_is_kept_though_the_database_fails_once(
    guarded: Guarded, tmp_path: Path
) -> None:
    # The refresh token before it is good for nothing any more.
    async with portal_of(guarded, tmp_path) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        store = store_of(portal, FailingStore)
        accounts = replica(portal, guarded, store)
        assert await accounts.refused(ana.person, REFUSED)
        assert store.asked == 2
        assert await accounts.refused(ana.person, REFUSED)
        assert await accounts.headers(ana.person)


async def test_a_token_that_was_read_before_a_renewal_is_not_remembered_after_it(
    guarded: Guarded, tmp_path: Path
) -> None:
    async with portal_of(guarded, tmp_path) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        store = store_of(portal, HeldStore)
        accounts = replica(portal, guarded, store)
        early = asyncio.create_task(accounts.headers(ana.person))
        await store.has_read.wait()
        refused = asyncio.create_task(accounts.refused(ana.person, REFUSED))
        await asyncio.wait({refused}, timeout=0.5)  # it may want to wait for who has read
        store.let_go.set()
        old = await early
        assert await refused
        new = await accounts.headers(ana.person)
        assert new != old
        accounts.forget(ana.person)
        assert new == await accounts.headers(ana.person)


async def test_a_token_is_renewed_before_it_ends(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        guarded.lifetime = 0  # said to be over as soon as it is given
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        guarded.lifetime = 3600
        await until_offered(portal, "far__add", tier="ana")
        assert (await ana.add()).structured == {"sum": 3}
        assert guarded.refreshes["ana-there"] >= 1


@pytest.mark.heavy
async def test_no_call_of_a_hundred_members_carries_anothers_token(guarded: Guarded) -> None:
    async with portal_of(guarded, calls=32, queue=1000, timeout="10m") as portal:
        members = [await member(portal, f"m{number}") for number in range(MEMBERS)]
        for number, each in enumerate(members):
            await connect(portal, guarded, each, str(number))
        await until_offered(portal, "far__add", tier="m0")
        guarded.forget_access()  # all of them are renewed in the middle of it
        calls = [added(each, number) for number, each in enumerate(members) for _ in range(3)]
        answers = await asyncio.gather(*calls)
        assert {each.text for each in answers if each.is_error} == set()
        assert len(guarded.calls) >= 3 * MEMBERS
        assert set(guarded.calls) == {(str(number), str(number)) for number in range(MEMBERS)}
        assert set(guarded.refreshes.values()) == {1}
