"""An issuer's published metadata (OpenID Connect Discovery), fetched from safe addresses."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic_core import from_json

from auth.document_fetcher import Document, max_age, system_tls
from auth.portal_addresses import LOOPBACK, is_safe
from auth.public_addresses import is_public

if TYPE_CHECKING:
    import httpx2

FETCH_TIMEOUT_S = 5.0
"""Seconds that one document may take."""
MAX_DOCUMENT_BYTES = 512 * 1024
"""Bytes of a document; more is not read."""
METADATA_CACHE_S = 3600.0
"""Seconds for which an issuer's metadata is cached."""
RETRY_INTERVAL_S = 5.0
"""Seconds between two attempts while an issuer does not answer."""


class IssuerUnavailable(Exception):
    """An issuer does not answer, or not with what it should; the message holds no secret."""


Fetch = Callable[[str], Awaitable[Document]]
"""Fetches the JSON object at an address; raises :class:`IssuerUnavailable`."""


def may_name(issuer: str, url: str) -> bool:
    """Whether an issuer's metadata may name an address: a safe one, and no way into this machine.

    The portal sends secrets to these addresses, believes their answers, and asks from inside its
    own network. So an issuer elsewhere may name public addresses or its own host; only an issuer
    on this machine may name others on it. Host names are not resolved here: an issuer in the
    portal's network may have its endpoints on another host there.
    """
    if not is_safe(url):
        return False
    own, named = urlsplit(issuer).hostname, urlsplit(url).hostname or ""
    return own in LOOPBACK or named == own or not _is_inside(named)


def _is_inside(host: str) -> bool:
    """Whether a host is a name of this machine, or an IP address that is not public."""
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        # Also 127.1, 0x7f000001 and whatever else systems take for an IPv4 address.
        return not is_public(socket.inet_ntoa(socket.inet_aton(name)))
    except OSError:
        return ":" in name and not is_public(name)


async def fetch_json(url: str, headers: Mapping[str, str] | None = None) -> Document:
    """Fetch a JSON object, without following redirects.

    Args:
        url: an https address, or one of this machine.
        headers: to send along.

    Raises:
        IssuerUnavailable: there is no such answer in time, or it is too large.
    """
    import httpx2

    if not is_safe(url):
        raise IssuerUnavailable(f"{url} is not reached by https, so nothing it says is taken.")
    host = urlsplit(url).netloc
    try:
        client = httpx2.AsyncClient(timeout=FETCH_TIMEOUT_S, verify=await system_tls())
        async with asyncio.timeout(FETCH_TIMEOUT_S), client:
            async with client.stream("GET", url, headers=dict(headers or {})) as answer:
                return await _read(answer, host)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError) as error:
        raise IssuerUnavailable(f"{host} does not answer ({type(error).__name__}).") from None


async def _read(answer: httpx2.Response, host: str) -> Document:
    if answer.status_code != 200:
        raise IssuerUnavailable(f"{host} answers with status {answer.status_code}.")
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MAX_DOCUMENT_BYTES:
            raise IssuerUnavailable(f"{host} answers with more than {MAX_DOCUMENT_BYTES} bytes.")
    try:
        content = from_json(bytes(body))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise IssuerUnavailable(f"{host} answers with something that is no JSON object.")
    return Document(content, max_age(answer))


class Discovery:
    """An issuer's metadata, found from its name (OpenID Connect Discovery 1.0, section 4).

    Args:
        issuer: the issuer, exactly as it writes itself.
        fetch: fetches documents.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self,
        issuer: str,
        fetch: Fetch = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._metadata: Mapping[str, Any] = {}
        self._until = float("-inf")
        self._problem: IssuerUnavailable | None = None

    async def metadata(self) -> Mapping[str, Any]:
        """What the issuer says about itself.

        Raises:
            IssuerUnavailable: it does not answer, or answers in another's name.
        """
        async with self._lock:
            if self._clock() >= self._until:
                await self._refresh()
            if self._problem is not None and not self._metadata:
                raise self._problem
            return self._metadata

    async def _refresh(self) -> None:
        try:
            self._metadata = await self._read()
        except IssuerUnavailable as problem:  # the metadata that was read before is used meanwhile
            self._problem = problem
            self._until = self._clock() + RETRY_INTERVAL_S
        else:
            self._problem = None
            self._until = self._clock() + METADATA_CACHE_S

    async def address(self, name: str) -> str:
        """An address out of the metadata, such as ``token_endpoint``.

        Raises:
            IssuerUnavailable: the issuer does not say it, or it is no safe address.
        """
        url = (await self.metadata()).get(name)
        if not isinstance(url, str) or not may_name(self.issuer, url):
            raise IssuerUnavailable(f"{self.issuer} publishes no {name} that can be used.")
        return url

    async def jwks_uri(self) -> str:
        """Where the issuer's keys are.

        Raises:
            IssuerUnavailable: the issuer does not say it.
        """
        return await self.address("jwks_uri")

    async def _read(self) -> Mapping[str, Any]:
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = (await self._fetch(url)).content
        if metadata.get("issuer") != self.issuer:
            raise IssuerUnavailable(
                f"The metadata of {self.issuer} names another issuer. An admin must write the "
                "issuer in portal.yaml exactly as it writes itself."
            )
        return metadata
