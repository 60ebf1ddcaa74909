"""Whom an admin means by ``--as``."""

from datetime import timedelta

import pytest

from auth import Account, Tier
from auth.facts import Facts
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.rules import AccessRules
from auth.stores import utc_now
from auth.tokens.api_tokens import ApiTokens
from gateway.errors import NotFound
from gateway.identity.person_lookup import PersonLookup
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import open_database


@pytest.fixture
async def stores(tmp_path):
    service = open_database("sqlite", tmp_path)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    yield open_stores(database)
    await service.close()


@pytest.fixture
def whoever(stores):
    return PersonLookup(stores, Resolver(AccessRules(), Facts({})))


def tokens(stores, clock=utc_now):
    return ApiTokens(stores.tokens, stores.people, Revocations(stores.revocations), clock=clock)


async def test_an_operators_token_has_the_tier_that_it_grants(stores, whoever):
    await tokens(stores).create_operator("ci", Tier.MEMBERS, tools=["search"])
    caller, _ = await whoever.caller("token:ci")
    assert (caller.tier, caller.tools) == (Tier.MEMBERS, frozenset({"search"}))


async def test_an_operators_token_that_has_expired_is_nobody(stores, whoever):
    then = utc_now() - timedelta(days=2)
    before = tokens(stores, lambda: then)
    await before.create_operator("ci", Tier.MEMBERS, expires=then + timedelta(days=1))
    with pytest.raises(NotFound, match="still good"):
        await whoever.caller("token:ci")
    await tokens(stores).create_operator("ci", Tier.PUBLIC)
    assert (await whoever.caller("token:ci"))[0].tier is Tier.PUBLIC


@pytest.mark.parametrize("who", ["a\0b", "github:a\0b", "person:\0", "oidc:\ud800#x"])
async def test_what_no_database_can_hold_is_nobody(postgres, tmp_path, who):
    service = open_database(postgres, tmp_path)
    stores = open_stores(service.for_owner("gateway"))
    with pytest.raises(NotFound, match="holds characters"):
        await PersonLookup(stores, Resolver(AccessRules(), Facts({}))).caller(who)
    await service.close()


async def test_a_contract_wallet_that_never_signed_in_is_imagined_on_its_chain(whoever):
    address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    caller, _ = await whoever.caller(f"eip155:10:{address.lower()}")
    assert (caller.person, caller.tier) == (f"whoever holds eip155:10:{address}", Tier.PUBLIC)


async def test_an_address_of_several_people_is_asked_for_by_chain(stores, whoever):
    address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    key = await stores.people.signed_in(Account.of_key(address))
    assert (await whoever.caller(address))[0].person == key.id
    contract = await stores.people.signed_in(Account.of_contract(10, address))
    assert (await whoever.caller(f"eip155:10:{address}"))[0].person == contract.id
    with pytest.raises(NotFound, match="2 people's"):
        await whoever.caller(address)
