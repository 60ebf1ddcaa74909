"""Revocations: at once here, soon elsewhere, and never trusted past what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import revocations as module
from auth.callers import Identity
from auth.credentials import BadCredential
from auth.revocations import MAX_SILENCE_S, MAX_TAGS, Revocations
from auth.stores import Stores
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from tests.auth.clocks import Clock
from tests.auth.stores import empty_stores


class Notes:
    """Notes in memory, for what is decided about them; can be out of reach, or slow."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.down = False
        self.going_on = asyncio.Event()
        self.going_on.set()

    async def append(self, subjects: Sequence[str]) -> None:
        self._check()
        self.notes += subjects

    async def since(self, number: int) -> list[tuple[int, str]]:
        self._check()
        found = list(enumerate(self.notes, start=1))[number:]
        await self.going_on.wait()
        return found

    async def latest(self) -> int:
        self._check()
        found = len(self.notes)
        await self.going_on.wait()
        return found

    def _check(self) -> None:
        if self.down:
            raise ConnectionError("the database is out of reach")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def revocations(notes: Notes, clock: Clock) -> Revocations:
    return Revocations(notes, clock)


async def test_what_is_revoked_here_counts_at_once(revocations: Revocations, clock: Clock) -> None:
    before = revocations.now()
    clock.pass_(1)
    assert revocations.holds(["person:a", "grant:b"], before)
    await revocations.revoke("grant:b")
    assert not revocations.holds(["person:a", "grant:b"], before)
    assert revocations.holds(["person:a"], before)
    clock.pass_(1)
    assert revocations.holds(["person:a", "grant:b"], revocations.now())


async def test_nothing_revoked_notes_nothing(revocations: Revocations, notes: Notes) -> None:
    await revocations.revoke()
    assert notes.notes == []


async def test_it_counts_here_even_where_it_cannot_be_noted(
    revocations: Revocations, notes: Notes, clock: Clock
) -> None:
    before = revocations.now()
    clock.pass_(1)
    notes.down = True
    with pytest.raises(ConnectionError):
        await revocations.revoke("person:a")
    assert not revocations.holds(["person:a"], before)


async def test_another_replica_learns_of_it_by_looking(
    revocations: Revocations, notes: Notes, clock: Clock
) -> None:
    other = Revocations(notes, clock)
    await other.begin()
    before = other.now()
    clock.pass_(1)
    await revocations.revoke("person:a")
    await other.look()
    assert not other.holds(["person:a"], before)
    assert other.holds(["person:b"], before)


async def test_a_look_up_that_began_before_the_note_was_read_is_done_again(
    notes: Notes, clock: Clock
) -> None:
    """The look-up sees the time before the change, and ends after the note was asked for."""
    replica = Revocations(notes, clock)
    await replica.begin()
    notes.notes.append("person:a")
    notes.going_on.clear()
    looking = asyncio.create_task(replica.look())
    await asyncio.sleep(0)
    clock.pass_(1)
    began = replica.now()
    clock.pass_(1)
    notes.going_on.set()
    await looking
    assert not replica.holds(["person:a"], began)


async def test_a_replica_that_cannot_read_trusts_nothing_until_it_can(
    revocations: Revocations, notes: Notes, clock: Clock
) -> None:
    before = revocations.now()
    notes.down = True
    clock.pass_(MAX_SILENCE_S)
    assert revocations.holds(["person:a"], before)
    clock.pass_(0.1)
    assert not revocations.holds(["person:a"], before)
    with pytest.raises(ConnectionError):
        await revocations.look()
    assert not revocations.holds(["person:a"], before)
    notes.notes.append("person:a")
    notes.down = False
    await revocations.look()
    assert not revocations.holds(["person:a"], before)
    assert revocations.holds(["person:b"], before)


async def test_the_age_of_a_look_counts_from_its_beginning(
    revocations: Revocations, notes: Notes, clock: Clock
) -> None:
    before = revocations.now()
    notes.going_on.clear()
    looking = asyncio.create_task(revocations.look())
    await asyncio.sleep(0)
    clock.pass_(MAX_SILENCE_S + 1)
    notes.going_on.set()
    await looking
    assert not revocations.holds(["person:a"], before)


