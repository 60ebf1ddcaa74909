"""The port of the wire: what a connection can do, and what its maker hands in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import ssl

    from plugins.upstreams.wire.errors import WireError

Era = Literal["modern", "legacy"]
"""MCP 2026-07-28, or a revision that begins with a handshake."""
TransportName = Literal["streamable-http", "http+sse", "stdio"]
HeaderSource = Callable[[], Awaitable[Mapping[str, str]]]
"""Asked for the headers that carry the credential, once for each request."""
Told = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Is told the method and the parameters of what a server says outside of requests."""

MAX_WATCHED = 1000
"""Resources whose changes one connection is told of."""
GAP = "porch/gap"
"""Told as a method when the stream of changes was away: what was said meanwhile is lost."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself; each field may be missing, and none is to be trusted.

    Attributes:
        name: its programmatic name.
        version: its version.
        title: its name for people.
        capabilities: as it wrote them.
        instructions: for the model.
    """

    name: str = ""
    version: str = ""
    title: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Client:
    """What we are to a server.

    Attributes:
        info: ``name``, ``version`` and what else MCP's Implementation has.
        capabilities: what a server may ask of us. On the modern era a request's own ``_meta`` may
            say otherwise; on the legacy one this holds for the whole connection.
    """

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is reached over HTTP.

    Attributes:
        url: its endpoint, http or https.
        credential: gives the headers of each request; they go to this origin only.
        public_only: refuse hosts that are not on the public internet, at the moment of connecting:
            for addresses that do not come from the portal's own configuration.
        tls: trusts certificates; the system's authorities where none is given.
    """

    url: str
    credential: HeaderSource | None = field(default=None, repr=False)
    public_only: bool = False
    tls: ssl.SSLContext | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Child:
    """A server that is a process of our own.

    Attributes:
        command: the program and its arguments; no shell reads them.
        env: variables beside the few harmless ones that every child gets.
        cwd: where it runs.
        said: is given each line of its stderr; it must not block.
    """

    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    said: Callable[[str], None] = lambda line: None


class Back(Protocol):
    """What a server says while one request runs."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """The request has come further."""

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        """A line of the server's log."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question of a legacy server: elicitation, sampling or roots.

        Raises:
            RpcError: what the server is answered instead.
        """


class Connection(Protocol):
    """One connection to one server, for any number of requests at a time.

    Attributes:
        era: which of the two protocols it speaks.
        version: the negotiated revision.
        transport_name: what carries it.
        server: what the server says of itself.
        oddities: how often the server said something that has no place, by what it was.
    """

    era: Era
    version: str
    transport_name: TransportName
    server: ServerInfo
    oddities: Counter[str]

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = NO_HEADERS,
        back: Back | None = None,
    ) -> Mapping[str, Any]:
        """Send a request and wait for its result. Cancelling the wait cancels the request.

        Args:
            method: the MCP method.
            params: its parameters. Of their ``_meta``, what belongs to one hop is replaced, but
                for the client capabilities and the log level of a modern request.
            headers: those that mirror arguments, ``mcp-param-*``; only a modern server gets them.
            back: hears of progress and answers questions; without it the server is not asked for
                progress, and its questions are refused.

        Returns:
            The result as the server wrote it.

        Raises:
            WireError: there is none.
        """

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification.

        Raises:
            WireError: it was not taken.
        """

    async def watch(self, uris: Collection[str]) -> None:
        """Be told when these resources change, and no others any more.

        Raises:
            WireError: a legacy server refused; what it took before that stays.
        """

    async def ended(self) -> WireError:
        """Wait until the connection is of no more use; gives the reason."""

    async def close(self) -> None:
        """End it; requests that still run fail. Closing again does nothing."""
