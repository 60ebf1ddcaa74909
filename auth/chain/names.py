"""ENS names of addresses, for people to read; nothing is ever decided by one."""

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
KEPT = 4096
"""Addresses whose names one process remembers; the longest unused is forgotten first."""
BELIEVED = 3600.0
"""Seconds for which a name, or that there is none, is believed."""
ASKED_AGAIN = 60.0
"""Seconds after which to ask again where no answer came."""
LONGEST = 80
"""Characters of a name that is shown."""
TIME_LIMIT = 5.0
"""Seconds that looking a name up may take."""

Remembered = Callable[[str], Awaitable[str | None]]
"""Says what an address was called when that was last known."""

# What is the same before and after ENSIP-15, in ASCII. Other scripts have look-alikes, invisible
# characters and directions of their own: whoever is called in one is shown by the address.
_LABEL = r"_*(?!..--)[a-z0-9-]+"
_PLAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")


async def _never_known(address: str) -> str | None:
    return None


class Names:
    """Looks names up: the address says its name, and the name must lead back to the address.

    Records that are kept off the chain (EIP-3668) are not followed: their address would make
    the portal send requests wherever a stranger likes.

    Args:
        rpc: the chain that ENS is on.
        clock: seconds that only grow; replaced in tests.
        remembered: asked while no answer comes, so that an outage takes nobody's name away.
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
        believed = BELIEVED
        try:
            async with asyncio.timeout(TIME_LIMIT):
                name = await self._look_up(address)
        except (SourceUnavailable, TimeoutError):
            name, believed = await self._remembered(address), ASKED_AGAIN
        self._known[address] = name, self._clock() + believed
        self._known.move_to_end(address)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return name

    async def _look_up(self, address: str) -> str | None:
        await abi.loaded()
        reverse = f"{address[2:].lower()}.addr.reverse"
        said = abi.decoded(["string"], await self._record(reverse, "name(bytes32)"))
        name: str = said[0] if said else ""
        if len(name) > LONGEST or not _PLAIN.fullmatch(name):
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

    node = bytes(abi.WORD)
    for label in reversed(name.split(".")):
        node = keccak(node + keccak(text=label))
    return node
