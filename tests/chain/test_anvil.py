"""The chain of the tests behaves as the real contracts do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eth_utils import keccak

from tests.chain.anvil import HATS, Chain, Reverted
from tests.chain.compiler import compiled

HAT = 30 << 224 | 3 << 208


def test_a_hat_is_worn_until_it_is_taken_or_turned_off(chain: Chain) -> None:
    wearer = chain.wallet().address
    assert chain.read(HATS, "isWearerOfHat", wearer, HAT) is False
    chain.give_hat(wearer, HAT)
    assert chain.read(HATS, "isWearerOfHat", wearer, HAT) is True
    assert chain.read(HATS, "balanceOfBatch", [wearer, wearer], [HAT, 1]) == (1, 0)
    chain.send(HATS, "setActive", HAT, False)
    assert chain.read(HATS, "isWearerOfHat", wearer, HAT) is False
    chain.send(HATS, "setActive", HAT, True)
    chain.send(HATS, "setEligible", wearer, HAT, False)
    assert chain.read(HATS, "balanceOf", wearer, HAT) == 0
    chain.send(HATS, "setEligible", wearer, HAT, True)
    chain.take_hat(wearer, HAT)
    assert chain.read(HATS, "isWearerOfHat", wearer, HAT) is False


def test_what_a_contract_refuses_is_an_error(chain: Chain) -> None:
    with pytest.raises(Reverted):
        chain.read(HATS, "balanceOfBatch", [chain.sender], [])
    collection = chain.deploy("erc721")
    chain.send(collection, "mint", chain.sender, 1)
    with pytest.raises(Reverted):
        chain.send(collection, "mint", chain.sender, 1)


def test_the_functions_are_those_of_hats_protocol(test_data: Path) -> None:
    facts = json.loads((test_data / "hats" / "hats.json").read_text())
    selectors = {entry["signature"]: entry["selector"] for entry in facts["abi"]}
    ours = {
        f"{name}({','.join(takes)})" for name, (takes, _) in compiled()["hats"].functions.items()
    }
    shared = ours & set(selectors)
    assert "isWearerOfHat(address,uint256)" in shared
    assert all(selectors[each] == "0x" + keccak(text=each)[:4].hex() for each in shared)
    assert facts["contract"] == HATS
