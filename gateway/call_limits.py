"""How many tools one caller may call, so that an agent that runs in circles is told to stop.

An agent reads results, not HTTP: a refusal is a result that says so (kap10, "Runaway Agent
Protection"). Replicas that share a Redis count together; without it, each counts for itself.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from auth import Caller, Tier
from gateway.config_types import rate_of
from gateway.errors import PortalError, Problem
from gateway.logs import get_logger
from gateway.services.cache import CacheUnavailable
from gateway.services.windows import MemoryWindows, Rate, Taken, Windows
from gateway.yaml_source import unknown

if TYPE_CHECKING:
    from gateway.catalog import Catalog
    from gateway.config import Portal
    from gateway.config_models import Limits

PATIENCE = 2.0
"""Seconds that a server which counts may take."""
PAUSE = 5.0
"""Seconds before a server that did not answer is asked again."""

_TOOL = "tool:"

log = get_logger(__name__)


class RateLimited(PortalError):
    """The caller has called tools too often of late.

    Args:
        taken: the rate that says no, and how long to wait.
        tool: the tool, where the rate is its own.

    Attributes:
        headers: what says so beside the result, ``Retry-After`` among it.
    """

    code = "rate_limited"
    status = 429

    def __init__(self, taken: Taken, tool: str | None) -> None:
        rate, self.wait = taken.rate, max(1, math.ceil(taken.wait))
        times = "once" if rate.limit == 1 else f"{rate.limit} times"
        self.headers = (*headers_of(taken), (b"retry-after", b"%d" % self.wait))
        details = {
            "retryAfterSeconds": self.wait,
            "limit": rate.limit,
            "window": rate.seconds,
        }
        super().__init__(
            f"You have called {tool or 'tools'} {times} within {rate.seconds:g} s, which is the "
            "limit. This usually means that you are in a loop: pause, look at what you know "
            "already, and ask the person you work for how to go on. Do not just call again. "
            f"The next call is answered in {self.wait} s.",
            details | ({"tool": tool} if tool else {}),
        )


class CallLimits:
    """Counts the tool calls of each caller.

    Args:
        limits: the section of ``portal.yaml``.
        windows: where calls are counted, by all replicas together or by this process alone.
        clock: seconds that never go back; replaced in tests.
    """

    def __init__(
        self,
        limits: Limits,
        windows: Windows,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calls = {tier: _rate(tier.value, getattr(limits.calls, tier.value)) for tier in Tier}
        self._tools = {name: _rate(_TOOL + name, rate) for name, rate in limits.tools.items()}
        self._shared = None if isinstance(windows, MemoryWindows) else windows
        self._own = windows if isinstance(windows, MemoryWindows) else MemoryWindows(clock)
        self._clock = clock
        self._rates: dict[tuple[Tier, str], tuple[Rate, ...]] = {}
        self._asked_again = 0.0
        self._away = ""

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
        who = caller.person or f"peer:{peer}"
        taken = self._own.take_now(who, rates) if self._alone() else await self._ask(who, rates)
        if taken.wait > 0:
            raise RateLimited(taken, tool if taken.rate.name.startswith(_TOOL) else None)
        return taken

    def notices(self) -> Iterator[str]:
        """What an admin should look at: whether replicas count for themselves just now."""
        if self._away:
            yield (
                f"Tool calls are counted in each process alone, so that limits hold for each of "
                f"them: {self._away}"
            )

    def _of(self, tier: Tier, tool: str) -> tuple[Rate, ...]:
        if tool not in self._tools:
            tool = ""
        key = (tier, tool)
        rates = self._rates.get(key)
        if rates is None:
            rates = self._rates[key] = tuple(self._listed(tier, tool))
        return rates

    def _listed(self, tier: Tier, tool: str) -> Iterator[Rate]:
        own, of_all = self._tools.get(tool), self._calls[tier]
        if tool and own is None:
            return
        yield from (rate for rate in (of_all, own) if rate is not None)

    def _alone(self) -> bool:
        return self._shared is None or (bool(self._away) and self._clock() < self._asked_again)

    async def _ask(self, who: str, rates: tuple[Rate, ...]) -> Taken:
        if self._shared is None:
            return self._own.take_now(who, rates)
        if self._away:  # one call looks whether the server is back, and the others do not wait
            self._asked_again = self._clock() + PAUSE
        try:
            async with asyncio.timeout(PATIENCE):
                taken = await self._shared.take(who, rates)
        except (CacheUnavailable, TimeoutError) as error:
            return self._without(str(error) or "the cache server takes too long.", who, rates)
        if self._away:
            self._away = ""
            log.info("call_limits_shared")
        return taken

    def _without(self, why: str, who: str, rates: tuple[Rate, ...]) -> Taken:
        if not self._away:
            log.warning("call_limits_alone", reason=why)
        self._away, self._asked_again = why, self._clock() + PAUSE
        return self._own.take_now(who, rates)


def _rate(name: str, written: str) -> Rate | None:
    parts = rate_of(written)
    return Rate(name, *parts) if parts else None


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
