"""ENS names: shown where they lead back, remembered for an hour, and never in the way."""

from __future__ import annotations

import pytest

from auth.chain.ens import NAME_CACHE_S, NAME_CACHE_SIZE, RETRY_INTERVAL_S, EnsNames
from auth.chain.rpc import Rpc
from tests.chain.anvil import Chain


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_an_address_is_called_by_the_name_that_leads_to_it(rpc: Rpc, chain: Chain) -> None:
    address = chain.wallet().address
    assert await EnsNames(rpc).name(address) is None
    chain.name_wallet(address, "garden.alice.eth")
    assert await EnsNames(rpc).name(address) == "garden.alice.eth"


async def test_a_name_that_leads_elsewhere_is_not_shown(rpc: Rpc, chain: Chain) -> None:
    address, other = chain.wallet().address, chain.wallet().address
    chain.name_wallet(address, "vitalik.eth", of=other)
    assert await EnsNames(rpc).name(address) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "eth",
        "Alice.eth",
        "alice..eth",
        "alice.eth.",
        "\u0430lice.eth",
        "ali\u200bce.eth",
        "\u202ealice.eth",
        "alice .eth",
        "<b>.eth",
        "xn--alice.eth",
        "al_ice.eth",
        "a" * 80 + ".eth",
    ],
)
async def test_a_name_that_could_deceive_is_not_shown(rpc: Rpc, chain: Chain, name: str) -> None:
    address = chain.wallet().address
    chain.name_wallet(address, name)
    assert await EnsNames(rpc).name(address) is None


async def test_a_name_is_believed_for_an_hour(rpc: Rpc, chain: Chain) -> None:
    clock = Clock()
    names, address = EnsNames(rpc, clock), chain.wallet().address
    chain.name_wallet(address, "before.eth")
    assert await names.name(address) == "before.eth"
    chain.name_wallet(address, "after.eth")
    clock.now = NAME_CACHE_S - 1
    assert await names.name(address) == "before.eth"
    clock.now = NAME_CACHE_S
    assert await names.name(address) == "after.eth"


async def test_a_chain_that_does_not_answer_gives_no_name_and_is_asked_again_soon(
    chain: Chain,
) -> None:
    clock = Clock()
    rpc = Rpc(chain.id, ["http://127.0.0.1:9"])
    names, address = EnsNames(rpc, clock), chain.wallet().address
    chain.name_wallet(address, "alice.eth")
    assert await names.name(address) is None
    await rpc.close()
    names._rpc = rpc = Rpc(chain.id, [chain.url])
    assert await names.name(address) is None
    clock.now = RETRY_INTERVAL_S
    assert await names.name(address) == "alice.eth"
    await rpc.close()


async def test_an_outage_takes_nobodys_name_away(chain: Chain) -> None:
    async def remembered(address: str) -> str | None:
        return "alice.eth" if address == alice else None

    clock, alice, bob = Clock(), chain.wallet().address, chain.wallet().address
    chain.name_wallet(alice, "after.eth")
    rpc = Rpc(chain.id, ["http://127.0.0.1:9"])
    names = EnsNames(rpc, clock, remembered)
    assert await names.name(alice) == "alice.eth"
    assert await names.name(bob) is None
    await rpc.close()
    names._rpc = rpc = Rpc(chain.id, [chain.url])
    clock.now = RETRY_INTERVAL_S
    assert await names.name(alice) == "after.eth"
    await rpc.close()


async def test_a_name_that_was_given_up_is_not_the_one_remembered(rpc: Rpc, chain: Chain) -> None:
    async def remembered(address: str) -> str | None:
        return "given-up.eth"

    assert await EnsNames(rpc, remembered=remembered).name(chain.wallet().address) is None


async def test_only_so_many_names_are_remembered(chain: Chain) -> None:
    names = EnsNames(Rpc(chain.id, []))
    for number in range(NAME_CACHE_SIZE + 10):
        assert await names.name(f"0x{number:040x}") is None
    assert len(names._known) == NAME_CACHE_SIZE
