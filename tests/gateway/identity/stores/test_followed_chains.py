"""How far chains were followed: one place for all replicas, which one of them moves."""

from __future__ import annotations

import asyncio

from auth.callers import Account
from auth.chain.follower import FollowerPosition
from auth.stores import Stores
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Replica

PLACE = FollowerPosition(
    1, "a", 2**40, {"0xab:1": (2**40, ("fact:hats:1:*", "fact:chain:10"))}, NOON
)


async def test_a_place_is_kept_as_it_is(stores: Stores) -> None:
    assert await stores.followed.place(10) == FollowerPosition()
    assert await stores.followed.move(10, PLACE)
    assert await stores.followed.place(10) == PLACE
    assert await stores.followed.place(2**40) == FollowerPosition()
    stopped = FollowerPosition(2)
    assert await stores.followed.move(10, stopped)
    assert await stores.followed.place(10) == stopped


async def test_only_who_saw_the_turn_before_moves_a_place(stores: Stores) -> None:
    assert await stores.followed.move(10, PLACE)
    for turn in (1, 3):
        assert not await stores.followed.move(10, FollowerPosition(turn, "b"))
    assert await stores.followed.place(10) == PLACE


async def test_of_many_that_move_it_at_once_on_two_replicas_one_does(
    replica: Replica, other: Replica
) -> None:
    both = [replica.stores.followed, other.stores.followed] * 10
    for turn in (1, 2, 3):
        moved = await asyncio.gather(
            *(each.move(10, FollowerPosition(turn, str(name))) for name, each in enumerate(both))
        )
        assert sum(moved) == 1
        assert (await both[0].place(10)).holder == str(moved.index(True))


async def test_wallets_are_those_of_everyone_who_is_known(stores: Stores) -> None:
    assert await stores.followed.wallets() == []
    for account in (ALICE, OCTO, Account("wallet:0x" + "b" * 40, "wallet")):
        await stores.people.signed_in(account)
    found = await stores.followed.wallets()
    assert sorted(found) == sorted([ALICE.subject.removeprefix("wallet:"), "0x" + "b" * 40])
