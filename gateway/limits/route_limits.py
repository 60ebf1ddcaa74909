"""How often one caller may ask for each REST operation.

Programs read HTTP, so a refusal is a 429 with ``Retry-After``, and every answer says how much is
left in the headers of draft-ietf-httpapi-ratelimit-headers. What an operation may be asked for is
what ``limits.operations`` says of it, else what its route declares, else ``limits.rest``.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from auth import Caller
from gateway.contract.suggestions import unknown
from gateway.errors import Problem
from gateway.limits.rate_counter import (
    LimitReached,
    RateCounter,
    details_of,
    named_rate,
    seconds_to_wait,
    times,
)
from gateway.limits.sliding_window import Rate, Taken

if TYPE_CHECKING:
    from gateway.config.portal import Portal
    from gateway.config.portal_keys import Limits

_ROUTE = "route:"


class TooManyRequests(LimitReached):
    """The caller has asked for an operation too often of late.

    Args:
        taken: the rate that says no, and how long to wait.
        operation: the operation's name.
    """

    def __init__(self, taken: Taken, operation: str) -> None:
        rate = taken.rate
        super().__init__(
            f"You have asked for {operation} {times(rate)} within {rate.seconds:g} s, which is "
            f"the limit. Ask again in {seconds_to_wait(taken)} s.",
            taken,
            {"operation": operation} | details_of(taken),
        )


class RouteLimits:
    """Counts the requests of each caller to each operation.

    Args:
        limits: the section of ``portal.yaml``.
        counting: what counts.
    """

    def __init__(self, limits: Limits, counting: RateCounter) -> None:
        self._limits = limits
        self._counting = counting
        self._rates: dict[str, Rate | None] = {}

    def rate(self, operation: str, declared: str) -> Rate | None:
        """How often one caller may ask for an operation; None where there is no limit.

        Args:
            operation: its name. Routes of one name are counted together, as the first of them
                declares.
            declared: what its route declares, or "".
        """
        if operation not in self._rates:
            written = self._limits.operations.get(operation) or declared or self._limits.rest
            self._rates[operation] = named_rate(_ROUTE + operation, written)
        return self._rates[operation]

    async def take(self, rate: Rate, caller: Caller, peer: str) -> Taken:
        """Count one request.

        Args:
            rate: the operation's.
            caller: who asks.
            peer: where from, which is what anonymous callers are told apart by.

        Raises:
            TooManyRequests: it is too many.
        """
        taken = await self._counting.take(caller, peer, (rate,))
        if taken.wait_seconds > 0:
            raise TooManyRequests(taken, rate.name.removeprefix(_ROUTE))
        return taken


def unknown_operations(portal: Portal, operations: Collection[str]) -> list[Problem]:
    """The lines of ``portal.yaml`` that limit operations which the portal does not have.

    Args:
        portal: the configuration.
        operations: the names of those that it has.
    """
    return [
        portal.source.problem(
            ("limits", "operations", name), unknown(name, operations, "operation")
        )
        for name in portal.config.limits.operations
        if name not in operations
    ]


def seconds_left(taken: Taken) -> int:
    """Whole seconds until a caller may ask again, or as often as ever."""
    return max(1, math.ceil(taken.wait_seconds or taken.rate.seconds))


def headers_of(taken: Taken) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that say what the limit is, what is left of it, and when it is whole again."""
    rate = taken.rate
    name = b'"%s"' % rate.name.removeprefix(_ROUTE).encode()
    seconds = max(1, math.ceil(rate.seconds))
    return (
        (b"ratelimit-policy", b"%s;q=%d;w=%d" % (name, rate.limit, seconds)),
        (b"ratelimit", b"%s;r=%d;t=%d" % (name, taken.left, seconds_left(taken))),
    )
