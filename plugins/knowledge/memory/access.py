"""Who may read an entry: one set intersection, for every store and every way of reading.

An entry names its readers, a caller carries keys, and who holds a key that the entry names may
read it. SQL, vector filters and streams all compare the same two sets, so that no way of reading
can decide otherwise. What an entry's owner, its policy and the people and groups it names make of
it is said here alone (protocol, "Access Policy").
"""

from __future__ import annotations

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
            return frozenset(own | {_group(one) for one in access.allowed_teams})
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
    held = {ANYONE, person_key(caller.person), *map(_group, caller.groups)}
    if caller.tier.allows(Tier.MEMBERS):
        held.add(MEMBER)
    return frozenset(held)


def _group(name: str) -> str:
    return f"group:{name}"
