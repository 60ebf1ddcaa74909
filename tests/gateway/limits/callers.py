"""Callers who call until they are told to stop."""

from __future__ import annotations

from typing import Any

from auth import Caller, Tier
from gateway.config.portal_keys import Limits
from gateway.limits.call_limits import CallLimits, RateLimited

ANA = Caller(person="person:ana", tier=Tier.MEMBERS)
BEN = Caller(person="person:ben", tier=Tier.PUBLIC)
STRANGER = Caller(person=None, tier=Tier.OPEN)
ANAS_AGENT = Caller(person="person:ana", tier=Tier.MEMBERS, client="grant:agent")


def limits(**written: Any) -> Limits:
    return Limits.model_validate(written)


async def allowed(counted: CallLimits, caller: Caller, tool: str = "", peer: str = "a") -> int:
    """How many calls are answered before one is not; at most 2000, each with its own argument."""
    for number in range(2000):
        try:
            await counted.take(caller, peer, tool, {"number": number})
        except RateLimited:
            return number
    return 2000
