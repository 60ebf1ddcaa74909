"""Logs as bytes: whom they concern, and what is not as its event has it."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from auth.chain.event_logs import MAX_FILTER_ADDRESSES, PREFIX, Watch, chain_of, everything, tags
from auth.facts import Question
from tests.chain.anvil import HATS

HAT, OTHER = 30 << 224, 31 << 224
ANA, BEN = "0x" + "Aa" * 20, "0x" + "bB" * 20
TOKEN = "0x" + "Cc" * 20
WATCH = Watch(10, HATS, frozenset({HAT}), {TOKEN: "erc20"})


def log(address: str, event: str, indexed: list[str], types: list[str], *data: Any) -> Any:
    topics = ["0x" + keccak(text=event).hex(), *("0x" + "0" * 24 + each[2:] for each in indexed)]
    return {"address": address, "topics": topics, "data": "0x" + encode(types, data).hex()}


def of_hat(wearer: str) -> str:
    return f"{PREFIX}hats:{HAT:x}:{wearer.lower()}"


SINGLE = "TransferSingle(address,address,address,uint256,uint256)"
BATCH = "TransferBatch(address,address,address,uint256[],uint256[])"
WORDS = ["uint256", "uint256"]


def test_each_of_many_hats_that_are_moved_at_once_counts() -> None:
    moved = log(HATS, BATCH, [ANA, ANA, BEN], ["uint256[]"] * 2, [OTHER, HAT], [1, 1])
    assert WATCH.concerns(moved) == {of_hat(ANA), of_hat(BEN)}


def test_hats_and_contracts_that_no_rule_names_concern_nobody() -> None:
    assert not WATCH.concerns(log(HATS, SINGLE, [ANA, ANA, BEN], WORDS, OTHER, 1))
    assert not WATCH.concerns(log(BEN, SINGLE, [ANA, ANA, BEN], WORDS, HAT, 1))
    assert not WATCH.concerns(log(HATS, "HatDetailsChanged(uint256,string)", [], WORDS, HAT, 1))
    assert not Watch(10).concerns(log(HATS, SINGLE, [ANA, ANA, BEN], WORDS, HAT, 1))


@given(
    topics=st.lists(st.one_of(st.none(), st.text(max_size=70)), max_size=4),
    data=st.one_of(st.none(), st.text(max_size=20), st.binary(max_size=200).map(bytes.hex)),
    event=st.sampled_from([SINGLE, BATCH, "WearerStandingChanged(uint256,address,bool)"]),
)
def test_what_cannot_be_read_concerns_all_or_nobody_and_raises_nothing(
    topics: list[Any], data: Any, event: str
) -> None:
    known = ["0x" + keccak(text=event).hex(), *topics]
    for each in (topics, known):
        said = {"address": HATS, "topics": each, "data": data}
        assert all(tag.startswith(PREFIX) for tag in WATCH.concerns(said))
    short = {"address": HATS.lower(), "topics": known[:1], "data": "0x00"}
    assert WATCH.concerns(short) == {everything(10)}


def test_a_question_is_concerned_by_its_own_tags_alone() -> None:
    wears = Question("hats", ("wears", ANA, HAT))
    assert tags(wears, 10) == {of_hat(ANA), of_hat("*"), everything(10)}
    balance = Question("tokens", ("balance", 1, TOKEN, "erc20", None, ANA))
    assert tags(balance, 10) == {
        f"{PREFIX}tokens:1:{TOKEN.lower()}:{ANA.lower()}",
        everything(1),
    }
    decimals = Question("tokens", ("decimals", 1, TOKEN))
    assert tags(decimals, 10) == {everything(1)}
    github = Question("github", ("org", 1, "garden"))
    assert tags(github, 10) == frozenset()
    chains = [chain_of(each, 10) for each in (wears, balance, decimals, github)]
    assert chains == [10, 1, 1, None]


@pytest.mark.parametrize(("standard", "per_part"), [("erc20", 2), ("erc721", 2), ("erc1155", 2)])
def test_tokens_are_followed_for_the_known_people_only(standard: str, per_part: int) -> None:
    watch = Watch(1, tokens={TOKEN: standard})
    assert watch.filters([]) == []
    people = [f"0x{number:040x}" for number in range(MAX_FILTER_ADDRESSES + 1)]
    filters = watch.filters(people)
    assert len(filters) == 2 * per_part
    named = [set(each["topics"][-1]) for each in filters]
    assert set().union(*named) == {"0x" + "0" * 24 + each[2:] for each in people}
    assert max(map(len, named)) == MAX_FILTER_ADDRESSES
