"""An entry's access policy, and the keys that let somebody read it (protocol, "Access Policy").

Every entry names the keys that may read it, and every caller holds keys (``rights/access.py``). Who
holds a key that the entry names may read it. SQL, vector filters and streams compare these two sets
and nothing else, so they cannot decide differently.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from gateway.contract import Tier
from plugins.knowledge.memory.model.fields import Part

ANYONE_KEY = "tier:public"
"""Held by everyone who is signed in."""
MEMBERS_KEY = "tier:members"
"""Held by members."""
ADMIN_KEY = "role:admin"
"""Held by admins. No entry names it: notices do."""


def person_key(id: str) -> str:
    """The key of one person."""
    return f"person:{id}"


def group_key(name: str) -> str:
    """The key of the members of a group."""
    return f"group:{name}"


def author_key(name: str, tier: Tier) -> str:
    """The key of those who are called so, and may read what is of a tier.

    No entry names it, for whoever likes may be called so.

    Args:
        name: as a document names its author, or the portal a person.
        tier: of what they are told of.
    """
    return f"author:{tier}:{name.strip().casefold()}"


class AccessPolicy(StrEnum):
    """Who may read an entry."""

    PRIVATE = "private"
    RESTRICTED = "restricted"
    SHARED = "shared"
    ORGANIZATION = "organization"
    PUBLIC = "public"


class AccessPolicyConfig(Part):
    """A policy, and whom it names."""

    policy: AccessPolicy = Field(description="Who may read the entry.")
    approved_users: tuple[str, ...] = Field(
        (), max_length=1000, description="The ids of people who may, where it is restricted."
    )
    allowed_teams: tuple[str, ...] = Field(
        (), max_length=100, description="The groups whose members may, where it is shared."
    )


PRIVATE = AccessPolicyConfig(policy=AccessPolicy.PRIVATE)
"""The policy of what is its owner's alone."""


def readers(owner: str, access: AccessPolicyConfig) -> frozenset[str]:
    """The keys that let their holder read an entry; any one is enough.

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
            return frozenset(own | {MEMBERS_KEY})
        case AccessPolicy.PUBLIC:
            return frozenset(own | {ANYONE_KEY})
