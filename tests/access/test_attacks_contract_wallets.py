"""Attacks with contract wallets: owners on one chain are nobody on another, nor owners for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import eth_abi
import pytest
from eth_account import Account as Key
from sqlalchemy import update

from auth import Account
from auth.hat_ids import parse
from auth.stores import Person
from gateway.identity.stores.tables import accounts
from tests.access.attacks import TIERS, Attacked, attacked, person_of
from tests.access.test_attacks_wallets import asked, given, signed
from tests.chain.anvil import Chain, running
from tests.gateway.surfaces.pages.browser import Browser

HAT = "30.3.1"
VALID = bytes.fromhex("1626ba7e").ljust(32, b"\0")
HATS = {**TIERS, "access": {"members": {"hat": HAT}}}


@dataclass
class Chains:
    """Two chains on which the same factory stands at the same address."""

    roles: Chain
    other: Chain
    factory: str


@contextmanager
def twins() -> Iterator[Chains]:
    with running(10) as roles, running(1) as other:
        made = [chain.deploy("wallet_factory", chain.deploy("wallet")) for chain in (roles, other)]
        assert made[0] == made[1]
        yield Chains(roles, other, made[0])


@pytest.fixture(scope="module")
def chains() -> Iterator[Chains]:
    with twins() as chains:
        yield chains


@pytest.fixture
async def portal(chains: Chains) -> AsyncIterator[Attacked]:
    listed = [{"id": each.id, "rpc": [each.url]} for each in (chains.roles, chains.other)]
    async with attacked(tiers=HATS, chains=listed) as portal:
        yield portal


@dataclass
class Treasury:
    """A contract wallet on the chain of roles; its first owner was removed.

    Attributes:
        address: where it is, and where the factory would put it on any chain for that owner.
        first: who owned it first; the factory's address for them is this one.
        owner: who owns it now, on the chain of roles.
    """

    address: str
    first: Any
    owner: Any


@pytest.fixture
def treasury(chains: Chains) -> Treasury:
    from eth_utils import to_checksum_address

    first, owner = Key.create(), Key.create()
    address = to_checksum_address(chains.roles.read(chains.factory, "create", first.address))
    chains.roles.send(chains.factory, "create", first.address)
    chains.roles._kinds[address] = "wallet"
    chains.roles.send(address, "handOver", owner.address)
    chains.roles.give_hat(address, parse(HAT))
    return Treasury(address, first, owner)


async def signs(
    portal: Attacked,
    chains: Chains,
    treasury: Treasury,
    by: Any,
    chain: int,
    browser: Browser | None = None,
) -> Browser:
    """The browser of somebody who signed for the treasury, wrapped as for one not deployed."""
    page = "/signin?link=1" if browser else "/signin"
    browser = browser or portal.browser()
    await browser.get(page)
    message = await asked(browser, treasury, chain=str(chain))
    deploying = chains.other.encode("wallet_factory", "create", treasury.first.address)
    whole = (chains.factory, deploying, bytes.fromhex(signed(by, message)[2:]))
    wrapped = eth_abi.encode(["address", "bytes", "bytes"], whole)
    await given(browser, message, "0x" + wrapped.hex() + "6492" * 16)
    return browser


async def tier(portal: Attacked, person: Person) -> str:
    return await portal.tier(await portal.api_token(person))


async def signed_in(portal: Attacked, browser: Browser) -> Person:
    person = await person_of(portal, browser)
    assert person is not None
    return person


async def old_account(portal: Attacked, address: str) -> Person:
    """Whoever signed in with an address before it was kept who had signed."""
    return await portal.person(Account(f"wallet:{address}", "wallet"))


async def test_an_owner_who_was_removed_is_nobody_by_a_proof_on_another_chain(
    portal: Attacked, chains: Chains, treasury: Treasury
) -> None:
    owner = await signed_in(portal, await signs(portal, chains, treasury, treasury.owner, 10))
    assert await tier(portal, owner) == "members"
    gone = await signs(portal, chains, treasury, treasury.first, 10)
    assert await person_of(portal, gone) is None
    elsewhere = await signed_in(portal, await signs(portal, chains, treasury, treasury.first, 1))
    assert elsewhere.id != owner.id
    assert await tier(portal, elsewhere) == "public"


async def test_a_proof_elsewhere_gives_nothing_to_whom_it_is_linked(
    portal: Attacked, chains: Chains, treasury: Treasury
) -> None:
    mallory = await portal.person()
    proved = Account.of_contract(1, treasury.address)
    await portal.who.accounts.link(mallory.id, proved)
    linked = await portal.who.stores.people.get(mallory.id)
    assert linked is not None
    assert proved in linked.accounts
    assert await tier(portal, linked) == "public"
    for rule, holds in (
        ({"address": treasury.address}, "public"),
        ({"address": f"eip155:10:{treasury.address}"}, "public"),
        ({"address": f"eip155:1:{treasury.address}"}, "members"),
    ):
        rules = type(portal.who.resolver._rules).model_validate({"members": rule})
        portal.who.resolver.apply(rules)
        assert await tier(portal, linked) == holds


async def test_no_contract_becomes_the_person_of_an_address_from_before_chains_were_kept(
    portal: Attacked, chains: Chains, treasury: Treasury
) -> None:
    old = await old_account(portal, treasury.address)
    assert await tier(portal, old) == "public"
    for by, chain in ((treasury.first, 1), (treasury.owner, 10)):
        browser = await signs(portal, chains, treasury, by, chain)
        assert (await signed_in(portal, browser)).id != old.id
        page = await browser.get("/account")
        assert "was another person" in page.text
    assert await portal.who.stores.people.get(old.id) == old


async def test_the_key_of_an_old_address_finds_its_person_and_is_counted_again(
    portal: Attacked, chains: Chains
) -> None:
    key, browser = Key.create(), portal.browser()
    chains.roles.give_hat(key.address, parse(HAT))
    old = await old_account(portal, key.address)
    assert await tier(portal, old) == "public"
    await browser.get("/signin")
    message = await asked(browser, key)
    await given(browser, message, signed(key, message))
    assert (await signed_in(portal, browser)).id == old.id
    assert await tier(portal, old) == "members"


async def test_an_old_persons_browser_takes_the_contract_wallet_along(
    portal: Attacked, chains: Chains, treasury: Treasury
) -> None:
    old = await old_account(portal, treasury.address)
    browser = portal.browser()
    cookie = await portal.who.sessions.begin(old.id)
    browser.client.cookies.set("porch_session", cookie)
    page = await browser.get("/account")
    assert "has to sign in once more" in page.text
    assert "Sign again" in page.text
    await signs(portal, chains, treasury, treasury.owner, 10, browser)
    person = await signed_in(portal, browser)
    assert person.id == old.id
    subjects = [account.subject for account in person.accounts]
    assert subjects == [f"wallet:eip155:10:{treasury.address}"]
    assert await tier(portal, person) == "members"
    assert "Sign again" not in (await browser.get("/account")).text


async def test_a_contract_wallet_counts_for_nothing_until_it_signs_again_after_its_time(
    portal: Attacked, chains: Chains, treasury: Treasury
) -> None:
    browser = await signs(portal, chains, treasury, treasury.owner, 10)
    person = await signed_in(portal, browser)
    token = await portal.api_token(person)
    assert await portal.tier(token) == "members"
    await long_ago(portal, person)
    assert await portal.tier(token) == "open"
    shown = (await browser.get("/account")).text
    assert "signed too long ago" in shown
    assert "Sign again" in shown
    await signs(portal, chains, treasury, treasury.owner, 10, browser)
    assert await portal.tier(token) == "members"


async def long_ago(portal: Attacked, person: Person) -> None:
    """Let thirty days pass since a person's accounts were proved."""
    then = datetime.now(UTC) - timedelta(days=30)
    late = update(accounts).where(accounts.c.person == person.id).values(proved=then)
    async with portal.portal.running.services.shared_database.begin() as connection:
        await connection.execute(late)
    await portal.who.revocations.revoke(person.id)


