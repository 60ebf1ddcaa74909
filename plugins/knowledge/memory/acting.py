"""What it takes to do later what somebody asks for now, with the rights that they ask with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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


def vouched(asker: Caller, approver: Caller) -> Caller:
    """Who asked, with what somebody who approves now vouches for: an admin's right by an admin.

    Whether they still have the rights that they asked with, nobody here can tell.

    Args:
        asker: who asked, with the rights of then.
        approver: who approves, with those of now.
    """
    return replace(asker, admin=asker.admin and approver.admin)
