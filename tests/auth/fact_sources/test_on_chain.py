"""Hats and tokens, read from real contracts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth.chain.rpc import Rpc
from auth.fact_sources.hats import HatsSource
from auth.fact_sources.tokens import TokensSource
from auth.facts import Question, SourceUnavailable
from tests.chain.anvil import HATS, Chain
from tests.examples import examples

HAT = 30 << 224 | 3 << 208 | 1 << 192


def wears(address: str, hat: int) -> Question:
    return Question("hats", ("wears", address, hat))


def balance(
    contract: str, standard: str, address: str, token: int | None = None, chain: int = 10
) -> Question:
    return Question("tokens", ("balance", chain, contract, standard, token, address))


async def test_many_hats_are_read_at_once(rpc: Rpc, chain: Chain) -> None:
    wearers = [chain.wallet().address for _ in range(3)]
    chain.give_hat(wearers[0], HAT)
    chain.give_hat(wearers[1], HAT + 1)
    questions = [wears(wearer, hat) for wearer in wearers for hat in (HAT, HAT + 1)]
    answers = await HatsSource(rpc, HATS).answers(questions)
    assert [answers[each] for each in questions] == [True, False, False, True, False, False]


async def test_a_hat_that_is_taken_or_turned_off_is_not_worn(rpc: Rpc, chain: Chain) -> None:
    wearer, hat = chain.wallet().address, HAT + 2
    source, question = HatsSource(rpc, HATS), wears(wearer, hat)
    chain.give_hat(wearer, hat)
    assert (await source.answers([question]))[question] is True
    chain.send(HATS, "setActive", hat, False)
    assert (await source.answers([question]))[question] is False
    chain.send(HATS, "setActive", hat, True)
    chain.take_hat(wearer, hat)
    assert (await source.answers([question]))[question] is False


async def test_every_id_of_the_test_vectors_is_read(
    rpc: Rpc, chain: Chain, test_data: Path
) -> None:
    facts = json.loads((test_data / "hats" / "hats.json").read_text())
    wearer = chain.wallet().address
    hats = [int(vector["hex"], 16) for vector in facts["vectors"]]
    for hat in hats:
        chain.give_hat(wearer, hat)
    answers = await HatsSource(rpc, facts["contract"]).answers([wears(wearer, hat) for hat in hats])
    assert list(answers.values()) == [True] * len(hats)


async def test_no_question_asks_nobody() -> None:
    assert await HatsSource(Rpc(10, []), HATS).answers([]) == {}
    assert await TokensSource({}).answers([]) == {}


@pytest.mark.parametrize("kind", [None, "erc20", "wallet"])
async def test_what_is_no_hats_contract_neither_says_yes_nor_no(
    rpc: Rpc, chain: Chain, kind: str | None
) -> None:
    address = chain.deploy(kind) if kind else chain.wallet().address
    source = HatsSource(rpc, address)
    with pytest.raises(SourceUnavailable, match=f"No Hats contract answers at {address}"):
        await source.answers([wears(chain.sender, HAT)])


@settings(max_examples=examples(30), deadline=None)
@given(returned=st.binary(max_size=70))
async def test_only_a_whole_truth_value_is_a_fact(chain: Chain, returned: bytes) -> None:
    # A contract that returns these bytes whatever it is asked: PUSH1 n, CODECOPY, RETURN.
    address, size = "0x" + "be" * 20, len(returned)
    code = bytes.fromhex(f"60{size:02x}600c60003960{size:02x}6000f3") + returned
    chain.rpc("anvil_setCode", address, "0x" + code.hex())
    rpc, question = Rpc(chain.id, [chain.url]), wears(chain.sender, HAT)
    try:
        answers = await HatsSource(rpc, address).answers([question])
    except SourceUnavailable:
        assert returned not in (bytes(32), bytes(31) + b"\x01")
    else:
        assert returned == int(answers[question]).to_bytes(32)
    finally:
        await rpc.close()


async def test_balances_of_each_standard_are_read(rpc: Rpc, chain: Chain) -> None:
    holder = chain.wallet().address
    coin, art, mixed = (chain.deploy(kind) for kind in ("erc20", "erc721", "erc1155"))
    chain.send(coin, "mint", holder, 2_500_000)
    chain.send(art, "mint", holder, 7)
    chain.send(mixed, "mint", holder, 9, 4)
    expected = {
        balance(coin, "erc20", holder): 2_500_000,
        balance(art, "erc721", holder): 1,
        balance(mixed, "erc1155", holder, 9): 4,
        balance(mixed, "erc1155", holder, 8): 0,
        balance(coin, "erc20", chain.sender): 0,
        Question("tokens", ("decimals", 10, coin)): 6,
    }
    assert await TokensSource({10: rpc}).answers(list(expected)) == expected


async def test_what_is_no_token_is_left_out_and_the_rest_is_known(rpc: Rpc, chain: Chain) -> None:
    coin, nobody = chain.deploy("erc20"), chain.wallet().address
    good = balance(coin, "erc20", nobody)
    bad = [
        balance(nobody, "erc20", nobody),
        balance(coin, "erc1155", nobody, 1),
        balance(coin, "erc20", nobody, chain=1),
        Question("tokens", ("decimals", 10, chain.deploy("erc721"))),
    ]
    source = TokensSource({10: rpc})
    assert await source.answers([good, *bad]) == {good: 0}
    for each in bad:
        with pytest.raises(SourceUnavailable):
            await source.answers([each])


async def test_a_chain_that_is_not_configured_is_named(rpc: Rpc, chain: Chain) -> None:
    with pytest.raises(SourceUnavailable, match="The chain 5 has no entry under chains"):
        await TokensSource({10: rpc}).answers([balance(HATS, "erc20", chain.sender, chain=5)])


async def test_one_chain_that_does_not_answer_leaves_the_others_known(
    rpc: Rpc, chain: Chain
) -> None:
    down, coin = Rpc(1, ["http://127.0.0.1:9"]), chain.deploy("erc20")
    good, unknown = (balance(coin, "erc20", chain.sender, chain=each) for each in (10, 1))
    source = TokensSource({10: rpc, 1: down})
    assert await source.answers([good, unknown]) == {good: 0}
    await down.close()
