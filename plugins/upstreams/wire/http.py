"""HTTP to one server with one credential: a kept pool, and everything that can go wrong, typed."""

from __future__ import annotations

import asyncio
import io
import os
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from plugins.upstreams.wire.addresses import NOT_PUBLIC, public_socket, resolver
from plugins.upstreams.wire.challenges import parse_challenges
from plugins.upstreams.wire.connection import Address
from plugins.upstreams.wire.errors import (
    CLOSED,
    ConnectionLost,
    HttpRefused,
    NotMcp,
    RedirectRefused,
    TooLarge,
    Unauthorized,
    Unreachable,
    WireError,
)
from plugins.upstreams.wire.limits import MIB, Limits

if TYPE_CHECKING:
    import aiohttp

KEPT_IDLE_S = 50.0
"""Seconds for which an idle connection is kept; most balancers keep theirs for a minute."""
LOOKED_AT_S = 0.5
"""Seconds of silence after which a kept connection is looked at before it is used: uvicorn and Node
close theirs after five, and what is sent then may have run or not."""
MAX_REDIRECTS = 3
JSON = "application/json"
EVENTS = "text/event-stream"
_REDIRECTS = frozenset({301, 302, 307, 308})
_PORTS = {"http": 80, "https": 443}


class Channel:
    """Sends HTTP requests to one origin.

    Args:
        address: where to.
        limits: of time and size.
        session: the pool.
    """

    def __init__(self, address: Address, limits: Limits, session: aiohttp.ClientSession) -> None:
        self.url = address.url
        self.limits = limits
        self._origin = origin(address.url)
        self._address = address
        self._credential = address.credential
        self._session = session
        self._used = 0.0
        self._open: set[aiohttp.ClientResponse] = set()

    @classmethod
    async def open(cls, address: Address, limits: Limits) -> Channel:
        """Make the pool; nothing is sent yet.

        Raises:
            Unreachable: the address is none of HTTP.
        """
        import aiohttp

        scheme, host, _ = origin(address.url)
        if scheme not in _PORTS or not host:
            raise Unreachable("The URL must begin with http:// or https:// and name a host.")
        tls = address.tls
        if tls is None and scheme == "https":
            tls = await asyncio.to_thread(_system_tls)
        connector = aiohttp.TCPConnector(
            limit=0,  # how many calls run at a time is not decided here
            ssl=tls or True,
            keepalive_timeout=KEPT_IDLE_S,
            resolver=resolver(),
            socket_factory=public_socket if address.public_only else None,
        )
        session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect_s),
            headers={"user-agent": "porch", "accept-encoding": "identity"},
            auto_decompress=False,
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
        )
        return cls(address, limits, session)

    @asynccontextmanager
    async def ask(
        self, verb: str, headers: Mapping[str, str], body: bytes | None = None, url: str = ""
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Send one request; redirects within the origin are followed, method and body kept.

        Args:
            verb: the HTTP method.
            headers: its headers, without the credential.
            body: what is sent.
            url: where to, of the same origin; the endpoint where none is given.

        Yields:
            The response, which is neither a redirect nor a demand for another credential. Leaving
            before its end closes the connection.

        Raises:
            WireError: there is no such response.
        """
        if self._credential is not None:
            headers = {**headers, **await self._credential()}
        url = url or self.url
        for _ in range(MAX_REDIRECTS + 1):
            async with await self._sent(verb, url, headers, body) as response:
                if response.status not in _REDIRECTS:
                    _check_authorized(response)
                    _check_encoding(response)
                    self._open.add(response)
                    try:
                        yield response
                    finally:
                        self._open.discard(response)
                    return
                url = self._redirected(url, response.headers.get("location", ""))
        raise RedirectRefused(f"The server redirects more than {MAX_REDIRECTS} times.")

    async def _sent(
        self, verb: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        import aiohttp

        if self._session.closed:
            raise Unreachable(CLOSED)
        await self._look()
        data = io.BytesIO(body) if body is not None and len(body) > MIB else body
        try:
            return await self._session.request(
                verb, url, data=data, headers=headers, allow_redirects=False
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _typed(error, self._address, self.limits) from error

    async def _look(self) -> None:
        """After a silence, have the loop see which kept connections the server has closed."""
        now = asyncio.get_running_loop().time()
        if now - self._used >= LOOKED_AT_S:
            await asyncio.sleep(0)  # the loop asks the system,
            await asyncio.sleep(0)  # and hears what it says
        self._used = now

    def _redirected(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        if not location or origin(target) != self._origin:
            scheme, host, port = origin(target)
            where = f"{scheme}://{host}:{port}"
            raise RedirectRefused(
                f"The server redirects to another origin ({where}), which is not followed: "
                "configure the address that it points to, if that is the server meant."
            )
        return target

    def same_origin(self, location: str) -> str:
        """A location as an absolute URL.

        Raises:
            RedirectRefused: it is of another origin.
        """
        return self._redirected(self.url, location)

    async def close(self) -> None:
        """Close every connection; who reads from one is told."""
        import aiohttp

        # aiohttp forgets who reads a body when it closes, and leaves them waiting.
        for response in self._open:
            response.content.set_exception(aiohttp.ClientConnectionError(CLOSED))
        await self._session.close()


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of a URL; a URL that cannot be read has none of them."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None


def kind_of(response: aiohttp.ClientResponse) -> str:
    """The media type of a response, in lower case."""
    value: str = response.headers.get("content-type", "")
    return value.partition(";")[0].strip().lower()


def _check_authorized(response: aiohttp.ClientResponse) -> None:
    status: int = response.status
    challenges = response.headers.getall("www-authenticate", [])
    if status == 401 or (status == 403 and challenges):
        message = f"The server answered HTTP {status}: it wants another credential."
        raise Unauthorized(message, status, parse_challenges(challenges))


def _check_encoding(response: aiohttp.ClientResponse) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise NotMcp("The server compresses its answer, although it was asked not to.")


def refused(response: aiohttp.ClientResponse) -> HttpRefused:
    """The error for a status that says no."""
    after = response.headers.get("retry-after", "").strip()
    # A date would need clocks that agree; who sends one is asked again after the usual pause.
    seconds = float(after) if after.isascii() and after.isdigit() else 0.0
    return HttpRefused(f"The server answered HTTP {response.status}.", response.status, seconds)


def _typed(error: Exception, address: Address, limits: Limits) -> WireError:
    """What an error of aiohttp means; the texts name no address that a credential could be in."""
    import aiohttp
    from aiohttp.http_exceptions import LineTooLong

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Unreachable(f"The server did not take a connection in {limits.connect_s:g} s.")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.InvalidURL):
        return Unreachable(f"The server cannot be reached: {_reason(error, address)}.")
    if isinstance(error, aiohttp.ClientResponseError):
        if any(isinstance(each, LineTooLong) for each in _causes(error)):
            return TooLarge(f"The server sent a header of more than {limits.header_bytes} bytes.")
        return NotMcp("The server answered with something that is not HTTP.")
    if isinstance(error, aiohttp.ClientError | OSError):
        return ConnectionLost("The server closed the connection before it had answered.")
    return Unreachable("A header cannot be sent: it has characters that a header cannot have.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error was raised from, and what that was."""
    cause = error.__cause__ or error.__context__
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _reason(error: Exception, address: Address) -> str:
    """Why there is no connection, for an admin."""
    import aiohttp

    cause = getattr(error, "os_error", None)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        # Of a stranger's host nobody learns whether a private network knows it.
        return NOT_PUBLIC if address.public_only else "its name is not known"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "its certificate is not trusted"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return "it does not speak TLS as it should"
    if NOT_PUBLIC in str(cause):
        return NOT_PUBLIC
    number = getattr(cause, "errno", None)
    return os.strerror(number).lower() if number else "no connection, for no known reason"


@cache
def _system_tls() -> ssl.SSLContext:
    """Trusts the system's authorities; made once, since reading them takes 20 ms."""
    return ssl.create_default_context()
