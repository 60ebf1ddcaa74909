"""What contract wallets say of signatures; the sign-in's own tests say more."""

from __future__ import annotations

import eth_abi
import pytest
from eth_account import Account as Keys
from eth_utils import keccak

from auth.chain.contract_signatures import ContractWallets
from auth.chain.rpc import Rpc
from auth.facts import SourceUnavailable
from tests.chain.anvil import HATS, Chain

DIGEST = keccak(text="a message")
owner = Keys.from_key("0x" + "5a" * 32)


def signature() -> bytes:
    return bytes(owner.unsafe_sign_hash(DIGEST).signature)


async def test_a_wallet_says_whether_its_owner_signed(rpc: Rpc, chain: Chain) -> None:
    wallet = chain.deploy("wallet")
    chain.send(wallet, "setUp", owner.address)
    wallets = ContractWallets({10: rpc})
    assert wallets.can_read(10)
    assert not wallets.can_read(1)
    assert await wallets.signed(10, wallet, DIGEST, signature())
    assert not await wallets.signed(10, wallet, keccak(text="another"), signature())
    assert not await wallets.signed(10, wallet, DIGEST, b"")


async def test_a_contract_that_is_no_wallet_says_nothing(rpc: Rpc) -> None:
    assert not await ContractWallets({10: rpc}).signed(10, HATS, DIGEST, signature())


async def test_a_call_that_deploys_nothing_proves_nothing(rpc: Rpc, chain: Chain) -> None:
    for deploying in (b"", b"\x00" * 4, chain.encode("hats", "give", owner.address, 1)):
        whole = eth_abi.encode(["address", "bytes", "bytes"], [HATS, deploying, signature()])
        wrapped = whole + bytes.fromhex("6492" * 16)
        for address in (owner.address, HATS, f"0x{4:040x}"):
            assert not await ContractWallets({10: rpc}).signed(10, address, DIGEST, wrapped)
    # What was simulated has not happened.
    assert chain.read(HATS, "isWearerOfHat", owner.address, 1) is False


async def test_an_outage_is_not_a_no(chain: Chain) -> None:
    rpc = Rpc(10, ["http://127.0.0.1:9"])
    with pytest.raises(SourceUnavailable):
        await ContractWallets({10: rpc}).signed(10, HATS, DIGEST, signature())
    await rpc.close()
