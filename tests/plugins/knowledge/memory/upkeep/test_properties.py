"""Whatever is written, and whenever upkeep runs or breaks off: these things hold."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import OWNER_ONLY_LAYERS, Layer
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.fingerprint import fingerprint
from plugins.knowledge.memory.model.policy import AccessPolicyConfig, readers
from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.vectors import collection_name
from tests.examples import examples
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World
from tests.plugins.knowledge.memory.upkeep.conftest import named, points, rows, upkeep

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
PEOPLE = [ANA, BEN, CY, DEE]
TEXTS = ["The {} is dry.", "the {} is DRY.", "A {} is deep.", "Of {} nobody knows."]
_number = count()
stated = st.one_of(st.none(), st.sampled_from([0.1, 0.5, 1.0]))
places = st.integers(0, 5)
steps = st.one_of(
    st.tuples(
        st.just("add"),
        st.sampled_from(PEOPLE[:2]),
        st.sampled_from(Layer),
        st.sampled_from(["private", "shared", "organization", "public"]),
        st.fixed_dictionaries({"importance": stated, "confidence": stated}),
        st.sampled_from(TEXTS),
    ),
    st.tuples(st.just("change"), places, st.sampled_from(TEXTS)),
    st.tuples(st.just("use"), places, st.integers(1, 12)),
    st.tuples(st.just("forget"), places, st.booleans()),
    st.tuples(st.just("later"), st.sampled_from([0.2, 2, 30, 24 * 31, 24 * 91])),
    st.tuples(st.just("upkeep")),
    st.tuples(st.just("killed"), st.integers(1, 120)),
)


class History:
    """What was written, by whom and for whom."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.mark = f"quokka{next(_number)}"
        self.ids: list[str] = []
        self.owner: dict[str, Caller] = {}
        self.readers: dict[str, frozenset[str]] = {}
        self.erased: set[str] = set()
        self.lasting: dict[str, str] = {}

    async def do(self, step: Any) -> None:
        what, *args = step
        with suppress(MemoryFailed):  # it is gone by now, or somebody else's
            await getattr(self, what)(*args)

    async def add(self, who: Caller, layer: Layer, policy: str, said: Any, text: str) -> None:
        access: dict[str, Any] = {"policy": policy}
        if policy == "shared":
            access["allowed_teams"] = ["garden"]
        content = text.format(self.mark)
        made = await self.world.remember(who, content, access, layer, **said)
        # A scratch pad is its owner's alone, whatever its policy says.
        given = {"policy": "private"} if layer in OWNER_ONLY_LAYERS else access
        may = readers(who.person or "", AccessPolicyConfig.model_validate(given))
        self.ids.append(made.id)
        self.owner[made.id] = who
        self.readers[made.id] = self.readers.get(made.id, frozenset()) | may
        if layer not in OWNER_ONLY_LAYERS:
            self.lasting[made.id] = fingerprint(content)

    def at(self, place: int) -> list[str]:
        """The id at a place, however few there are; none before the first one."""
        return [self.ids[place % len(self.ids)]] if self.ids else []

    async def change(self, place: int, text: str) -> None:
        content = text.format(self.mark)
        for id in self.at(place):
            await self.world.change(self.owner[id], id, content)
            if id in self.lasting:
                self.forgotten(id)
                self.lasting[id] = fingerprint(content)

    async def use(self, place: int, times: int) -> None:
        for id in self.at(place):
            for _ in range(times):
                await self.world.memory.reader.entry(id, self.owner[id])
        await self.world.memory.usage.flush()

    async def forget(self, place: int, hard: bool) -> None:
        for id in self.at(place):
            request = {"id": id, "options": {"hard_delete": hard}}
            removal = DeleteRequest.model_validate(request)
            await self.world.memory.entries.delete(removal, self.owner[id])
            self.forgotten(id)
            if hard:
                self.erased.add(id)

    def forgotten(self, id: str) -> None:
        """Expect an entry's claim no more: what made the same one may have become a part of it."""
        said = self.lasting.get(id)
        self.lasting = {one: other for one, other in self.lasting.items() if other != said}

    async def later(self, hours: float) -> None:
        self.world.clock.time += timedelta(hours=hours)

    async def upkeep(self) -> None:
        await self.world.memory.upkeep.promote_working()
        await upkeep(self.world)
        await self.in_order()

    async def killed(self, moments: int) -> None:
        """A pass that is broken off somewhere: what it has not committed is undone."""
        passing = asyncio.ensure_future(self.world.memory.upkeep.once())
        for _ in range(moments):
            await asyncio.sleep(0)
        event("killed" if passing.cancel() else "was done")
        with suppress(asyncio.CancelledError):
            await passing

    async def holds(self) -> None:
        """What holds at any moment."""
        memory = self.world.memory
        pads = {record.id for record in memory.entries.working.everything()}
        stored = {row.id for row in await rows(self.world, "entries")}
        assert pads.isdisjoint(stored)
        for id in self.ids:
            for who in PEOPLE:
                with suppress(MemoryFailed):
                    record = await memory.reader.entry(id, who)
                    assert caller_keys(who) & self.readers[id], (id, who.name, record.layer)

    async def in_order(self) -> None:
        """What holds after every whole pass."""
        world = self.world
        entries = {row.id: row for row in await rows(world, "entries")}
        standing = [row for row in entries.values() if row.deleted is None]
        wanted = [
            (collection_name(row.layer), row.id, row.version) for row in standing if row.embedded
        ]
        assert await points(world) == sorted(wanted)
        for table in ("words", "labels"):
            numbers = {row.entry for row in await rows(world, table)}
            assert numbers <= {row.number for row in standing}
        pads = {record.id for record in world.memory.entries.working.everything()}
        for id in self.ids:
            if id not in entries and id not in pads:
                left = {"memory_events"} if id in self.erased else set()
                assert await named(world, id) <= {"memory_audit"} | left
        claims = {(row.owner, row.fingerprint) for row in standing}
        for id, said in self.lasting.items():
            assert (self.owner[id].person, said) in claims


@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(steps, min_size=3, max_size=14))
async def test_upkeep_keeps_its_promises(world: World, wanted: list[Any]) -> None:
    history = History(world)
    for step in wanted:
        await history.do(step)
        await history.holds()
    await history.upkeep()
    await history.holds()
