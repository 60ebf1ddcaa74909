"""ENS names of addresses, for display only; nothing is ever decided by one."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from auth.chain import abi
from auth.chain.rpc import Rpc
from auth.facts import SourceUnavailable

REGISTRY = "0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e"
"""The ENS registry: at this address on every chain that has one."""
NAME_CACHE_SIZE = 4096
"""Addresses whose names one process caches, least recently used first out."""
NAME_CACHE_S = 3600.0
"""Seconds for which a name, or its absence, is cached."""
RETRY_INTERVAL_S = 60.0
"""Seconds after which to ask again when no answer came."""
MAX_NAME_LENGTH = 80
"""Characters of a name that is shown."""
LOOKUP_TIMEOUT_S = 5.0
"""Seconds that looking a name up may take."""

Remembered = Callable[[str], Awaitable[str | None]]
"""Looks up the name that an address had when it was last known."""

# ASCII names that ENSIP-15 normalises to themselves. Other scripts have look-alikes, invisible
# characters and text directions, so names in them are not shown; the address is.
_LABEL = r"_*(?!..--)[a-z0-9-]+"
_PLAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")


async def _never_known(address: str) -> str | None:
    return None


class EnsNames:
    """Looks up primary names: an address names itself, and the name must resolve back to it.

    Records off the chain (EIP-3668) are not followed: a stranger could make the portal send
    requests to any address.

    Args:
        rpc: the chain that ENS is on.
        clock: seconds that only grow; replaced in tests.
        remembered: asked when the chain does not answer, so that an outage hides no names.
    """

    def __init__(
        self,
        rpc: Rpc,
        clock: Callable[[], float] = time.monotonic,
        remembered: Remembered = _never_known,
    ) -> None:
        self._rpc = rpc
        self._remembered = remembered
        self._clock = clock
        self._known: OrderedDict[str, tuple[str | None, float]] = OrderedDict()

    async def name(self, address: str) -> str | None:
        """The name of an address, or None where it has none that can be shown.

        Where the chain does not answer, it is the name that was remembered.
        """
        if (known := self._known.get(address)) is not None and self._clock() < known[1]:
            self._known.move_to_end(address)
            return known[0]
        believed = NAME_CACHE_S
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                name = await self._look_up(address)
        except (SourceUnavailable, TimeoutError):
            name, believed = await self._remembered(address), RETRY_INTERVAL_S
        self._known[address] = name, self._clock() + believed
        self._known.move_to_end(address)
        while len(self._known) > NAME_CACHE_SIZE:
            self._known.popitem(last=False)
        return name

    async def _look_up(self, address: str) -> str | None:
        await abi.loaded()
        reverse = f"{address[2:].lower()}.addr.reverse"
        said = abi.decoded(["string"], await self._record(reverse, "name(bytes32)"))
        name: str = said[0] if said else ""
        if len(name) > MAX_NAME_LENGTH or not _PLAIN.fullmatch(name):
            return None
        owner = abi.address(await self._record(name, "addr(bytes32)"))
        return name if owner == address else None

    async def _record(self, name: str, function: str) -> bytes | None:
        """What a name's resolver returns for it."""
        node = _node(name)
        resolver = abi.address(await self._rpc.call(abi.call(REGISTRY, "resolver(bytes32)", node)))
        return await self._rpc.call(abi.call(resolver, function, node)) if resolver else None


def _node(name: str) -> bytes:
    """The node of a name (EIP-137)."""
    from eth_utils.crypto import keccak

    node = bytes(abi.WORD_BYTES)
    for label in reversed(name.split(".")):
        node = keccak(node + keccak(text=label))
    return node
