"""A chain in memory, for what is decided about it: it forks; its node fails, lies, refuses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auth.chain.endpoint import EndpointFailed, RangeRefused
from auth.chain.event_logs import _topic
from auth.chain.follower import FollowerPosition
from auth.facts import Question
from auth.stores import StoreUnavailable
from tests.chain.anvil import HATS

WEARERS = [f"0x{number:040x}" for number in (0xA1, 0xB2, 0xC3)]
HAT_IDS = [1 << 224, 2 << 224]
Event = tuple[str, int, int]
"""``given`` or ``status``, the wearer's place and the hat's place."""


@dataclass
class Blocks:
    """Blocks of events. An event turns over what it is about, so each one matters."""

    blocks: list[tuple[int, tuple[Event, ...]]] = field(default_factory=lambda: [(0, ())] * 100)
    made: Any = field(default_factory=lambda: itertools.count(1))

    def mine(self, *events: Event) -> None:
        self.blocks.append((next(self.made), events))

    def fork(self, depth: int, *blocks: tuple[Event, ...]) -> None:
        """Replace the last blocks by others, and by as many as there were at least."""
        del self.blocks[-depth:]
        for events in (*blocks, *[()] * (depth - len(blocks))):
            self.mine(*events)

    def worn(self, question: Question) -> bool:
        _, wearer, hat = question.key
        wanted: list[tuple[Any, Any, Any]] = [("given", wearer, hat), ("status", "", hat)]
        events = [_named(event) for _, events in self.blocks for event in events]
        given, off = (events.count(each) % 2 for each in wanted)
        return bool(given and not off)

    def logs(self, low: int, high: int) -> list[dict[str, Any]]:
        return [
            _log(number, made, place, event)
            for number, (made, events) in enumerate(self.blocks)
            if low <= number <= high
            for place, event in enumerate(events)
        ]


def _named(event: Event) -> tuple[str, object, int]:
    kind, wearer, hat = event
    return kind, WEARERS[wearer] if kind == "given" else "", HAT_IDS[hat]


def _log(number: int, made: int, place: int, event: Event) -> dict[str, Any]:
    kind, wearer, hat = event
    data = f"{HAT_IDS[hat]:064x}{1:064x}"
    if kind == "given":
        event_ = "TransferSingle(address,address,address,uint256,uint256)"
        people = [f"0x{0:064x}", f"0x{0:064x}", "0x" + WEARERS[wearer][2:].rjust(64, "0")]
    else:
        event_, people = "HatStatusChanged(uint256,bool)", []
    return {
        "address": HATS.lower(),
        "topics": [_topic(event_), *people],
        "data": "0x" + data,
        "blockNumber": hex(number),
        "blockHash": f"0x{made:064x}",
        "logIndex": hex(place),
    }


class Node:
    """An endpoint of the chain; speaks as ``auth.chain.endpoint.Endpoint`` does."""

    host = "node.example.org"

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.down = False
        self.says: int | None = None
        self.most = 10_000
        self.shuffled: random.Random | None = None
        self.asked = 0

    async def head(self) -> int:
        self.asked += 1
        if self.down:
            raise EndpointFailed("it does not answer in time")
        return len(self.blocks.blocks) - 1 if self.says is None else self.says

    async def logs(self, filters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        self.asked += 1
        (asked,) = filters
        low, high = int(asked["fromBlock"], 16), int(asked["toBlock"], 16)
        if high - low >= self.most:
            raise RangeRefused("it answers eth_getLogs with JSON-RPC error -32005")
        found = self.blocks.logs(low, high)
        if self.shuffled:
            found += [each | {"removed": True} for each in found[:1]] + found
            self.shuffled.shuffle(found)
        return found


class Places:
    """Where followers keep their places, in memory; can be out of reach."""

    def __init__(self) -> None:
        self.kept = FollowerPosition()
        self.down = False
        self.known: list[str] = list(WEARERS)

    async def place(self, chain: int) -> FollowerPosition:
        self._check()
        return self.kept

    async def move(self, chain: int, place: FollowerPosition) -> bool:
        self._check()
        if place.turn != self.kept.turn + 1:
            return False
        self.kept = place
        return True

    async def wallets(self) -> list[str]:
        return self.known

    def _check(self) -> None:
        if self.down:
            raise StoreUnavailable("the database is out of reach")
