"""Who may read an entry: one set intersection, for every store and every way of reading.

An entry names its readers, a caller carries keys, and who holds a key that the entry names may
read it. SQL, vector filters and streams all compare the same two sets, so that no way of reading
can decide otherwise. What an entry's owner, its policy and the people and groups it names make of
it is said here alone (protocol, "Access Policy").
"""

from __future__ import annotations

from collections.abc import Collection

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.entries import AccessPolicy, AccessPolicyConfig

ANYONE = "tier:public"
"""Held by everyone who is signed in."""
MEMBER = "tier:members"
"""Held by members."""


def person_key(id: str) -> str:
    """The key of one person."""
    return f"person:{id}"


def readers(owner: str, access: AccessPolicyConfig) -> frozenset[str]:
    """The keys of which a caller needs one.

    Args:
        owner: the id of the person whose entry it is; they can always read it.
        access: the policy, and whom it names.
    """
    own = {person_key(owner)}
    match access.policy:
        case AccessPolicy.PRIVATE:
            return frozenset(own)
        case AccessPolicy.RESTRICTED:
            return frozenset(own | {person_key(one) for one in access.approved_users})
        case AccessPolicy.SHARED:
            return frozenset(own | {group_key(one) for one in access.allowed_teams})
        case AccessPolicy.ORGANIZATION:
            return frozenset(own | {MEMBER})
        case AccessPolicy.PUBLIC:
            return frozenset(own | {ANYONE})


def keys(caller: Caller) -> frozenset[str]:
    """What a caller can read by; nothing where nobody is signed in.

    A credential that is limited to the open tier carries none of its person's keys either.
    """
    if caller.person is None or not caller.tier.allows(Tier.PUBLIC):
        return frozenset()
    held = {ANYONE, person_key(caller.person), *map(group_key, caller.groups)}
    if caller.tier.allows(Tier.MEMBERS):
        held.add(MEMBER)
    return frozenset(held)


def both(some: Collection[str], others: Collection[str]) -> frozenset[str]:
    """The keys whose holders all hold one of each: of two that meet, the narrower one.

    Args:
        some: keys.
        others: likewise. A group and the members meet in no key, though somebody may hold both.
    """
    narrower = {one for one in some if one in others or ANYONE in others}
    return frozenset(narrower | {one for one in others if ANYONE in some})


def lost(before: Collection[str], now: Collection[str]) -> frozenset[str]:
    """The readers of an event that tells who may read an entry no longer that it is gone.

    Whoever holds one of the other keys as well still reads it, and is not told so.

    Args:
        before: the entry's readers before.
        now: its readers now.
    """
    left = frozenset(before) - frozenset(now)
    return left | {except_for(key) for key in now} if left else left


def except_for(key: str) -> str:
    """Among an event's readers: that who holds a key is not told, whatever else they hold."""
    return f"!{key}"


def hears(told: frozenset[str], held: frozenset[str]) -> bool:
    """Whether who holds some keys is told of an event.

    Args:
        told: its readers.
        held: the keys.
    """
    return not told.isdisjoint(held) and told.isdisjoint(map(except_for, held))


def group_key(name: str) -> str:
    """The key of the members of a group."""
    return f"group:{name}"
