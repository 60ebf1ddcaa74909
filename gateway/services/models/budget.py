"""Where budgets join in: asked before every request to a provider, and told after it."""

from __future__ import annotations

from typing import Protocol

from auth import Caller
from gateway.services.models.records import CallEnd, CallStart

__all__ = ["UNLIMITED", "Budget"]


class Budget(Protocol):
    """Decides whether somebody may spend more."""

    async def before_call(self, caller: Caller | None, call: CallStart) -> None:
        """Let a request to a provider happen, or not.

        It is asked for each request, again where one is repeated, and takes no time to speak of.

        Args:
            caller: for whom; None where it is for the portal itself.
            call: what is about to happen. It is not in the table of usage yet.

        Raises:
            ModelFailed: ``budget_reached``; no request is made.
        """
        ...

    async def after_call(self, call: CallStart, end: CallEnd) -> None:
        """Hear what became of it; the table of usage has it already. Not called after a kill."""
        ...


class _Unlimited:
    async def before_call(self, caller: Caller | None, call: CallStart) -> None:
        """Let it happen."""

    async def after_call(self, call: CallStart, end: CallEnd) -> None:
        """Remember nothing."""


UNLIMITED: Budget = _Unlimited()
"""The budget of a portal that sets none."""
