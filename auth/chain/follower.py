"""Follows what decides roles on a chain, so that what changed is asked for again at once.

One process of all replicas reads the logs, from the block where the last one stopped; what it
finds only makes answers forgotten (``auth.chain.logs``). The last blocks are read anew at every
look, and what was found in them is compared: a log that is new, and one that is gone because its
block was replaced, both count. A log that is news counts for a while longer, as the endpoint that
is asked next may be some blocks behind.

A head that cannot be right (far behind, far ahead, standing still) is not believed while another
endpoint says otherwise. Where all say so, everything that is known of the chain is forgotten and
the follower goes on from there: nothing that was missed can outlive that, and nothing loops.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from auth.chain.endpoint import Endpoint, EndpointFailed, RangeRefused
from auth.chain.logs import Watch, everything
from auth.chain.rpc import Rpc
from auth.facts import SourceUnavailable

WINDOW = 64
"""Blocks that are read anew at every look; no chain that is read here replaces more in practice."""
SPAN = 1_000
"""Blocks that are read at once, at most; less where the endpoint refuses."""
GAP = 2_000
"""Blocks after which it is cheaper to forget all that is known of the chain than to catch up."""
NEWS = 30.0
"""Seconds for which a log that is news counts again at every look."""
MANY = 200
"""Tags of one look above which all that is known of the chain is forgotten instead."""
LEASE = 15.0
"""Seconds of silence after which another process follows in the place of one that stopped."""
HEARD = 20.0
"""Seconds without news of the chain after which it is not followed any more."""
STILL = 60.0
"""Seconds after which a head that does not move is not believed."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a chain was followed, as all replicas see it.

    Attributes:
        turn: grows by one with every change; who changes it names the turn that they saw.
        holder: the process that follows, or None where it stopped in good order.
        block: the block up to which logs were read, or None before the first look.
        logs: what was found in the last blocks: each log's block and tags, by its id.
        heard: when the chain last answered and all its logs were read, in UTC.
    """

    turn: int = 0
    holder: str | None = None
    block: int | None = None
    logs: Mapping[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    heard: datetime | None = None


class FollowerStore(Protocol):
    """Where followers keep their place."""

    async def place(self, chain: int) -> Place:
        """How far a chain was followed."""
        ...

    async def move(self, chain: int, place: Place) -> bool:
        """Keep a place, if the one that is kept is of the turn before; whether it was."""
        ...

    async def wallets(self) -> Sequence[str]:
        """The addresses of everyone who is known, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Following:
    """How a chain is followed, for those who run the portal.

    Attributes:
        chain: the chain's id.
        block: the block up to which logs were read, or None before the first look.
        heard: when the chain last answered and all its logs were read, or None.
        leads: whether this process reads the logs.
        followed: whether all that was logged is known, up to a moment ago.
        problem: why the chain cannot be followed now, or None.
    """

    chain: int
    block: int | None
    heard: datetime | None
    leads: bool
    followed: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class _Read:
    """What one look found: the head, and the logs of the blocks ``low`` to ``high``."""

    head: int
    low: int
    high: int
    logs: Sequence[Mapping[str, Any]]
    lost: bool


class _Implausible(EndpointFailed):
    """The endpoint's head cannot be right."""


class _Refused(Exception):
    """So many blocks are not read at once; it is no failure of the endpoint."""


