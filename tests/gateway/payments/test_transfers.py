"""Credits that are paid by a transfer of a token, on a real chain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from auth.callers import Account
from gateway.payments.erasure import PaymentErasure
from gateway.payments.transfers import Transfers
from gateway.testing import TestPortal, open_test_portal
from tests.chain.anvil import Chain
from tests.chain.anvil import chain as chain
from tests.gateway.payments.conftest import PLANS, told
from tests.journeys import garden

pytestmark = pytest.mark.heavy

RECEIVER = "0x000000000000000000000000000000000000c0De"
CONFIRMATIONS = 8
USDC = 10**6


@pytest.fixture
def token(chain: Chain) -> str:
    return chain.deploy("erc20")


def config(chain: Chain, token: str, **others: Any) -> dict[str, Any]:
    settings = {
        "chain": chain.id,
        "token": token,
        "symbol": "USDC",
        "decimals": 6,
        "receiver": RECEIVER,
        "price": "0.50",
        "confirmations": CONFIRMATIONS,
        **others,
    }
    return {"chains": [{"id": chain.id, "rpc": [chain.url]}], "payments": {"chain": settings}}


@pytest.fixture
async def portal(chain: Chain, token: str) -> AsyncIterator[TestPortal]:
    async with open_test_portal(garden, config=config(chain, token), plans=PLANS) as found:
        mine(chain, CONFIRMATIONS + 1)
        await transfers_of(found).look()  # from here on it reads
        yield found


def transfers_of(portal: TestPortal) -> Transfers:
    payments = portal.running.payments
    assert payments is not None
    assert payments.chain is not None
    return payments.chain


def mine(chain: Chain, blocks: int = CONFIRMATIONS) -> None:
    chain.rpc("anvil_mine", hex(blocks))


def pay(chain: Chain, token: str, wallet: str, amount: int, to: str = RECEIVER) -> None:
    """Have a wallet transfer some of the token."""
    chain.send(token, "mint", wallet, amount)
    chain.rpc("anvil_setBalance", wallet, hex(10**18))
    chain.rpc("anvil_impersonateAccount", wallet)
    data = chain.encode("erc20", "transfer", to, amount)
    transaction = {"from": wallet, "to": token, "data": "0x" + data.hex()}
    chain.rpc("eth_sendTransaction", transaction)
    chain.rpc("anvil_stopImpersonatingAccount", wallet)


async def has(portal: TestPortal, who: str = "ann") -> str:
    found: str = (await told(portal, "get_usage", who))["bought_usd"]
    return found


async def test_a_transfer_is_credit_once_it_is_deep_enough(
    portal: TestPortal, chain: Chain, token: str
) -> None:
    wallet = chain.wallet().address
    await portal.sign_in("ann", Account.of_key(wallet))
    pay(chain, token, wallet, 6 * USDC + 1)
    chain.send(token, "mint", RECEIVER, 9 * USDC)  # from nobody
    pay(chain, token, wallet, USDC, to=wallet)  # to somebody else
    reader = transfers_of(portal)
    assert await reader.look() == 0
    assert await has(portal) == "0"
    mine(chain)
    assert await reader.look() == 1
    assert await has(portal) == "3.0000005"
    assert await reader.look() == 0
    assert await reader.read_again(1000) == 0
    assert await has(portal) == "3.0000005"
    state = await told(portal, "get_payments", "ann")
    assert state["token"]["wallets"] == [wallet]
    assert [each["how"] for each in state["bought"]] == ["USDC"]


async def test_a_transfer_from_an_unknown_wallet_waits_until_it_is_linked(
    portal: TestPortal, chain: Chain, token: str
) -> None:
    await portal.sign_in("ann")
    wallet = chain.wallet().address
    pay(chain, token, wallet, 4 * USDC)
    mine(chain)
    reader = transfers_of(portal)
    assert await reader.look() == 0
    who = portal.running.authentication
    (ann,) = [each async for each in who.stores.people.everyone()]
    await who.accounts.link(ann.id, Account.of_key(wallet))
    assert await reader.look() == 1
    assert await has(portal) == "2"


async def test_a_contracts_wallet_is_its_persons_on_its_own_chain_alone(
    portal: TestPortal, chain: Chain, token: str
) -> None:
    here, elsewhere = chain.wallet().address, chain.wallet().address
    await portal.sign_in("ann", Account.of_contract(chain.id, here))
    await portal.sign_in("bob", Account.of_contract(chain.id + 1, elsewhere))
    for wallet in (here, elsewhere):
        pay(chain, token, wallet, 2 * USDC)
    mine(chain)
    assert await transfers_of(portal).look() == 1
    assert (await has(portal), await has(portal, "bob")) == ("1", "0")


async def test_a_reorganisation_credits_what_is_there_after_it(
    portal: TestPortal, chain: Chain, token: str
) -> None:
    wallet = chain.wallet().address
    await portal.sign_in("ann", Account.of_key(wallet))
    before = chain.rpc("evm_snapshot")
    pay(chain, token, wallet, 8 * USDC)
    reader = transfers_of(portal)
    await reader.look()
    chain.rpc("evm_revert", before)
    pay(chain, token, wallet, 2 * USDC)
    mine(chain, CONFIRMATIONS + 3)
    await reader.look()
    assert await has(portal) == "1"


async def test_many_blocks_are_read_in_pieces_and_two_replicas_credit_once(
    chain: Chain, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.payments.transfers.MAX_BLOCKS", 4)
    first = int(chain.rpc("eth_blockNumber"), 16)
    wallet = chain.wallet().address
    for _ in range(5):
        pay(chain, token, wallet, 2 * USDC)
        mine(chain)
    both = config(chain, token, from_block=first)
    async with open_test_portal(garden, config=both, plans=PLANS, data_dir=tmp_path) as one:
        await one.sign_in("ann", Account.of_key(wallet))
        async with open_test_portal(garden, config=both, plans=PLANS, data_dir=tmp_path) as other:
            looks = [transfers_of(each).look() for each in (one, other, one, other)]
            assert sum(await asyncio.gather(*looks)) == 5
            assert await has(one) == "5"


async def test_the_job_looks_and_who_left_is_not_credited_again(
    portal: TestPortal, chain: Chain, token: str
) -> None:
    wallet = chain.wallet().address
    ann = await portal.sign_in("ann", Account.of_key(wallet))
    pay(chain, token, wallet, 2 * USDC)
    mine(chain)
    jobs = portal.running.services.jobs.for_owner("payments")
    id = await jobs.enqueue("transfers", {})
    while (status := await jobs.status(id)) is None or status.state in ("queued", "running"):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert status.result == {"credited": 1}
    payments = portal.running.payments
    assert payments is not None
    erasure = PaymentErasure(payments)
    assert ann.id in await erasure.people()
    await portal.running.authentication.stores.people.delete(ann.id)
    await erasure.erase(ann.id)
    assert await erasure.people() == set()
    await portal.sign_in("zoe", Account.of_key(wallet))
    assert await transfers_of(portal).read_again(1000) == 0
    assert await transfers_of(portal).look() == 0
    assert await has(portal, "zoe") == "0"
