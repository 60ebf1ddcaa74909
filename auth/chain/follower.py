"""Follows the event logs of one chain, so that roles that may have changed are asked for at once.

One process of all replicas reads the logs, from the block where the last one stopped; a log only
makes answers be dropped (``auth.chain.event_logs``). The last blocks are read again each time and
compared with what was found in them before: a new log counts, and so does one that is gone
because its block was replaced (a reorganisation). The tags of a change are repeated for a while,
as the endpoint that is asked for the role next may be some blocks behind.

A head (newest block) that is implausible, because it is far behind, far ahead or does not move, is
not believed while another endpoint says otherwise. If all agree on it, all answers of the chain
are dropped and the follower goes on from that head: nothing that was missed outlives that.
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
from auth.chain.event_logs import Watch, everything
from auth.chain.rpc import Rpc
from auth.facts import SourceUnavailable

REORG_WINDOW_BLOCKS = 64
"""Blocks that are read again each time; chains replace fewer than these in practice."""
MAX_BLOCKS_PER_READ = 1_000
"""Blocks in one read, at most; fewer if the endpoint refuses."""
MAX_GAP_BLOCKS = 2_000
"""Blocks from which dropping all answers of the chain is cheaper than catching up."""
NEWS_REPEAT_S = 30.0
"""Seconds for which the tags of a change are repeated at every read."""
MAX_TAGS_PER_READ = 200
"""Tags of one read above which all answers of the chain are dropped instead."""
LEASE_TIMEOUT_S = 15.0
"""Seconds without progress after which another process takes over."""
MAX_SILENCE_S = 20.0
"""Seconds without a complete read after which the chain does not count as followed."""
MAX_STILL_HEAD_S = 60.0
"""Seconds after which a head that does not move is implausible."""


@dataclass(frozen=True, slots=True)
class FollowerPosition:
    """How far a chain was followed, as all replicas see it.

    Attributes:
        turn: grows by one with every change; a change must be based on the stored turn.
        holder: the process that follows, or None if it stopped in good order.
        block: the block up to which logs were read, or None before the first look.
        logs: the logs of the last blocks: block and tags by the log's id.
        heard: when all logs up to the head were last read, in UTC.
    """

    turn: int = 0
    holder: str | None = None
    block: int | None = None
    logs: Mapping[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    heard: datetime | None = None


class FollowerStore(Protocol):
    """Stores how far chains were followed."""

    async def place(self, chain: int) -> FollowerPosition:
        """How far a chain was followed."""
        ...

    async def move(self, chain: int, place: FollowerPosition) -> bool:
        """Store a position if the stored one is of the turn before; whether it was."""
        ...

    async def wallets(self) -> Sequence[str]:
        """The wallet addresses of all known people, each once."""
        ...


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """How a chain is followed, for those who run the portal.

    Attributes:
        chain: the chain's id.
        block: the block up to which logs were read, or None before the first look.
        heard: when all logs up to the head were last read, or None.
        leads: whether this process reads the logs.
        followed: whether that was no longer than :data:`MAX_SILENCE_S` ago.
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
    """The result of one read: the head, and the logs of the blocks ``low`` to ``high``."""

    head: int
    low: int
    high: int
    logs: Sequence[Mapping[str, Any]]
    lost: bool


class _Implausible(EndpointFailed):
    """The endpoint's head is implausible."""


class _Refused(Exception):
    """The endpoint refuses so many blocks at once, which is no failure of it."""


