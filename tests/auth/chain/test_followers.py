"""Real contracts, real logs: what changes a role makes just that answer forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

from auth.chain.followers import Followers
from auth.chain.rpc import Rpc
from auth.fact_sources.hats import HatsSource
from auth.fact_sources.tokens import TokensSource
from auth.facts import UNWATCHED_MAX_AGE_S, Facts, Question, Source
from auth.hat_ids import path
from auth.rules import AccessRules
from tests.auth.chain.blocks import Places
from tests.auth.clocks import Clock
from tests.chain.anvil import HATS, Chain

HAT = 31 << 224 | 3 << 208


class World:
    """A portal's parts that read the chain, with a rule on a hat and one on each token."""

    def __init__(self, chain: Chain, rpc: Rpc) -> None:
        self.chain, self.places, self.clock = chain, Places(), Clock()
        self.holder = chain.wallet().address
        self.places.known = [self.holder]
        self.tokens = {each: chain.deploy(each) for each in ("erc20", "erc721", "erc1155")}
        hats = HatsSource(rpc, HATS)
        self.followers = Followers(
            {chain.id: rpc}, (chain.id, HATS), self.places, self.forget, 10.0, hats.is_by_module
        )
        sources: dict[str, Source] = {"hats": hats, "tokens": TokensSource({chain.id: rpc})}
        self.facts = Facts(sources, 1e9, clock=self.clock, unwatched=self.followers.unwatched)
        self.hat = Question("hats", ("wears", self.holder, HAT))

    def rules(self) -> AccessRules:
        held: list[dict[str, Any]] = [{"hat": path(HAT)}]
        for standard, contract in self.tokens.items():
            token = {"chain": 10, "contract": contract, "standard": standard}
            held.append({"token": token | ({"id": 7} if standard == "erc1155" else {})})
        return AccessRules.model_validate({"members": {"any_of": held}})

    async def forget(self, told: Iterable[str]) -> None:
        self.facts.forget(self.followers.concerned(list(told)))

    def balance(self, standard: str) -> Question:
        token = 7 if standard == "erc1155" else None
        key = ("balance", 10, self.tokens[standard], standard, token, self.holder)
        return Question("tokens", key)

    async def value(self, question: Question) -> Any:
        return (await self.facts.answers([question]))[question].value

    async def look(self) -> None:
        await self.followers.look()
        while not all(each.followed for each in self.followers.states):
            await asyncio.sleep(0)  # a follower before this one may have to stop still
            await self.followers.look()


@pytest.fixture
async def world(chain: Chain, rpc: Rpc) -> AsyncIterator[World]:
    world = World(chain, rpc)
    world.followers.begin(world.rules())
    await world.look()
    yield world
    await world.followers.close()
    await world.facts.close()


CHANGES: dict[str, Callable[[Chain, str], Any]] = {
    "given": lambda chain, holder: chain.give_hat(holder, HAT),
    "taken": lambda chain, holder: chain.take_hat(holder, HAT),
    "turned off": lambda chain, _: chain.send(HATS, "setActive", HAT, False),
    "turned on": lambda chain, _: chain.send(HATS, "setActive", HAT, True),
    "bad standing": lambda chain, holder: chain.send(HATS, "setEligible", holder, HAT, False),
    "good standing": lambda chain, holder: chain.send(HATS, "setEligible", holder, HAT, True),
    "other modules": lambda chain, holder: chain.send(HATS, "setModules", HAT, holder, holder),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_whatever_changes_who_wears_a_hat_is_seen(world: World, change: str) -> None:
    assert await world.value(world.hat) is False
    other = Question("hats", ("wears", world.holder, HAT + 1))
    await world.value(other)
    CHANGES[change](world.chain, world.holder)
    await world.look()
    assert world.facts.fresh([world.hat]) is None
    assert world.facts.fresh([other]) is not None


async def test_a_hat_that_was_taken_away_is_not_worn(world: World) -> None:
    world.chain.give_hat(world.holder, HAT)
    await world.look()
    assert await world.value(world.hat) is True
    world.chain.take_hat(world.holder, HAT)
    assert await world.value(world.hat) is True  # as it is remembered
    await world.look()
    assert await world.value(world.hat) is False


@pytest.mark.parametrize("standard", ["erc20", "erc721", "erc1155"])
async def test_a_token_that_was_given_away_is_not_held(world: World, standard: str) -> None:
    contract, question = world.tokens[standard], world.balance(standard)
    token = [7] if standard == "erc1155" else []
    of_others = Question("tokens", (*question.key[:-1], world.chain.sender))
    assert (await world.value(question), await world.value(of_others)) == (0, 0)
    amount = [7] if standard == "erc721" else [1]
    world.chain.send(contract, "mint", world.holder, *token, *amount)
    await world.look()
    assert await world.value(question) == 1
    burnt = [7] if standard == "erc721" else [world.holder, *token, 1]
    world.chain.send(contract, "burn", *burnt)
    assert await world.value(question) == 1
    await world.look()
    assert await world.value(question) == 0
    assert world.facts.fresh([of_others]) is not None


async def test_who_signs_in_later_is_followed_as_well(world: World) -> None:
    contract, question = world.tokens["erc20"], world.balance("erc20")
    world.places.known = []
    await world.look()
    world.chain.send(contract, "mint", world.holder, 1)
    world.places.known = [world.holder]
    assert await world.value(question) == 1
    world.chain.send(contract, "burn", world.holder, 1)
    await world.look()
    assert await world.value(question) == 0


async def test_a_block_that_is_replaced_takes_back_what_it_gave(world: World) -> None:
    before = world.chain.rpc("evm_snapshot")
    world.chain.give_hat(world.holder, HAT)
    await world.look()
    assert await world.value(world.hat) is True
    world.chain.rpc("evm_revert", before)
    world.chain.rpc("anvil_mine", "0x3")
    await world.look()
    assert await world.value(world.hat) is False


async def test_a_hat_of_a_module_is_asked_for_again_soon(world: World) -> None:
    module = world.chain.deploy("eligibility")
    world.chain.give_hat(world.holder, HAT)
    assert not world.followers.unwatched(world.hat)
    world.chain.send(HATS, "setModules", HAT, module, module)
    await world.look()
    assert await world.value(world.hat) is True
    assert world.followers.unwatched(world.hat)
    world.chain.send(module, "bar", world.holder)
    assert await world.value(world.hat) is True  # as it is remembered, and nobody will tell
    world.clock.pass_(UNWATCHED_MAX_AGE_S)
    assert await world.value(world.hat) is False


async def test_rules_that_change_change_what_is_followed(world: World) -> None:
    world.followers.apply(AccessRules())
    assert world.followers.states == []
    assert not world.followers.unwatched(world.hat)
    world.followers.apply(AccessRules.model_validate({"admins": {"hat": path(HAT)}}))
    await world.look()
    await world.value(world.hat)
    world.chain.give_hat(world.holder, HAT)
    await world.look()
    assert world.facts.fresh([world.hat]) is None