class Follower:
    """Follows one chain; any number of processes may, and one of them reads the logs.

    Args:
        rpc: the chain.
        watch: what decides roles there.
        store: where the place is kept.
        forget: makes all replicas forget what carries these tags; called before the place moves.
        clock: seconds that only grow; replaced in tests.
        wall: the time in UTC, which is only shown.
    """

    def __init__(
        self,
        rpc: Rpc,
        watch: Watch,
        store: FollowerStore,
        forget: Callable[[Iterable[str]], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._rpc = rpc
        self._watch = watch
        self._store = store
        self._forget = forget
        self._clock = clock
        self._wall = wall
        self._name = uuid.uuid4().hex
        self._place = Place(turn=-1)
        self._changed = self._moved = clock()
        self._heard = -math.inf
        self._span = SPAN
        self._news: dict[str, float] = {}
        self._problem: str | None = None

    @property
    def is_heard(self) -> bool:
        """Whether what is logged is known: all of it was read a moment ago."""
        return self._clock() - self._heard <= HEARD

    @property
    def state(self) -> Following:
        """How the chain is followed."""
        place = self._place
        leads = place.holder == self._name
        chain, problem = self._rpc.chain_id, self._problem
        if problem is None and not self.is_heard and place.heard is not None:
            problem = f"The newest block that is told of is {place.block}."
        return Following(chain, place.block, place.heard, leads, self.is_heard, problem)

    async def look(self) -> bool:
        """Read what is new, or see how the process does that reads it.

        Returns:
            Whether there is more to read at once.

        Raises:
            StoreUnavailable: the place, or what is to be forgotten, cannot be written. Nothing is
                lost by it: the same is read again.
        """
        self._see(await self._store.place(self._rpc.chain_id))
        if self._place.holder != self._name and not await self._taken():
            self._problem = None
            return False
        try:
            read = await self._read()
        except SourceUnavailable as error:
            self._problem = str(error)
            return False  # and another process may follow, which perhaps hears more
        self._problem = None
        await self._take_in(read)
        return read.high < read.head

    async def stop(self) -> None:
        """Let another process follow at once."""
        if self._place.holder == self._name:
            await self._keep(replace(self._place, holder=None))

    def _see(self, place: Place) -> None:
        now = self._clock()
        if place.turn != self._place.turn:
            self._changed = now
            # Of another process, only that it heard something new since this one last looked.
            if place.heard != self._place.heard and self._place.turn >= 0:
                self._heard = now
        self._place = place

    async def _taken(self) -> bool:
        """Whether this process follows from now on."""
        held = self._place.holder is not None
        if held and self._clock() - self._changed < LEASE:
            return False
        recent = (tag for _, tags in self._place.logs.values() for tag in tags)
        self._news = dict.fromkeys(recent, self._clock())
        self._moved, self._span = self._clock(), SPAN
        return await self._keep(replace(self._place, holder=self._name))

    async def _keep(self, place: Place) -> bool:
        place = replace(place, turn=place.turn + 1)
        kept = await self._store.move(self._rpc.chain_id, place)
        if kept:
            self._place, self._changed = place, self._clock()
        return kept

    async def _read(self) -> _Read:
        while True:
            try:
                return await self._range()
            except _Refused:
                self._span = max(1, self._span // 2)

    async def _range(self) -> _Read:
        try:
            read = await self._rpc.first(lambda endpoint: self._look_at(endpoint, strict=True))
        except SourceUnavailable:
            # None that can be believed; then as the first one says that answers at all.
            read = await self._rpc.first(lambda endpoint: self._look_at(endpoint, strict=False))
        self._span = min(SPAN, self._span + 1)
        return read

    async def _look_at(self, endpoint: Endpoint, *, strict: bool) -> _Read:
        """Ask one endpoint for its head and for logs: another may not know the same blocks."""
        head = await endpoint.head()
        block = self._place.block
        lost = block is None or not block - WINDOW <= head <= block + GAP
        if strict and block is not None and (lost or self._stands_still(head, block)):
            raise _Implausible(f"it says that the newest block is {head}, after {block}")
        start = head if block is None or lost else min(block, head)
        low = max(0, start + 1 - min(WINDOW, self._span // 2))
        high = min(head, low + self._span - 1)
        wallets = await self._store.wallets() if self._watch.tokens else []
        span = {"fromBlock": hex(low), "toBlock": hex(high)}
        filters = [each | span for each in self._watch.filters(wallets)]
        try:
            logs = await endpoint.logs(filters) if filters else []
        except RangeRefused as error:
            if self._span == 1:
                raise EndpointFailed(str(error)) from None
            raise _Refused from None
        return _Read(head, low, high, logs, lost)

    def _stands_still(self, head: int, block: int) -> bool:
        return head <= block and self._clock() - self._moved > STILL

    async def _take_in(self, read: _Read) -> None:
        """Have what is concerned forgotten, and then keep the new place."""
        now, before = self._clock(), self._place.logs
        found, again = self._found(read.logs)
        covered = {each for each, (block, _) in before.items() if read.low <= block <= read.high}
        new = {each: found[each] for each in found.keys() - before.keys()}
        gone = {each: before[each] for each in covered - found.keys()}
        again |= {tag for _, tags in (*new.values(), *gone.values()) for tag in tags}
        self._news |= dict.fromkeys(again, now)
        self._news = {tag: since for tag, since in self._news.items() if now - since <= NEWS}
        all_of_it = read.lost or len(self._news) > MANY
        await self._forget([everything(self._rpc.chain_id)] if all_of_it else sorted(self._news))
        kept = {each: log for each, log in before.items() if each not in covered} | found
        if self._place.block is None or read.lost or read.high > self._place.block:
            self._moved = now
        heard = read.high == read.head and now - self._moved <= STILL
        place = replace(
            self._place,
            block=read.high,
            logs={each: log for each, log in kept.items() if log[0] > read.high - WINDOW},
            heard=self._wall() if heard else self._place.heard,
        )
        if await self._keep(place) and heard:
            self._heard = now

    def _found(
        self, logs: Sequence[Mapping[str, Any]]
    ) -> tuple[dict[str, tuple[int, tuple[str, ...]]], set[str]]:
        """The logs that concern a rule, by their ids, and the tags of those without a place."""
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        again: set[str] = set()
        for log in logs:
            concerned = self._watch.concerns(log)
            try:
                block, index = int(log["blockNumber"], 16), int(log["logIndex"], 16)
                known = f"{log['blockHash']}:{index}"
            except (KeyError, TypeError, ValueError):
                block = -1  # of a block that is not there yet, or of none
            if block < 0 or log.get("removed"):
                again |= concerned
            elif concerned:
                found[known] = block, tuple(sorted(concerned))
        return found, again
