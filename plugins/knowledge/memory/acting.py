"""What it takes to do later what somebody asks for now, with the rights that they ask with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.contract import Caller, Tier


def rights(caller: Caller) -> dict[str, Any]:
    """A caller's rights, as JSON values; who they are is kept beside."""
    return {
        "tier": caller.tier.value,
        "groups": sorted(caller.groups),
        "admin": caller.admin,
    }


def acting(person: str, said: Mapping[str, Any]) -> Caller:
    """The caller again.

    Args:
        person: their id.
        said: what :func:`rights` gave.
    """
    groups = frozenset(said["groups"])
    return Caller(person, Tier(said["tier"]), groups=groups, admin=said["admin"])
