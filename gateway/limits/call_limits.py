"""How many tools one caller may call, and how an agent that runs in circles is told to stop.

A person has a budget of calls, and each of their applications a share of it; who is signed out has
that of their address, and all of a network have one together. Well below, whoever makes the same
call with the same arguments again and again is told that this is a loop (kap10, "Runaway Agent
Protection"). An agent reads results, not HTTP: a refusal is a result that says so. REST has limits
of its own (:mod:`gateway.limits.route_limits`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from auth import Caller, Tier
from gateway.contract.suggestions import unknown
from gateway.errors import Problem
from gateway.limits.networks import network_of
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
    from gateway.config.portal import Portal
    from gateway.config.portal_keys import Limits

_TOOL, _CLIENT, _NETWORK, _REPEATS = "tool:", "client:", "network:", "repeats"
_DIGEST_BYTES = 16
_MAX_KEY_BYTES = 64
"""The longest key of BLAKE2b."""


class RateLimited(LimitReached):
    """The caller has called tools too often of late.

    Args:
        taken: the rate that says no, and how long to wait.
        tool: the tool, or nothing where there is none that the caller may use.
        anonymous: whether the caller has not signed in.
    """

    def __init__(self, taken: Taken, tool: str, *, anonymous: bool) -> None:
        rate, wait = taken.rate, seconds_to_wait(taken)
        much = f"{times(rate)} within {rate.seconds:g} s"
        details = details_of(taken)
        if rate.name == _REPEATS:
            details |= {"scope": "repeats", "tool": tool}
            text = (
                f"You have called {tool} with the same arguments {much}, and its answer is hardly "
                "another one now. This usually means that you are in a loop: pause, look at what "
                "you know already, and ask the person you work for how to go on. Do not just call "
                f"again. Other calls are answered; this one is again in {wait} s."
            )
        elif rate.name.startswith(_TOOL):
            details |= {"scope": "tool", "tool": tool}
            text = f"You have called {tool} {much}, which is its limit. {_next(wait)}"
        else:
            scope, whose = _scope(rate.name, anonymous=anonymous)
            details |= {"scope": scope}
            text = f"{whose} called tools {much}, which is the limit. {_next(wait)}"
        super().__init__(text, taken, details)


def _next(wait: int) -> str:
    return f"Do with fewer calls: ask for more at a time. The next call is answered in {wait} s."


def _scope(name: str, *, anonymous: bool) -> tuple[str, str]:
    """What a budget is of, for programs and in words."""
    if name.startswith(_CLIENT):
        return "client", "This application has used its share of its person's calls: it has"
    if name.startswith(_NETWORK):
        return "network", "Sign in to have calls of your own. Callers of your network have"
    if anonymous:
        return "address", "Sign in to have calls of your own. Callers of your address have"
    return "person", "All applications of your person together have"


class CallLimits:
    """Counts the tool calls of each caller.

    Args:
        limits: the section of ``portal.yaml``.
        counting: what counts.
        key: makes digests of arguments, the same on every replica; no argument is kept.
        by_plan: gives the rate of a caller's plan, which counts in place of their tier's.
        has_plans: whether there are plans now; else ``by_plan`` is not asked.
    """

    def __init__(
        self,
        limits: Limits,
        counting: RateCounter,
        key: bytes = b"",
        by_plan: Callable[[Caller], Awaitable[str | None]] | None = None,
        has_plans: Callable[[], bool] = lambda: True,
    ) -> None:
        calls = {tier: getattr(limits.calls, tier.value) for tier in Tier}
        self._calls = {tier: named_rate(tier.value, rate) for tier, rate in calls.items()}
        self._tools = {name: named_rate(_TOOL + name, each) for name, each in limits.tools.items()}
        self._repeats = named_rate(_REPEATS, limits.repeats)
        self._client_percent = limits.client_percent
        self._network_addresses = limits.network_addresses
        self._counting = counting
        self._key = key[:_MAX_KEY_BYTES]
        self._by_plan = by_plan
        self._has_plans = has_plans

    async def take(
        self,
        caller: Caller,
        peer: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
    ) -> Taken | None:
        """Count one call.

        Args:
            caller: who calls.
            peer: where from, which is what anonymous callers are told apart by.
            tool: the tool, or nothing where there is none that the caller may use.
            arguments: what it is called with; JSON values. None where who makes the same call again
                is in no loop, as people are who load a page again.

        Returns:
            How much is left; None where nothing is limited.

        Raises:
            RateLimited: it is too many.
        """
        budget = self._calls[caller.tier]
        by_plan = self._by_plan if self._has_plans() else None
        if by_plan is not None and (written := await by_plan(caller)) is not None:
            budget = named_rate(f"plan:{written}", written)  # one name, one rate
        rates = self._rates(caller, peer, tool, arguments, budget)
        if not rates:
            return None
        taken = await self._counting.take(caller, peer, rates)
        if taken.wait_seconds > 0:
            raise RateLimited(taken, tool, anonymous=caller.anonymous)
        return taken

    def _rates(
        self,
        caller: Caller,
        peer: str,
        tool: str,
        arguments: Mapping[str, Any] | None,
        budget: Rate | None,
    ) -> list[Rate]:
        own = self._tools.get(tool)
        rates: list[Rate] = []
        if own is None and tool in self._tools:  # written as none: its calls do not count
            return rates
        if budget is not None:
            rates.append(budget)
            if (share := self._share(caller, peer, budget)) is not None:
                rates.append(share)
        if own is not None:
            rates.append(own)
        if budget is not None and tool and arguments is not None:
            rates += self._repeat(caller, peer, tool, arguments)
        return rates

    def _repeat(
        self, caller: Caller, peer: str, tool: str, arguments: Mapping[str, Any]
    ) -> Iterator[Rate]:
        """What the same call with the same arguments counts for, where that is limited."""
        if self._repeats is None:
            return
        who = f"{caller.person}/{caller.client}" if caller.person else peer
        name, limit, seconds, *_ = self._repeats
        digest = self._digest(f"{who}/{tool}/", arguments)
        yield Rate(name, limit, seconds, digest, shown=False)

    def _share(self, caller: Caller, peer: str, budget: Rate) -> Rate | None:
        """The part of a budget that one application has, or what a network has together."""
        if caller.person is None:
            return _network_share(budget, peer, self._network_addresses)
        if caller.client is None or self._client_percent == 100:
            return None
        tier, limit, seconds, *_ = budget
        most = max(1, limit * self._client_percent // 100)
        return Rate(_CLIENT + tier, most, seconds, f"{caller.person}/{caller.client}")

    def _digest(self, beginning: str, arguments: Mapping[str, Any]) -> str:
        written = beginning.encode() + to_json(arguments, inf_nan_mode="constants")
        return blake2b(written, digest_size=_DIGEST_BYTES, key=self._key).hexdigest()


@lru_cache(maxsize=4096)
def _network_share(budget: Rate, peer: str, addresses: int) -> Rate | None:
    tier, limit, seconds, *_ = budget
    network = network_of(peer)
    if network == peer:
        return None
    return Rate(_NETWORK + tier, limit * addresses, seconds, network)


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
