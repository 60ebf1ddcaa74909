"""Whatever happens in whatever order: each item is put to use once, by an answer that counts."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from auth import Tier
from gateway.contract import ToolFailed, Work, WorkAnswer, WorkSource
from gateway.services.database.service import open_database
from gateway.work.desk import Desk, Kind, NotTaken
from gateway.work.publishing import Publishing, Visibility
from gateway.work.records import WorkItem
from gateway.work.settling import MAX_REFUSALS, Settling
from gateway.work.tables import answers, applied, items
from gateway.work.upkeep import WorkUpkeep
from tests.examples import examples
from tests.gateway.identity.stores.conftest import Clock
from tests.gateway.work.clerk import Judgement

PEOPLE = ("ann", "bob", "cy", "dee")
KEYS = ("one", "two")
LEASE = timedelta(minutes=15)
KINDS = (Kind("clerk/judge", 1, LEASE), Kind("clerk/second", 2, LEASE))

kinds = st.sampled_from(KINDS)
people = st.sampled_from(PEOPLE)
replicas = st.integers(0, 1)
number = st.integers(0, 6)
steps = st.one_of(
    st.tuples(st.just("publish"), kinds, st.sampled_from(KEYS), st.sampled_from("ab"), replicas),
    st.tuples(st.just("publish"), kinds, st.sampled_from(KEYS), st.just("a"), replicas),
    st.tuples(st.just("withdraw"), kinds, st.sampled_from(KEYS), replicas),
    st.tuples(st.just("take"), st.permutations(PEOPLE), st.integers(1, 4)),
    st.tuples(st.just("bring"), people, number, st.sampled_from(("good", "bad")), replicas),
    st.tuples(st.just("everybody"), st.permutations(PEOPLE), st.lists(st.booleans(), min_size=4)),
    st.tuples(st.just("settle"), st.sampled_from(("well", "before", "after", "refuse")), replicas),
    st.tuples(st.just("wait"), st.sampled_from((5, 20))),
    st.tuples(st.just("erase"), people, replicas),
)


class Killed(BaseException):
    """The process of a job ends here."""


class Job:
    """A job whose steps are not remembered, as where the process dies in the middle of one."""

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        return await function(*args)


@dataclass
class Known:
    """What the bookkeeper knows of an item.

    Attributes:
        kind: its kind.
        leases: who has it, until when, as far as nobody has come in their place.
        waits: what was answered and waits, by person.
        extra: answers that it takes beyond those of its kind.
        refusals: how often it was refused.
        state: as of the item; ``gone`` where it was withdrawn or replaced.
    """

    kind: Kind
    text: str
    leases: dict[str, datetime] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)
    extra: int = 0
    refusals: int = 0
    state: str = "open"

    @property
    def places(self) -> int:
        return self.kind.opinions + self.extra - len(self.waits)

    def live(self, now: datetime) -> set[str]:
        return {person for person, until in self.leases.items() if until > now}

    def takeable(self, person: str, now: datetime) -> bool:
        free = len(self.live(now)) < self.places
        mine = person in self.live(now) or person in self.waits
        return self.state == "open" and free and not mine

    def take(self, person: str, now: datetime) -> None:
        others = sorted((until, each) for each, until in self.leases.items() if each != person)
        for _, each in others[: max(0, len(others) - self.places + 1)]:
            assert each not in self.live(now), "Somebody lost what was theirs still."
            del self.leases[each]
        self.leases[person] = now + LEASE


class World:
    """Two replicas, and what a bookkeeper of their own notes beside them."""

    def __init__(self, databases: list[Any], clock: Clock) -> None:
        self.clock = clock
        self.databases = databases
        self.publishing = [Publishing(each, clock) for each in databases]
        self.desks = [Desk(each, clock) for each in databases]
        self.jobs = [Settling(each, self.work, clock) for each in databases]
        self.upkeep = [WorkUpkeep(each, clock) for each in databases]
        self.known: dict[str, Known] = {}
        self.current: dict[tuple[str, str], str] = {}
        self.used: Counter[str] = Counter()
        self.item_of: dict[str, str] = {}
        self.mood = "well"
        self.answering = ""

    # The plugin.

    def work(self, kind: str) -> Work | None:
        opinions = next(each.opinions for each in KINDS if each.name == kind)
        same = lambda some, other: some.verdict == other.verdict  # noqa: E731
        return Work("w", "w", "w", Judgement, self.accept, opinions=opinions, agree=same)

    async def accept(self, answer: WorkAnswer) -> None:
        async with self.databases[0].begin() as connection:
            first = await answer.once(connection)
            if self.mood == "before":
                raise Killed
            if first and self.mood == "refuse":
                raise ToolFailed("no", "Not like this.")
        # The transaction has been committed: what it wrote counts.
        if first:
            self.used[self.answering] += 1
        if self.mood == "after":
            raise Killed

    # What happens.

    async def publish(self, kind: Kind, key: str, text: str, replica: int) -> None:
        seen = Visibility(Tier.MEMBERS)
        state = await self.publishing[replica].publish(kind.name, key, {"text": text}, seen)
        before = self.known.get(self.current.get((kind.name, key), ""))
        if before is not None and before.text == text:
            assert state == before.state
            return
        assert state == "open"
        if before is not None:
            before.state = "gone"
        found = await self.upkeep[replica].items(["open"])
        (new,) = [each for each in found if (each.kind, each.key) == (kind.name, key)]
        assert new.id not in self.known
        self.current[kind.name, key] = new.id
        self.known[new.id] = Known(kind, text)

    async def withdraw(self, kind: Kind, key: str, replica: int) -> None:
        id = self.current.pop((kind.name, key), None)
        assert await self.publishing[replica].withdraw(kind.name, key) is (id is not None)
        if id is not None:
            self.known[id].state = "gone"

    async def take(self, who: list[str], at_once: int) -> None:
        """Some people look at the same moment, and each takes the first that they are shown."""
        now = self.clock()
        shown = await asyncio.gather(*(self.shown(each, n % 2) for n, each in enumerate(who)))
        wish = [(each, found[0]) for each, found in zip(who, shown, strict=True) if found]
        wish = wish[:at_once]
        taken = await asyncio.gather(
            *(
                self.desks[n % 2].take(item.id, each, self.known[item.id].kind)
                for n, (each, item) in enumerate(wish)
            )
        )
        for id in {item.id for _, item in wish}:
            got = [each for (each, item), t in zip(wish, taken, strict=True) if item.id == id and t]
            known = self.known[id]
            free = known.places - len(known.live(now))
            asked = sum(item.id == id for _, item in wish)
            assert len(got) == min(free, asked), "A place was given twice, or to nobody."
            for each in got:
                known.take(each, now)

    async def shown(self, person: str, replica: int) -> list[WorkItem]:
        found = self.desks[replica].open_to(person, Tier.MEMBERS, KINDS)
        listed = [each async for each in found]
        right = {id for id, each in self.known.items() if each.takeable(person, self.clock())}
        assert {each.id for each in listed} == right
        return listed

    async def bring(self, person: str, number: int, verdict: str, replica: int) -> None:
        if not self.known:
            return
        id = list(self.known)[-1 - number % len(self.known)]
        known = self.known[id]
        answer = {"verdict": verdict, "quote": ""}
        item = _item(id, known.kind)
        source = WorkSource(person, "", "a model", self.clock())
        same = known.state != "gone" and known.waits.get(person) == verdict
        counts = known.state == "open" and person in known.leases
        try:
            left = await self.desks[replica].bring(item, known.kind, answer, source)
        except NotTaken:
            assert not same, "The same answer again was refused."
            assert not counts, "An answer that counts was refused."
            return
        assert same or counts, "An answer counted that nobody had asked this person for."
        if not same:
            assert person not in known.waits, "One person gave two opinions."
            del known.leases[person]
            known.waits[person] = verdict
            if known.places == 0:
                known.state = "answered"
        assert left == max(0, known.places)

    async def settle(self, mood: str, replica: int) -> None:
        self.mood = mood
        for item in await self.upkeep[replica].left(timedelta()):
            known = self.known[item.id]
            assert known.state == "answered"
            self.answering = item.id
            try:
                await self.jobs[replica].run(Job(), {"item": item.id})  # type: ignore[arg-type]
            except Killed:
                continue
            self.ended(known, used=bool(self.used[item.id]))
            kept = await self.desks[1 - replica].get(item.id)
            assert kept is not None
            assert kept.state == known.state
            assert (self.used[item.id] == 1) == (known.state == "accepted")

    def ended(self, known: Known, *, used: bool) -> None:
        """What should have become of an item that was settled to its end."""
        votes = Counter(known.waits.values())
        if max(votes.values()) < known.kind.opinions:
            known.state = "open" if known.extra == 0 else "unsettled"
            known.extra = 1
        elif not used:
            assert self.mood == "refuse", "It was not put to use, and nobody refused it."
            known.refusals += 1
            known.extra = 0
            known.waits.clear()
            known.state = "open" if known.refusals < MAX_REFUSALS else "unsettled"
        else:
            known.state = "accepted"
            known.waits.clear()
            known.leases.clear()

    async def erase(self, person: str, replica: int) -> None:
        await self.upkeep[replica].erase(person)
        assert person not in await self.upkeep[1 - replica].people()
        for known in self.known.values():
            known.leases.pop(person, None)
            if known.state == "open":
                known.waits.pop(person, None)
            elif person in known.waits:  # what they said counts, and nobody knows that it was they
                known.waits[f"nobody {len(known.waits)} {person}"] = known.waits.pop(person)

    async def step(self, kind: str, *what: Any) -> None:
        if kind == "wait":
            self.clock.pass_(minutes=what[0])
        elif kind == "everybody":
            order, moods = what
            for n, each in enumerate(order):
                await self.take([each], 1)
                await self.bring(each, n, "good" if moods[n] else "bad", n % 2)
        else:
            await getattr(self, kind)(*what)


def _item(id: str, kind: Kind) -> WorkItem:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    common: Any = ("", "open", Tier.MEMBERS, (), None, 0, 0, None, moment, moment)
    return WorkItem(id, kind.name, "key", *common)


@settings(
    max_examples=examples(100, ordinary=15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=15, max_size=40))
def test_each_item_is_put_to_use_once_by_people_who_agree(
    address: str, tmp_path: Any, history: list[Any]
) -> None:
    asyncio.run(_live(address, tmp_path, history))


async def _live(address: str, folder: Any, history: list[Any]) -> None:
    clock = Clock()
    services = [open_database(address, folder) for _ in range(2)]
    databases = [each.for_owner("gateway") for each in services]
    try:
        async with databases[0].begin() as connection:
            for table in (items, answers, applied):
                await connection.execute(delete(table))
        world = World(databases, clock)
        run = partial(world.step)
        for step in history:
            await run(*step)
        # Whatever was killed goes on in the end, and everything is used once at most.
        await world.settle("well", 0)
        await world.settle("well", 1)
        states = {id: each.state for id, each in world.known.items()}
        assert "answered" not in states.values()
        assert all(count == 1 for count in world.used.values())
        assert {id for id, state in states.items() if state == "accepted"} <= set(world.used)
    finally:
        for each in services:
            await each.close()
