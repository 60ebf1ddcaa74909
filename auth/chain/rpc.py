"""Reads a chain by JSON-RPC through several endpoints, one of which is enough.

Nothing is imported and no endpoint is asked before the first use.
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

FAILED_ENDPOINT_PAUSE_S = 30.0
"""Seconds for which an endpoint that failed is tried only after all others."""
WRONG_CHAIN_PAUSE_S = 600.0
"""The same for one that serves another chain, which nobody mends in a minute."""


class Rpc:
    """A chain, read from the first endpoint that answers.

    Args:
        chain_id: the chain's id; an endpoint of another chain is of no use.
        urls: the endpoints, in the order in which to ask them; an address may hold a key.
        name: its name for messages, beside its id.
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
        """The result of the first endpoint that can answer, where one endpoint must answer it all.

        Args:
            asked: asks an endpoint; raises ``EndpointFailed`` if it cannot be used.

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
            # Half of the remaining time, so that one that hangs does not use it all.
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
        """The endpoints to try; those that failed come last, the longest ago first."""
        now = self._clock()
        return sorted(self._endpoints, key=lambda each: max(self._aside.get(each, now), now))

    def _set_aside(self, endpoint: Endpoint, error: Exception) -> str:
        seconds = WRONG_CHAIN_PAUSE_S if isinstance(error, WrongChain) else FAILED_ENDPOINT_PAUSE_S
        if isinstance(error, EndpointFailed) and error.wait:
            seconds = min(error.wait, WRONG_CHAIN_PAUSE_S)
            self._resting[endpoint] = self._clock() + seconds
        self._aside[endpoint] = self._clock() + seconds
        return str(error) if isinstance(error, EndpointFailed) else "it does not answer in time"
