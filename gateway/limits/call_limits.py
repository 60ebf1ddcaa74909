"""How many tools one caller may call, so that an agent that runs in circles is told to stop.

An agent reads results, not HTTP: a refusal is a result that says so (kap10, "Runaway Agent
Protection"). REST has limits of its own (:mod:`gateway.limits.route_limits`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auth import Caller, Tier
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
    from gateway.catalog.catalog import Catalog
    from gateway.config.models import Limits
    from gateway.config.portal import Portal

_TOOL = "tool:"


class RateLimited(LimitReached):
    """The caller has called tools too often of late.

    Args:
        taken: the rate that says no, and how long to wait.
        tool: the tool, where the rate is its own.
    """

    def __init__(self, taken: Taken, tool: str | None) -> None:
        rate = taken.rate
        super().__init__(
            f"You have called {tool or 'tools'} {times(rate)} within {rate.seconds:g} s, which is "
            "the limit. This usually means that you are in a loop: pause, look at what you know "
            "already, and ask the person you work for how to go on. Do not just call again. "
            f"The next call is answered in {seconds_to_wait(taken)} s.",
            taken,
            details_of(taken) | ({"tool": tool} if tool else {}),
        )


class CallLimits:
    """Counts the tool calls of each caller.

    Args:
        limits: the section of ``portal.yaml``.
        counting: what counts.
    """

    def __init__(self, limits: Limits, counting: RateCounter) -> None:
        calls = {tier: getattr(limits.calls, tier.value) for tier in Tier}
        self._calls = {tier: named_rate(tier.value, rate) for tier, rate in calls.items()}
        self._tools = {name: named_rate(_TOOL + name, each) for name, each in limits.tools.items()}
        self._counting = counting
        self._rates: dict[tuple[Tier, str], tuple[Rate, ...]] = {}

    async def take(self, caller: Caller, peer: str, tool: str) -> Taken | None:
        """Count one call.

        Args:
            caller: who calls.
            peer: where from, which is what anonymous callers are told apart by.
            tool: the tool, or nothing where there is none that the caller may use.

        Returns:
            How much is left; None where nothing is limited.

        Raises:
            RateLimited: it is too many.
        """
        rates = self._of(caller.tier, tool)
        if not rates:
            return None
        taken = await self._counting.take(caller, peer, rates)
        if taken.wait_seconds > 0:
            raise RateLimited(taken, tool if taken.rate.name.startswith(_TOOL) else None)
        return taken

    def _of(self, tier: Tier, tool: str) -> tuple[Rate, ...]:
        if tool not in self._tools:
            tool = ""
        key = (tier, tool)
        rates = self._rates.get(key)
        if rates is None:
            rates = self._rates[key] = tuple(self._applicable_rates(tier, tool))
        return rates

    def _applicable_rates(self, tier: Tier, tool: str) -> Iterator[Rate]:
        own, of_all = self._tools.get(tool), self._calls[tier]
        if tool and own is None:
            return
        yield from (rate for rate in (of_all, own) if rate is not None)


def unknown_tools(portal: Portal, catalog: Catalog) -> list[Problem]:
    """The lines of ``portal.yaml`` that limit tools which the portal does not have."""
    tools = {item.name for item in catalog.items() if item.kind == "tool"}
    return [
        portal.source.problem(("limits", "tools", name), unknown(name, tools, "tool"))
        for name in portal.config.limits.tools
        if name not in tools
    ]


def headers_of(taken: Taken) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that say how many calls are left."""
    return (
        (b"x-ratelimit-limit", b"%d" % taken.rate.limit),
        (b"x-ratelimit-remaining", b"%d" % taken.left),
    )