class Follower:
    """Follows one chain; any number of processes may, and one of them reads the logs.

    Args:
        rpc: the chain.
        watch: the contracts, hats and tokens to follow.
        store: stores how far the chain was followed.
        forget: makes all replicas drop answers with these tags; called before the position is
            stored.
        clock: seconds that only grow; replaced in tests.
        wall: the time in UTC, for display only.
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
        self._place = FollowerPosition(turn=-1)
        self._changed = self._moved = clock()
        self._heard = -math.inf
        self._span = MAX_BLOCKS_PER_READ
        self._news: dict[str, float] = {}
        self._problem: str | None = None

    @property
    def is_heard(self) -> bool:
        """Whether all logs up to the head were read a moment ago."""
        return self._clock() - self._heard <= MAX_SILENCE_S

    @property
    def state(self) -> ChainStatus:
        """How the chain is followed."""
        place = self._place
        leads = place.holder == self._name
        chain, problem = self._rpc.chain_id, self._problem
        if problem is None and not self.is_heard and place.heard is not None:
            problem = f"The newest block that is told of is {place.block}."
        return ChainStatus(chain, place.block, place.heard, leads, self.is_heard, problem)

    async def look(self) -> bool:
        """Read what is new if this process follows, else check on the one that does.

        Returns:
            Whether there is more to read at once.

        Raises:
            StoreUnavailable: the position or the tags cannot be written. Nothing is lost: the same
                logs are read again.
        """
        self._see(await self._store.place(self._rpc.chain_id))
        if self._place.holder != self._name and not await self._taken():
            self._problem = None
            return False
        try:
            read = await self._read()
        except SourceUnavailable as error:
            self._problem = str(error)
            return False  # another process, whose endpoints may answer, can take over
        self._problem = None
        await self._take_in(read)
        return read.high < read.head

    async def stop(self) -> None:
        """Let another process take over at once."""
        if self._place.holder == self._name:
            await self._keep(replace(self._place, holder=None))

    def _see(self, place: FollowerPosition) -> None:
        now = self._clock()
        if place.turn != self._place.turn:
            self._changed = now
            # What counts of another process is that it read something since this one last looked.
            if place.heard != self._place.heard and self._place.turn >= 0:
                self._heard = now
        self._place = place

    async def _taken(self) -> bool:
        """Take over if nobody follows; whether this process follows from now on."""
        held = self._place.holder is not None
        if held and self._clock() - self._changed < LEASE_TIMEOUT_S:
            return False
        recent = (tag for _, tags in self._place.logs.values() for tag in tags)
        self._news = dict.fromkeys(recent, self._clock())
        self._moved, self._span = self._clock(), MAX_BLOCKS_PER_READ
        return await self._keep(replace(self._place, holder=self._name))

    async def _keep(self, place: FollowerPosition) -> bool:
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
            # No endpoint is plausible; then take the first that answers at all.
            read = await self._rpc.first(lambda endpoint: self._look_at(endpoint, strict=False))
        self._span = min(MAX_BLOCKS_PER_READ, self._span + 1)
        return read

    async def _look_at(self, endpoint: Endpoint, *, strict: bool) -> _Read:
        """Ask one endpoint for both head and logs: another may not know the same blocks."""
        head = await endpoint.head()
        block = self._place.block
        lost = block is None or not block - REORG_WINDOW_BLOCKS <= head <= block + MAX_GAP_BLOCKS
        if strict and block is not None and (lost or self._stands_still(head, block)):
            raise _Implausible(f"it says that the newest block is {head}, after {block}")
        start = head if block is None or lost else min(block, head)
        low = max(0, start + 1 - min(REORG_WINDOW_BLOCKS, self._span // 2))
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
        return head <= block and self._clock() - self._moved > MAX_STILL_HEAD_S

    async def _take_in(self, read: _Read) -> None:
        """Have the concerned answers dropped, and then store the new position."""
        now, before = self._clock(), self._place.logs
        found, again = self._found(read.logs)
        covered = {each for each, (block, _) in before.items() if read.low <= block <= read.high}
        new = {each: found[each] for each in found.keys() - before.keys()}
        gone = {each: before[each] for each in covered - found.keys()}
        again |= {tag for _, tags in (*new.values(), *gone.values()) for tag in tags}
        self._news |= dict.fromkeys(again, now)
        self._news = {
            tag: since for tag, since in self._news.items() if now - since <= NEWS_REPEAT_S
        }
        all_of_it = read.lost or len(self._news) > MAX_TAGS_PER_READ
        await self._forget([everything(self._rpc.chain_id)] if all_of_it else sorted(self._news))
        kept = {each: log for each, log in before.items() if each not in covered} | found
        if self._place.block is None or read.lost or read.high > self._place.block:
            self._moved = now
        heard = read.high == read.head and now - self._moved <= MAX_STILL_HEAD_S
        place = replace(
            self._place,
            block=read.high,
            logs={
                each: log for each, log in kept.items() if log[0] > read.high - REORG_WINDOW_BLOCKS
            },
            heard=self._wall() if heard else self._place.heard,
        )
        if await self._keep(place) and heard:
            self._heard = now

    def _found(
        self, logs: Sequence[Mapping[str, Any]]
    ) -> tuple[dict[str, tuple[int, tuple[str, ...]]], set[str]]:
        """The logs that concern a rule, by id, and the tags of those that are in no block."""
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