async def test_what_was_looked_up_while_a_process_starts_is_not_trusted(
    notes: Notes, clock: Clock
) -> None:
    replica = Revocations(notes, clock)
    notes.going_on.clear()
    beginning = asyncio.create_task(replica.begin())
    await asyncio.sleep(0)
    began = replica.now()
    clock.pass_(1)
    notes.notes.append("person:a")  # after the newest number was read, so it is read next
    notes.going_on.set()
    await beginning
    assert not replica.holds(["person:a"], began)
    later = replica.now()
    assert replica.holds(["person:a"], later)
    clock.pass_(1)
    await replica.look()
    assert not replica.holds(["person:a"], later)


async def test_a_start_skips_the_notes_from_before(notes: Notes, clock: Clock) -> None:
    notes.notes += ["person:a"] * 1000
    replica = Revocations(notes, clock)
    await replica.begin()
    began = replica.now()
    clock.pass_(1)
    await replica.look()
    assert replica.holds(["person:a"], began)


async def test_looks_that_overtake_each_other_lose_nothing(
    revocations: Revocations, notes: Notes, clock: Clock
) -> None:
    before = revocations.now()
    clock.pass_(1)
    notes.going_on.clear()
    slow = asyncio.create_task(revocations.look())
    await asyncio.sleep(0)
    notes.notes.append("person:a")
    quick = asyncio.create_task(revocations.look())
    await asyncio.sleep(0)
    notes.going_on.set()
    await asyncio.gather(slow, quick)
    assert not revocations.holds(["person:a"], before)


async def test_memory_is_bounded_and_what_is_forgotten_is_not_trusted(
    revocations: Revocations, clock: Clock
) -> None:
    early = revocations.now()
    clock.pass_(1)
    await revocations.revoke("person:first")
    clock.pass_(1)
    between = revocations.now()
    clock.pass_(1)
    await revocations.revoke(*(f"person:{number}" for number in range(MAX_TAGS)))
    assert len(revocations._ended) == MAX_TAGS
    assert not revocations.holds(["person:first"], early)
    assert not revocations.holds(["person:never-revoked"], early)
    # One revocation too many does not cost everybody their memory.
    assert revocations.holds(["person:never-revoked"], between)
    assert not revocations.holds(["person:7"], between)


async def until(condition: Callable[[], bool]) -> None:
    while True:
        if condition():
            return
        await asyncio.sleep(0.001)


