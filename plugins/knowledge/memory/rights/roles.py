"""Who may do what in memory, beside what an entry's own policy says (protocol, "Authorization")."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, field_validator

from gateway.contract import Caller, PluginConfig, Tier
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import (
    ADMIN_KEY,
    ANYONE_KEY,
    MEMBERS_KEY,
    AccessPolicy,
    group_key,
)
from plugins.knowledge.memory.model.record import Record

_GROUP = "group:"
_ADMIN = "admin"
_TIERS = {str(tier): tier for tier in (Tier.PUBLIC, Tier.MEMBERS)}
_KEYS = {str(Tier.PUBLIC): ANYONE_KEY, str(Tier.MEMBERS): MEMBERS_KEY, _ADMIN: ADMIN_KEY}
NAMING_POLICIES = frozenset({AccessPolicy.RESTRICTED, AccessPolicy.SHARED})
"""Policies that name people: those may change an entry as well as read it."""


class Roles(PluginConfig):
    """Who may do what: ``public`` (signed in), ``members``, ``admin`` or ``group:NAME``."""

    read: tuple[str, ...] = Field(("public",), description="Who may ask memory.")
    write: tuple[str, ...] = Field(("public",), description="Who may add and change entries.")
    delete: tuple[str, ...] = Field(("public",), description="Who may remove entries of theirs.")
    approve: tuple[str, ...] = Field(
        ("members",), description="Who may allow what others asked for."
    )

    @field_validator("read", "write", "delete", "approve")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            group = name.startswith(_GROUP) and len(name) > len(_GROUP)
            if name not in _TIERS and name != _ADMIN and not group:
                raise ValueError(f"{name!r} is none of public, members, admin and group:NAME")
        return names


def has_role(caller: Caller, names: Sequence[str]) -> bool:
    """Whether a caller is one of these; nobody is who is not signed in."""
    if caller.person is None:
        return False
    return any(
        (name in _TIERS and caller.tier.allows(_TIERS[name]))
        or (name == _ADMIN and caller.admin)
        or (name.startswith(_GROUP) and name.removeprefix(_GROUP) in caller.groups)
        for name in names
    )


def role_keys(names: Sequence[str]) -> frozenset[str]:
    """The keys that make their holder one of these."""
    groups = (each.removeprefix(_GROUP) for each in names if each.startswith(_GROUP))
    return frozenset({*map(group_key, groups), *(_KEYS[each] for each in names if each in _KEYS)})


def require_role(caller: Caller, names: Sequence[str], what: str) -> str:
    """The caller's id, if they are one of these.

    Args:
        caller: who asks.
        names: of the roles that may.
        what: what they want to do, for the error: ``write to memory``.

    Raises:
        MemoryFailed: they may not.
    """
    if caller.person is None:
        raise MemoryFailed(ErrorCode.UNAUTHORIZED, f"Sign in to {what}.")
    if not has_role(caller, names):
        message = f"You may not {what} here; it takes {' or '.join(names)}."
        raise MemoryFailed(ErrorCode.FORBIDDEN, message)
    return caller.person


def may_change(caller: Caller, record: Record) -> bool:
    """Whether a caller who can read an entry may write a new version of it."""
    return may_remove(caller, record) or record.access.policy in NAMING_POLICIES


def may_remove(caller: Caller, record: Record) -> bool:
    """Whether a caller may remove an entry, or say who reads it: its owner, and an admin."""
    return caller.admin or caller.person == record.owner