async def test_a_key_does_not_lapse_also_where_it_has_code(
    portal: Attacked, chains: Chains
) -> None:
    """EIP-7702: the code of a contract at the address of a key; the key still signs for all."""
    key, browser = Key.create(), portal.browser()
    chains.roles.give_hat(key.address, parse(HAT))
    chains.other.place("odd_wallet", key.address)
    await browser.get("/signin")
    message = await asked(browser, key, chain="1")
    await given(browser, message, signed(key, message))
    person = await signed_in(portal, browser)
    assert person.accounts == (Account.of_key(key.address),)
    await long_ago(portal, person)
    assert await tier(portal, person) == "members"


async def test_what_the_code_at_a_keys_address_says_is_not_the_keys_word(
    portal: Attacked, chains: Chains
) -> None:
    key, mallory = Key.create(), Key.create()
    chains.roles.give_hat(key.address, parse(HAT))
    chains.other.place("odd_wallet", key.address)
    chains.other.send(key.address, "be", False, VALID)
    owner = await portal.person(Account.of_key(key.address))
    browser = portal.browser()
    await browser.get("/signin")
    message = await asked(browser, key, chain="1")
    await given(browser, message, signed(mallory, message))
    person = await signed_in(portal, browser)
    assert person.id != owner.id
    assert await tier(portal, person) == "public"


@pytest.mark.parametrize(
    ("reverts", "answer"),
    [
        (True, VALID),
        (False, bytes(32)),
        (False, b"\xff" * 32),
        (False, VALID[:4] + b"\1" * 28),
        (False, bytes(28) + VALID[:4]),
    ],
    ids=["reverts", "nothing", "all", "more than that", "at the wrong end"],
)
async def test_a_contract_that_says_anything_but_yes_signs_nobody_in(
    portal: Attacked, chains: Chains, reverts: bool, answer: bytes
) -> None:
    wallet = chains.roles.deploy("odd_wallet")
    chains.roles.send(wallet, "be", reverts, answer)
    treasury = Treasury(wallet, Key.create(), Key.create())
    browser = await signs(portal, chains, treasury, treasury.owner, 10)
    assert await person_of(portal, browser) is None


async def test_a_wallet_that_is_deployed_later_is_asked_itself_and_an_upgrade_counts_at_once(
    portal: Attacked, chains: Chains
) -> None:
    from eth_utils import to_checksum_address

    first, later = Key.create(), Key.create()
    address = to_checksum_address(chains.roles.read(chains.factory, "create", first.address))
    wallet = Treasury(address, first, later)
    person = await signed_in(portal, await signs(portal, chains, wallet, first, 10))
    chains.roles.send(chains.factory, "create", first.address)
    again = await signed_in(portal, await signs(portal, chains, wallet, first, 10))
    assert again.id == person.id
    chains.roles._kinds[address] = "wallet"
    chains.roles.send(address, "handOver", later.address)
    assert await person_of(portal, await signs(portal, chains, wallet, first, 10)) is None
    new = await signed_in(portal, await signs(portal, chains, wallet, later, 10))
    assert new.id == person.id
    chains.roles.place("odd_wallet", address)
    assert await person_of(portal, await signs(portal, chains, wallet, later, 10)) is None
