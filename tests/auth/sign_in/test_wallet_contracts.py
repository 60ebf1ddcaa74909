"""Signing in with a contract wallet, deployed (EIP-1271) or not yet (EIP-6492)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import eth_abi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth.chain.contract_signatures import ContractWallets
from auth.chain.ens import EnsNames
from auth.chain.rpc import Rpc
from tests.auth.wallets import Portal, alice, mallory, signed
from tests.chain.anvil import MULTICALL, Chain, running
from tests.examples import examples


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running(chain_id=10) as chain:
        yield chain


@pytest.fixture
async def on_chain(chain: Chain) -> AsyncIterator[Portal]:
    """A portal that reads the chain."""
    rpc = Rpc(10, [chain.url])
    yield Portal(contracts=ContractWallets({10: rpc}), names=EnsNames(rpc))
    await rpc.close()


def factory(chain: Chain) -> str:
    return chain.deploy("wallet_factory", chain.deploy("wallet"))


def wrapped(chain: Chain, at: str, owner: str, signature: str) -> str:
    deploying = chain.encode("wallet_factory", "create", owner)
    whole = (at, deploying, bytes.fromhex(signature[2:]))
    return "0x" + eth_abi.encode(["address", "bytes", "bytes"], whole).hex() + "6492" * 16


async def test_a_contract_wallet_signs_in_by_its_owner(on_chain: Portal, chain: Chain) -> None:
    wallet = chain.deploy("wallet")
    chain.send(wallet, "setUp", alice.address)
    message = on_chain.challenge(wallet)
    assert "not of" in await on_chain.refused(message, signed(message, by=mallory))
    assert "not of" in await on_chain.refused(message, signed("another message"))
    assert "not of" in await on_chain.refused(message, "0x")
    account = await on_chain.verify(message, signed(message))
    assert (account.subject, account.signer) == (f"wallet:eip155:10:{wallet}", "contract")
    assert (account.address, account.chain) == (wallet, 10)


async def test_an_address_without_a_contract_is_not_signed_for(
    on_chain: Portal, chain: Chain
) -> None:
    message = on_chain.challenge(chain.wallet().address)
    assert "not of" in await on_chain.refused(message, signed(message))


@pytest.mark.parametrize("precompiled", [1, 2, 3, 4, 5])
async def test_a_contract_that_answers_anything_else_is_not_signed_for(
    on_chain: Portal, precompiled: int
) -> None:
    # The fourth says whatever it is told, so its answer begins as the right one does.
    message = on_chain.challenge(f"0x{precompiled:040x}")
    assert "not of" in await on_chain.refused(message, signed(message))


async def test_a_chain_that_does_not_answer_is_told_and_can_be_tried_again(
    on_chain: Portal, chain: Chain
) -> None:
    wallet = chain.deploy("wallet")
    chain.send(wallet, "setUp", alice.address)
    message = on_chain.challenge(wallet)
    reading, on_chain.contracts = on_chain.contracts, None
    assert "does not read the chain 10" in await on_chain.refused(message, signed(message))
    down = Rpc(10, ["http://127.0.0.1:9/secret-key"])
    on_chain.contracts = ContractWallets({10: down})
    reason = await on_chain.refused(message, signed(message))
    assert "does not answer" in reason
    assert "secret-key" not in reason
    on_chain.contracts = reading
    assert await on_chain.verify(message, signed(message))
    await down.close()


async def test_a_wallet_that_is_not_deployed_yet_signs_in(on_chain: Portal, chain: Chain) -> None:
    at = factory(chain)
    wallet = chain.read(at, "create", alice.address)
    message = on_chain.challenge(wallet)
    good = wrapped(chain, at, alice.address, signed(message))
    assert "not of" in await on_chain.refused(message, signed(message))
    bad = wrapped(chain, at, alice.address, signed(message, by=mallory))
    assert "not of" in await on_chain.refused(message, bad)
    other = wrapped(chain, at, mallory.address, signed(message, by=mallory))
    assert "not of" in await on_chain.refused(message, other)
    account = await on_chain.verify(message, good)
    assert account.address.lower() == wallet
    assert account.chain == 10
    assert chain.rpc("eth_getCode", wallet, "latest") == "0x"


async def test_a_wrapped_signature_is_good_after_the_wallet_is_deployed(
    on_chain: Portal, chain: Chain
) -> None:
    at = factory(chain)
    wallet = chain.read(at, "create", alice.address)
    message = on_chain.challenge(wallet)
    chain.send(at, "create", alice.address)
    assert await on_chain.verify(message, wrapped(chain, at, alice.address, signed(message)))


async def test_a_deployed_wallet_needs_no_multicall(on_chain: Portal, chain: Chain) -> None:
    at = factory(chain)
    wallet = chain.read(at, "create", alice.address)
    message = on_chain.challenge(wallet)
    chain.remove(MULTICALL)
    try:
        good = wrapped(chain, at, alice.address, signed(message))
        assert "not of" in await on_chain.refused(message, good)
        chain.send(at, "create", alice.address)
        assert await on_chain.verify(message, good)
    finally:
        chain.place("multicall", MULTICALL)


@settings(max_examples=examples(20), deadline=None)
@given(garbage=st.binary(max_size=200))
async def test_a_wrapping_around_nothing_is_refused(garbage: bytes) -> None:
    portal = Portal(contracts=ContractWallets({10: Rpc(10, [])}))
    reason = await portal.refused(portal.challenge(), "0x" + garbage.hex() + "6492" * 16)
    assert "not of" in reason


async def test_the_name_of_a_wallet_is_shown(on_chain: Portal, chain: Chain) -> None:
    chain.name_wallet(alice.address, "alice.eth")
    message = on_chain.challenge()
    assert (await on_chain.verify(message, signed(message))).name == "alice.eth"
