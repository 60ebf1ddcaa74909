"""Whether the caller of something that lasts is still who they were when it began."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from auth import BadCredential, Caller
from auth.stores import StoreUnavailable
from gateway.pipeline.call_context import WhoNow

RECHECK_SECONDS = 2.0
"""Seconds after which an open stream asks again who its caller is, which is remembered mostly:
what was revoked hears nothing more within 5 s, also where it was revoked at another replica."""


def _always() -> bool:
    return True


async def until_changed(
    caller: Caller, again: WhoNow, allowed: Callable[[], bool] = _always
) -> None:
    """Return once a caller is no longer who they were, or may no longer do what they do.

    Args:
        caller: who they were.
        again: finds out once more who they are.
        allowed: whether they still may.
    """
    now = caller
    while _rights(now) == _rights(caller) and allowed():
        await asyncio.sleep(RECHECK_SECONDS)
        try:
            now = await again()
        except (BadCredential, StoreUnavailable):
            return  # who cannot be recognised any more hears no more


def _rights(caller: Caller) -> tuple[object, ...]:
    return caller.person, caller.tier, caller.groups, caller.tools