async def test_following_survives_errors_and_connections_that_never_answer(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SILENCE_S", 0.05)
    failures: list[Exception] = []
    revocations = Revocations(notes, failed=failures.append)
    before = revocations.now()
    following = asyncio.create_task(revocations.follow(0.001))
    async with asyncio.timeout(60):
        notes.down = True
        await until(lambda: bool(failures))
        assert isinstance(failures[-1], ConnectionError)
        notes.down = False
        notes.going_on.clear()
        await until(lambda: isinstance(failures[-1], TimeoutError))
        notes.notes.append("person:a")
        notes.going_on.set()
        await until(lambda: "person:a" in revocations._ended)
        assert not revocations.holds(["person:a"], before)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


STEPS = st.lists(
    st.sampled_from(["begin look-up", "end look-up", "change", "note", "begin look", "end look"]),
    max_size=40,
)


class Replicas:
    """A change is made and noted by one replica; the other remembers and looks, step by step."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.clock = Clock()
        self.replica = Revocations(self.notes, self.clock)
        self.version = 0  # of the truth, in the table
        self.noted = 0  # the newest version that a note told of
        self.known_to = 0  # the newest version that a finished look has told of
        self.remembered: tuple[float, int] | None = None
        self._look_up: float | None = None
        self._seen: int | None = None
        self._looking: asyncio.Task[None] | None = None
        self._asked = 0

    async def step(self, name: str) -> None:
        self.clock.pass_(0.01)
        await {
            "begin look-up": self._begin_look_up,
            "end look-up": self._end_look_up,
            "change": self._change,
            "note": self._note,
            "begin look": self._begin_look,
            "end look": self._end_look,
        }[name]()

    async def _begin_look_up(self) -> None:
        self._look_up, self._seen = self.replica.now(), self.version

    async def _end_look_up(self) -> None:
        if self._look_up is not None and self._seen is not None:
            self.remembered = self._look_up, self._seen
            self._look_up = None

    async def _change(self) -> None:
        self.version += 1

    async def _note(self) -> None:
        await self.notes.append(["person:a"])
        self.noted = self.version

    async def _begin_look(self) -> None:
        if self._looking is None:
            self.notes.going_on.clear()
            self._asked = self.noted
            self._looking = asyncio.create_task(self.replica.look())
            await asyncio.sleep(0)

    async def _end_look(self) -> None:
        if self._looking is not None:
            self.notes.going_on.set()
            await self._looking
            self.known_to, self._looking = self._asked, None

    async def end(self) -> None:
        await self._end_look()


@given(STEPS)
def test_what_is_trusted_is_never_older_than_the_last_look(steps: list[str]) -> None:
    async def run() -> None:
        both = Replicas()
        for step in steps:
            await both.step(step)
            if both.remembered is not None and both.replica.holds(["person:a"], both.remembered[0]):
                assert both.remembered[1] >= both.known_to
        await both.end()

    asyncio.run(run())


class Portal:
    """What one replica remembers of one token, as the authenticator does."""

    def __init__(self, stores: Stores, clock: Clock) -> None:
        self.revocations = Revocations(stores.revocations, clock)
        self.tokens = ApiTokens(stores.tokens, stores.people, self.revocations)
        self.looked_up = 0
        self._known: tuple[Identity, float] | None = None

    async def call(self, token: str) -> Identity:
        if self._known is None or not self.revocations.holds(self._known[0].tags, self._known[1]):
            began = self.revocations.now()
            self.looked_up += 1
            identity = await self.tokens.identify(token, "/mcp")
            assert identity is not None
            self._known = identity, began
        return self._known[0]


async def test_two_replicas_on_one_database(tmp_path: Path, clock: Clock) -> None:
    async with empty_stores(tmp_path) as one, empty_stores(tmp_path) as two:
        here, there = Portal(one, clock), Portal(two, clock)
        for portal in (here, there):
            await portal.revocations.begin()
        token, text = await here.tokens.create_operator("ci", Tier.MEMBERS)
        for _ in range(3):
            clock.pass_(1)
            await here.call(text)
            await there.call(text)
        assert (here.looked_up, there.looked_up) == (1, 1)
        await here.tokens.revoke("token:ci", token.id)
        with pytest.raises(BadCredential):
            await here.call(text)
        await there.call(text)  # it has not looked yet, and may trust what it knows
        await there.revocations.look()
        with pytest.raises(BadCredential):
            await there.call(text)
        await asyncio.gather(here.tokens.settled(), there.tokens.settled())


async def test_a_replica_that_never_looks_trusts_for_five_seconds(
    tmp_path: Path, clock: Clock
) -> None:
    async with empty_stores(tmp_path) as one, empty_stores(tmp_path) as two:
        here, there = Portal(one, clock), Portal(two, clock)
        await there.revocations.begin()
        token, text = await here.tokens.create_operator("ci", Tier.MEMBERS)
        await there.call(text)
        await here.tokens.revoke("token:ci", token.id)
        clock.pass_(MAX_SILENCE_S + 0.1)
        with pytest.raises(BadCredential):
            await there.call(text)
        await there.tokens.settled()


async def test_what_is_revoked_anywhere_is_told_and_that_anything_may_be(
    notes: Notes, clock: Clock
) -> None:
    told: list[list[str] | None] = []

    def tell(tags: Sequence[str] | None) -> None:
        told.append(None if tags is None else list(tags))

    here, elsewhere = Revocations(notes, clock, on_revoked=tell), Revocations(notes, clock)
    await here.begin()
    await elsewhere.revoke("fact:a", "person:b")
    await here.look()
    await here.revoke("fact:c")
    assert told == [None, ["fact:a", "person:b"], ["fact:c"]]
