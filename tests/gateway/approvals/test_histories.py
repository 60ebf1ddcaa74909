"""Whatever happens in whatever order: nothing runs unapproved, and nothing approved runs twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from gateway.approvals.counting import Voter
from gateway.approvals.request import BoundCall, NotDecided
from gateway.approvals.store import ApprovalStore, Question
from gateway.approvals.tables import approvals
from gateway.approvals.upkeep import Upkeep
from tests.examples import examples
from tests.gateway.identity.stores.conftest import Clock, Replica

HOURS = 2
PEOPLE = ("ann", "bob", "cy")
VOTERS = {
    "ann": ("wallet:a", "github:a"),
    "bob": ("wallet:b",),
    "cy": ("wallet:c",),
    "bob again": ("github:b", "wallet:b"),  # bob, signed in by an account that he has unlinked
    "dee": ("wallet:d",),
}
RULES = ("rule 1", "rule 2")

EVERY_CALL = [
    BoundCall(person, "vault/pay", digest, "")
    for person in PEOPLE[:2]
    for digest in ("these", "others")
]

calls = st.builds(
    BoundCall,
    person=st.sampled_from(PEOPLE[:2]),
    item=st.just("vault/pay"),
    digest=st.sampled_from(("these", "others")),
    rule=st.just(""),
)
steps = st.one_of(
    st.tuples(st.just("call"), calls, st.integers(1, 3)),
    st.tuples(st.just("answer"), calls, st.booleans()),
    st.tuples(st.just("yes"), st.sampled_from(sorted(VOTERS)), st.integers(0, 3)),
    st.tuples(st.just("no"), st.sampled_from(sorted(VOTERS)), st.integers(0, 3)),
    st.tuples(st.just("replay"), calls, st.integers(0, 3)),
    st.tuples(st.just("wait"), st.sampled_from((10, 130)), st.none()),
    st.tuples(st.just("rule"), st.sampled_from(RULES), st.none()),
    st.tuples(st.just("unfinished"), calls, st.none()),
    st.tuples(st.just("everybody"), st.permutations(sorted(VOTERS)), st.integers(0, 3)),
    st.tuples(st.just("every call"), st.permutations(EVERY_CALL), st.integers(1, 2)),
)


@dataclass
class World:
    """Two replicas, and what a bookkeeper of their own notes beside them.

    Attributes:
        stores: the replicas.
        upkeep: ends what has expired or is void.
        clock: the time of both.
        quorum: how many yeses the rule takes.
        own: whether the caller's own person decides.
        rule: the version in force.
        ids: every request that was asked for.
        good: the calls that enough different people have said yes to, and not yet used, by id.
        ran: how often the yes of a request was spent.
    """

    stores: list[ApprovalStore]
    upkeep: Upkeep
    clock: Clock
    quorum: int
    own: bool
    rule: str = RULES[0]
    ids: list[str] = field(default_factory=list)
    asked: dict[str, BoundCall] = field(default_factory=dict)
    yeses: dict[str, set[str]] = field(default_factory=dict)
    until: dict[str, Any] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    ran: Counter[str] = field(default_factory=Counter)
    number: int = 0

    def bound(self, call: BoundCall) -> BoundCall:
        return call._replace(rule=self.rule)

    def may_run(self, id: str, call: BoundCall) -> bool:
        """What the bookkeeper says: enough people, this very call, in time, once."""
        return (
            self.asked[id] == call
            and len(self.yeses[id]) >= self.quorum
            and self.until[id] > self.clock()
            and id not in self.dead
            and not self.ran[id]
        )

    async def call(self, call: BoundCall, at_once: int) -> None:
        """Call at both replicas at the same time, as often as told."""
        call = self.bound(call)
        runs = [f"run {self.number + n}" for n in range(at_once)]
        self.number += at_once
        spent = await asyncio.gather(
            *(self.stores[n % 2].spend(call, run, Voter(call.person)) for n, run in enumerate(runs))
        )
        for id in filter(None, spent):
            assert self.may_run(id, call), "It ran, and nobody had said yes to just this."
            self.ran[id] += 1
            assert self.ran[id] == 1, "It ran twice by one approval."
        allowed = [id for id in self.ids if self.may_run(id, call)]
        assert not allowed or len([each for each in spent if each]) == at_once
        if not any(spent):
            await self.ask(call)

    async def ask(self, call: BoundCall) -> None:
        until = self.clock() + timedelta(hours=HOURS)
        accounts = VOTERS[call.person]
        question = Question(
            "pay", {"to": call.digest}, "they", self.quorum, self.own, self.own, until, "members",
            "mcp", accounts,
        )  # fmt: skip
        asked = await self.stores[self.number % 2].ask(call, question)
        if asked.id not in self.asked:
            self.ids.append(asked.id)
            self.asked[asked.id], self.until[asked.id] = call, asked.expires
            self.yeses[asked.id] = set()

    async def say(self, who: str, number: int, *, yes: bool) -> None:
        if not self.ids:
            return
        id = self.ids[-1 - number % len(self.ids)]
        voter = Voter(who, VOTERS[who])
        try:
            await self.stores[number % 2].decide(id, voter, yes=yes)
        except NotDecided:
            return
        assert id not in self.dead
        assert not self.ran[id]
        assert self.until[id] > self.clock()
        if not yes:
            self.dead.add(id)
            return
        human = who.partition(" ")[0]
        assert self.own or human != self.asked[id].person, "A yes to one's own call counted."
        assert human not in self.yeses[id], "One person counted twice."
        self.yeses[id].add(human)

    async def answer(self, id: str, call: BoundCall) -> None:
        """The person says yes in their client; or somebody sends the same answer once more."""
        call = self.bound(call)
        self.number += 1
        voter = Voter(call.person)
        if await self.stores[self.number % 2].spend_answered(id, call, f"run {self.number}", voter):
            assert self.own
            assert self.asked[id] == call
            assert self.until[id] > self.clock()
            assert id not in self.dead
            self.ran[id] += 1
            assert self.ran[id] == 1, "It ran twice by one answer."

    async def unfinished(self, call: BoundCall) -> None:
        """A call that runs comes back unfinished: then its approval is good once more."""
        call = self.bound(call)
        run = f"run {self.number}"
        self.number += 1
        id = await self.stores[0].spend(call, run, Voter(call.person))
        if id is not None:
            assert self.may_run(id, call)
            await self.stores[1].unspend(id, "another run")
            assert await self.stores[1].spend(call, "thief", Voter(call.person)) != id
            await self.stores[1].unspend(id, run)

    async def step(self, kind: str, what: Any, more: Any) -> None:
        if kind == "call":
            await self.call(what, more)
        elif kind in ("yes", "no"):
            await self.say(what, more, yes=kind == "yes")
        elif kind == "wait":
            self.clock.pass_(minutes=what)
            await self.upkeep.expire(self.clock())
        elif kind == "rule":
            self.rule = what
            await self.upkeep.void({"vault/pay": what}, self.clock())
            self.dead |= {id for id in self.ids if self.asked[id].rule != what}
        elif kind == "everybody":
            for who in what:
                await self.say(who, more, yes=True)
        elif kind == "every call":
            for each in what:
                await self.call(each, more)
        elif kind == "unfinished":
            await self.unfinished(what)
        elif self.ids:
            await self.answer(self.ids[-1 - int(more) % len(self.ids)], what)


@settings(
    max_examples=examples(100, ordinary=30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=12, max_size=30), st.integers(1, 3), st.booleans())
def test_nothing_runs_unapproved_and_nothing_approved_runs_twice(
    address: str, tmp_path: Any, history: list[Any], quorum: int, own: bool
) -> None:
    asyncio.run(_live(address, tmp_path, history, 1 if own else quorum, own))


async def _live(address: str, folder: Any, history: list[Any], quorum: int, own: bool) -> None:
    from gateway.services.database.service import open_database

    clock = Clock()
    services = [open_database(address, folder) for _ in range(2)]
    databases = [each.for_owner("gateway") for each in services]
    try:
        async with databases[0].begin() as connection:
            await connection.execute(delete(approvals))
        stores = [ApprovalStore(each, clock) for each in databases]
        world = World(stores, Upkeep(databases[0]), clock, quorum, own)
        for step in history:
            await world.step(*step)
    finally:
        for each in services:
            await each.close()


async def test_of_many_who_come_at_once_one_spends_the_yes(
    replica: Replica, other: Replica, clock: Clock
) -> None:
    stores = [ApprovalStore(each.database, clock) for each in (replica, other)]
    call = BoundCall("ann", "vault/pay", "these", "rule 1")
    until = clock() + timedelta(hours=1)
    question = Question("pay", {}, "they", 1, False, False, until, "members", "mcp")
    asked = await stores[0].ask(call, question)
    await stores[1].decide(asked.id, Voter("bob"), yes=True)
    runs = (stores[n % 2].spend(call, f"run {n}", Voter("ann")) for n in range(20))
    spent = [each for each in await asyncio.gather(*runs) if each]
    assert spent == [asked.id]
    kept = await stores[0].get(asked.id)
    assert kept is not None
    assert kept.state == "used"


@pytest.mark.parametrize("yes", [True, False])
async def test_a_yes_and_a_no_at_the_same_moment_leave_one_state(
    replica: Replica, other: Replica, clock: Clock, yes: bool
) -> None:
    stores = [ApprovalStore(each.database, clock) for each in (replica, other)]
    call = BoundCall("ann", "vault/pay", "these", "rule 1")
    until = clock() + timedelta(hours=1)
    question = Question("pay", {}, "they", 1, False, False, until, "members", "mcp")
    asked = await stores[0].ask(call, question)
    said = [
        stores[0].decide(asked.id, Voter("bob"), yes=yes),
        stores[1].decide(asked.id, Voter("cy"), yes=not yes),
    ]
    await asyncio.gather(*said, return_exceptions=True)
    kept = await stores[0].get(asked.id)
    assert kept is not None
    assert kept.state == "refused"
    assert await stores[0].spend(call, "run", Voter("ann")) is None
