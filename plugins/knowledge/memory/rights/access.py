"""The keys that a caller holds, compared with those that an entry names.

An entry names its readers, a caller carries keys, and who holds a key that the entry names may
read it. SQL, vector filters and streams all compare the same two sets, so that no way of reading
can decide otherwise. What an entry's owner, its policy and the people and groups it names make of
it is said here alone (protocol, "Access Policy").
"""

from __future__ import annotations

from collections.abc import Collection

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.model.policy import (
    ADMIN_KEY,
    ANYONE_KEY,
    MEMBERS_KEY,
    author_key,
    group_key,
    person_key,
)


def caller_keys(caller: Caller) -> frozenset[str]:
    """What a caller can read by; nothing where nobody is signed in.

    A credential that is limited to the open tier carries none of its person's keys either.
    """
    if caller.person is None or not caller.tier.allows(Tier.PUBLIC):
        return frozenset()
    held = {ANYONE_KEY, person_key(caller.person), *map(group_key, caller.groups)}
    if caller.tier.allows(Tier.MEMBERS):
        held.add(MEMBERS_KEY)
    return frozenset(held)


def notice_keys(caller: Caller) -> frozenset[str]:
    """What a caller hears notices by: their own keys, an admin's, and that of their name."""
    held = caller_keys(caller)
    if held and caller.admin:
        held |= {ADMIN_KEY}
    if held and caller.name:
        held |= {author_key(caller.name, each) for each in Tier if caller.tier.allows(each)}
    return held


def intersect_keys(some: Collection[str], others: Collection[str]) -> frozenset[str]:
    """The keys whose holders all hold one of each: of two that meet, the narrower one.

    Args:
        some: keys.
        others: likewise. A group and the members meet in no key, though somebody may hold both.
    """
    narrower = {one for one in some if one in others or ANYONE_KEY in others}
    return frozenset(narrower | {one for one in others if ANYONE_KEY in some})


def meet_only_within(
    some: Collection[str], others: Collection[str], all_of: Collection[str]
) -> bool:
    """Whether whoever holds one key of each of two sets is sure to hold one of a third.

    Args:
        some: keys.
        others: likewise. Two people's keys nobody holds both.
        all_of: the third.
    """
    if ANYONE_KEY in all_of:
        return True
    return all(
        one in all_of or other in all_of or (one != other and _is_person(one) and _is_person(other))
        for one in some
        for other in others
    )


def _is_person(key: str) -> bool:
    return key.startswith(person_key(""))


def lost_readers(before: Collection[str], now: Collection[str]) -> frozenset[str]:
    """The readers of an event that tells who may read an entry no longer that it is gone.

    Whoever holds one of the other keys as well still reads it, and is not told so.

    Args:
        before: the entry's readers before.
        now: its readers now.
    """
    left = frozenset(before) - frozenset(now)
    return left | {exclusion_key(key) for key in now} if left else left


def exclusion_key(key: str) -> str:
    """Among an event's readers: that who holds a key is not told, whatever else they hold."""
    return f"!{key}"


def is_addressed(told: frozenset[str], held: frozenset[str]) -> bool:
    """Whether who holds some keys is told of an event.

    Args:
        told: its readers.
        held: the keys.
    """
    return not told.isdisjoint(held) and told.isdisjoint(map(exclusion_key, held))
