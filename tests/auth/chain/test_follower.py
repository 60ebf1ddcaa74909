"""The follower: whatever chain, node, database and process do, no answer outlives its change."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auth.chain import follower as module
from auth.chain.event_logs import Watch, everything, tags
from auth.chain.follower import (
    LEASE_TIMEOUT_S,
    MAX_GAP_BLOCKS,
    MAX_SILENCE_S,
    MAX_STILL_HEAD_S,
    NEWS_REPEAT_S,
    REORG_WINDOW_BLOCKS,
    Follower,
)
from auth.chain.rpc import Rpc
from auth.facts import Facts, Question
from auth.stores import StoreUnavailable
from tests.auth.chain.blocks import HAT_IDS, WEARERS, Blocks, Node, Places
from tests.auth.clocks import Clock
from tests.chain.anvil import HATS
from tests.examples import examples

CHAIN = 10
QUESTIONS = [Question("hats", ("wears", who, hat)) for who in WEARERS for hat in HAT_IDS]
FOREVER = 1e12


class World:
    """Two replicas that follow one chain, and what each remembers."""

    def __init__(self, nodes: int = 1) -> None:
        self.blocks, self.clock, self.places = Blocks(), Clock(), Places()
        self.nodes = [Node(self.blocks) for _ in range(nodes)]
        self.told: list[str] = []
        self.facts = [Facts({"hats": self}, FOREVER, clock=self.clock) for _ in range(2)]
        self.followers = [self.started() for _ in range(2)]

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, Any]:
        return {each: self.blocks.worn(each) for each in questions}

    def started(self) -> Follower:
        rpc = Rpc(CHAIN, [], clock=self.clock)
        rpc._endpoints = list(self.nodes)  # type: ignore[arg-type]
        watch = Watch(CHAIN, HATS, frozenset(HAT_IDS))
        return Follower(rpc, watch, self.places, self.forget, self.clock)

    async def forget(self, told: Iterable[str]) -> None:
        told = list(told)
        self.told += told
        for facts in self.facts:
            facts.forget(lambda each: not tags(each, CHAIN).isdisjoint(told))

    async def ask(self, replica: int = 0) -> dict[Question, Any]:
        found = await self.facts[replica].answers(QUESTIONS)
        return {question: answer.value for question, answer in found.items()}

    async def look(self, replica: int = 0) -> bool:
        """Whether that replica read up to the head."""
        while await self.followers[replica].look():
            pass
        return self.followers[replica].state.leads and self.followers[replica].is_heard

    async def caught_up(self) -> None:
        """Everything is in order again, and somebody follows."""
        self.places.down = False
        for node in self.nodes:
            node.down, node.says = False, None
        for _ in range(3):
            self.clock.pass_(NEWS_REPEAT_S + 1)  # so that nothing counts again by then
            self.blocks.mine()
            if any([await self.look(0), await self.look(1)]):
                return
        raise AssertionError("nobody follows")

    def stale(self) -> list[Question]:
        """What a replica remembers that is not so any more."""
        return [
            question
            for facts in self.facts
            for question in QUESTIONS
            if (kept := facts.fresh([question])) and kept[0].value != self.blocks.worn(question)
        ]


@pytest.fixture
async def world() -> World:
    """One that is followed, by its first replica."""
    world = World()
    assert await world.look()
    return world


KINDS = st.sampled_from(["given", "given", "status"])
EVENT = st.tuples(KINDS, st.integers(0, 2), st.integers(0, 1))
EVENTS = st.lists(EVENT, max_size=2).map(tuple)
USUAL = (
    st.tuples(st.just("mine"), EVENTS),
    st.tuples(st.just("fork"), st.lists(EVENTS, min_size=1, max_size=4)),
    st.tuples(st.just("ask"), st.integers(0, 1)),
    st.tuples(st.just("look"), st.integers(0, 1)),
)
RARE = (
    st.tuples(st.just("crash"), st.integers(0, 1)),
    st.tuples(st.just("stop"), st.integers(0, 1)),
    st.tuples(st.just("pass"), st.sampled_from([1.0, NEWS_REPEAT_S + 1, MAX_STILL_HEAD_S + 1])),
    st.tuples(st.just("down"), st.booleans()),
    st.tuples(st.just("away"), st.booleans()),
    st.tuples(st.just("says"), st.sampled_from([None, -1_000, 10_000_000])),
    st.tuples(st.just("most"), st.sampled_from([30, 10_000])),
    st.tuples(st.just("many"), st.sampled_from([70, MAX_GAP_BLOCKS + 100])),
)
STEP = st.one_of(*USUAL * 6, *RARE)  # what forgets everything is rare, else it hides the rest


REPLACED = [("mine", (("given", 0, 0),)), ("look", 0), ("ask", 0), ("fork", [()])]
"""A block that gave a hat is replaced by an empty one, after the hat was asked for."""


@example(steps=REPLACED, seed=0)
@settings(max_examples=examples(250), deadline=None)
@given(steps=st.lists(STEP, min_size=4, max_size=40), seed=st.integers(0, 5))
async def test_what_is_remembered_is_never_older_than_the_newest_log(
    steps: list[tuple[str, Any]], seed: int
) -> None:
    world = World()
    node = world.nodes[0]
    node.shuffled = random.Random(seed)
    await world.look(seed % 2)
    for replica in range(2):
        await world.ask(replica)
    for step, value in steps:
        await act(world, node, step, value)
    await world.caught_up()
    assert world.stale() == []
    assert world.places.kept.block == len(world.blocks.blocks) - 1
    assert node.asked < 60 * (len(steps) + 3)  # it never loops


async def act(world: World, node: Node, step: str, value: Any) -> None:
    match step:
        case "mine":
            world.blocks.mine(*value)
        case "many":
            world.blocks.mine(("given", 0, 0))
            for _ in range(value):
                world.blocks.mine()
        case "fork":
            world.blocks.fork(len(value), *value)
        case "ask":
            await world.ask(value)
        case "look":
            try:
                await world.look(value)
            except StoreUnavailable:
                assert world.places.down
        case "crash":
            world.followers[value] = world.started()
        case "stop":
            if not world.places.down:
                await world.followers[value].stop()
                world.followers[value] = world.started()
        case "pass":
            world.clock.pass_(value)
        case "down":
            node.down = value
        case "away":
            world.places.down = value
        case "most":
            node.most = value
        case "says":
            node.says = None if value is None else max(0, len(world.blocks.blocks) + value)


async def test_a_log_makes_only_what_it_concerns_forgotten(world: World) -> None:
    await world.ask()
    world.blocks.mine(("given", 0, 0))
    world.told.clear()
    await world.look()
    kept = [question for question in QUESTIONS if world.facts[0].fresh([question])]
    assert kept == QUESTIONS[1:]
    world.blocks.mine(("status", 0, 1))
    await world.look()
    assert [each for each in QUESTIONS if world.facts[0].fresh([each])] == QUESTIONS[2::2]


async def test_nothing_is_granted_by_a_log(world: World) -> None:
    world.blocks.mine(("given", 0, 0))
    await world.look()
    assert world.facts[0].fresh(QUESTIONS[:1]) is None


async def test_a_log_counts_again_for_a_while_as_a_node_may_be_behind(world: World) -> None:
    world.blocks.mine(("given", 0, 0))
    await world.look()
    for passed in (5.0, NEWS_REPEAT_S - 5.0):
        world.clock.pass_(passed)
        world.told.clear()
        await world.look()
        assert len(world.told) == 2
    world.clock.pass_(1.0)
    world.told.clear()
    await world.look()
    assert world.told == []


async def test_a_restart_goes_on_where_it_stopped(world: World) -> None:
    await world.ask(1)
    await world.followers[0].stop()
    for _ in range(REORG_WINDOW_BLOCKS * 2):
        world.blocks.mine()
    world.blocks.mine(("given", 0, 0))
    for _ in range(REORG_WINDOW_BLOCKS * 2):
        world.blocks.mine()
    assert await world.look(1)
    assert world.stale() == []
    assert everything(CHAIN) not in world.told[1:]
    assert world.facts[1].fresh(QUESTIONS[1:]) is not None


async def test_after_too_long_a_gap_everything_is_asked_anew(world: World) -> None:
    await world.ask()
    for _ in range(MAX_GAP_BLOCKS + 1):
        world.blocks.mine()
    world.told.clear()
    before = world.nodes[0].asked
    assert await world.look()
    assert world.told == [everything(CHAIN)]
    assert world.nodes[0].asked - before <= 3


async def test_a_replaced_block_counts_also_where_another_process_saw_it(world: World) -> None:
    world.blocks.mine(("given", 0, 0))
    await world.look()
    assert (await world.ask(1))[QUESTIONS[0]] is True
    await world.followers[0].stop()
    world.blocks.fork(1, ())
    world.clock.pass_(NEWS_REPEAT_S + LEASE_TIMEOUT_S)
    assert await world.look(1)
    assert world.stale() == []


async def test_one_process_follows_and_another_takes_its_place_when_it_is_silent() -> None:
    world = World()
    assert await world.look(0)
    assert not await world.look(1)
    assert not world.followers[1].is_heard
    for _ in range(5):
        world.clock.pass_(LEASE_TIMEOUT_S - 1)
        world.blocks.mine()
        assert await world.look(0)
        assert not await world.look(1)
        assert world.followers[1].is_heard  # by the other
    world.clock.pass_(LEASE_TIMEOUT_S + 1)
    world.blocks.mine()
    assert await world.look(1)
    assert not await world.look(0)
    assert [each.state.leads for each in world.followers] == [False, True]


@pytest.mark.parametrize("says", [0, 10_000_000])
async def test_a_node_that_lies_about_the_head_is_not_believed_where_another_answers(
    says: int,
) -> None:
    world = World(nodes=2)
    assert await world.look()
    await world.ask()
    world.nodes[0].says = says
    world.blocks.mine(("given", 0, 0))
    world.told.clear()
    assert await world.look()
    assert everything(CHAIN) not in world.told
    assert world.stale() == []
    assert world.places.kept.block == len(world.blocks.blocks) - 1


@pytest.mark.parametrize("says", [0, 10_000_000])
async def test_where_the_only_node_lies_all_is_forgotten_and_found_again(
    world: World, says: int
) -> None:
    await world.ask()
    world.nodes[0].says = says
    world.blocks.mine(("given", 0, 0))
    await world.look()
    assert world.facts[0].fresh(QUESTIONS[:1]) is None
    await world.ask()
    world.blocks.mine(("given", 0, 0))
    world.nodes[0].says = None
    await world.look()
    assert world.stale() == []
    assert world.places.kept.block == len(world.blocks.blocks) - 1


async def test_a_head_that_stands_still_is_not_followed(world: World) -> None:
    world.clock.pass_(MAX_STILL_HEAD_S)
    assert await world.look()
    world.clock.pass_(MAX_SILENCE_S + 1)
    assert not await world.look()
    state = world.followers[0].state
    assert state.problem == f"The newest block that is told of is {state.block}."
    world.blocks.mine()
    assert await world.look()


async def test_a_silent_node_is_told_with_its_reason(world: World) -> None:
    world.nodes[0].down = True
    world.clock.pass_(MAX_SILENCE_S + 1)
    assert not await world.look()
    problem = world.followers[0].state.problem
    assert problem is not None
    assert "node.example.org: it does not answer in time" in problem
    assert not world.followers[0].is_heard


async def test_a_range_that_is_refused_is_halved_until_it_is_not(world: World) -> None:
    world.nodes[0].most = 10
    await world.ask()
    for _ in range(100):
        world.blocks.mine()
    world.blocks.mine(("given", 0, 0))
    assert await world.look()
    assert world.stale() == []
    world.nodes[0].most = 0
    world.blocks.mine()
    before = world.nodes[0].asked
    world.clock.pass_(MAX_SILENCE_S + 1)
    assert not await world.look()
    assert world.nodes[0].asked - before < 40
    assert "eth_getLogs" in str(world.followers[0].state.problem)


async def test_more_changes_than_are_worth_telling_one_by_one_count_as_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TAGS_PER_READ", 1)
    world.blocks.mine(("given", 0, 0))
    world.told.clear()
    await world.look()
    assert world.told == [everything(CHAIN)]


async def test_what_cannot_be_told_to_the_others_is_read_again(world: World) -> None:
    await world.ask()
    world.blocks.mine(("given", 0, 0))
    world.places.down = True
    with pytest.raises(StoreUnavailable):
        await world.look()
    world.places.down = False
    await world.look()
    assert world.stale() == []
