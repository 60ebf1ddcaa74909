"""Reads a chain by JSON-RPC: several endpoints, one of which is enough.

Nothing is imported and nobody is asked before the first question.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from auth.chain.abi import loaded
from auth.chain.endpoint import Call, Endpoint, EndpointFailed, WrongChain
from auth.facts import SourceUnavailable

T = TypeVar("T")

__all__ = ["Call", "Rpc"]

ASIDE = 30.0
"""Seconds for which an endpoint that failed is asked only after all others."""
ASIDE_LONG = 600.0
"""The same for one that serves another chain: nobody mends that in a minute."""


class Rpc:
    """A chain, as the first endpoint that answers tells it.

    Args:
        chain_id: the chain's id; an endpoint of another chain is of no use.
        urls: the endpoints, in the order in which to ask them; an address may hold a key.
        name: what to call it beside its id.
        timeout: seconds that an answer may take, with all endpoints that are tried for it.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self,
        chain_id: int,
        urls: Sequence[str],
        name: str | None = None,
        *,
        timeout: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.chain_id = chain_id
        self._called = f"{chain_id} ({name})" if name else str(chain_id)
        self._endpoints = [Endpoint(url, chain_id) for url in urls]
        self._timeout = timeout
        self._clock = clock
        self._aside: dict[Endpoint, float] = {}
        self._resting: dict[Endpoint, float] = {}

    async def calls(self, calls: Sequence[Call]) -> list[bytes | None]:
        """Call contracts at the latest block, in one request where the endpoint can do that.

        Returns:
            What each call returned, in their order: empty where the address holds no contract,
            and None where the contract refused.

        Raises:
            SourceUnavailable: no endpoint answers; it names hosts and never a whole address.
        """
        return await self.first(lambda endpoint: endpoint.calls(calls)) if calls else []

    async def first(self, asked: Callable[[Endpoint], Awaitable[T]]) -> T:
        """What the first endpoint that answers says to several questions, all asked of it.

        Args:
            asked: asks an endpoint; raises ``EndpointFailed`` where it is of no use.

        Raises:
            SourceUnavailable: no endpoint answers; it names hosts and never a whole address.
        """
        await loaded()
        failures: list[str] = []
        end = self._clock() + self._timeout
        waiting = self._in_order()
        while waiting:
            endpoint = waiting.pop(0)
            if (rest := self._resting.get(endpoint, 0.0) - self._clock()) > 0:
                failures.append(f"{endpoint.host}: it asked to wait, {rest:.0f} seconds more")
                continue
            # Half of the time that is left, so that one that hangs does not take it all.
            share = (end - self._clock()) / (2 if waiting else 1)
            try:
                async with asyncio.timeout(share):
                    returned = await asked(endpoint)
            except (EndpointFailed, TimeoutError) as error:
                failures.append(f"{endpoint.host}: {self._set_aside(endpoint, error)}")
            else:
                self._aside.pop(endpoint, None)
                return returned
        problems = "; ".join(failures) or "it has no endpoint"
        raise SourceUnavailable(f"The chain {self._called} cannot be read ({problems}).")

    async def call(self, call: Call) -> bytes | None:
        """One call; see :meth:`calls`."""
        return (await self.calls([call]))[0]

    async def close(self) -> None:
        """Let go of the connections."""
        await asyncio.gather(*(endpoint.close() for endpoint in self._endpoints))

    def _in_order(self) -> list[Endpoint]:
        """Those that are set aside come last, and the one that failed longest ago first."""
        now = self._clock()
        return sorted(self._endpoints, key=lambda each: max(self._aside.get(each, now), now))

    def _set_aside(self, endpoint: Endpoint, error: Exception) -> str:
        seconds = ASIDE_LONG if isinstance(error, WrongChain) else ASIDE
        if isinstance(error, EndpointFailed) and error.wait:
            seconds = min(error.wait, ASIDE_LONG)
            self._resting[endpoint] = self._clock() + seconds
        self._aside[endpoint] = self._clock() + seconds
        return str(error) if isinstance(error, EndpointFailed) else "it does not answer in time"
