"""Which addresses are connected to, and how names become addresses."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from gateway.toolkit.public_addresses import is_public

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

NOT_PUBLIC = "it is not found on the public internet"
MAX_LOOK_UPS = 8
"""Names looked up at a time."""

# Threads of their own: names that hang must not delay other work of the portal.
_resolving = ThreadPoolExecutor(max_workers=MAX_LOOK_UPS, thread_name_prefix="porch-upstreams")


def public_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for an address that is about to be connected to, if it is a public one.

    What is checked here is what is connected to, so a name that answers differently the next time
    it is looked up gets nowhere (DNS rebinding).

    Args:
        address: family, type, protocol, canonical name and socket address, as of ``getaddrinfo``.

    Raises:
        OSError: the address is not on the public internet.
    """
    family, kind, protocol, _, where = address
    if not is_public(where[0]):
        raise OSError(NOT_PUBLIC)
    return socket.socket(family, kind, protocol)


def resolver() -> AbstractResolver:
    """Looks names up for aiohttp, on threads of its own."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class OwnThreads(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            ask = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
            found = await asyncio.get_running_loop().run_in_executor(_resolving, ask)
            return [_result(host, each) for each in found]

        async def close(self) -> None:
            pass

    def _result(host: str, found: tuple[Any, ...]) -> ResolveResult:
        family, _, protocol, _, address = found
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return ResolveResult(
            hostname=host,
            host=address[0],
            port=address[1],
            family=family,
            proto=protocol,
            flags=flags,
        )

    return OwnThreads()
