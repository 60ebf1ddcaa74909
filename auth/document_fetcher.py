"""Fetches small JSON documents from addresses that strangers choose, without SSRF.

An OAuth client may name itself by the address of its metadata before anybody has signed in, so
anyone who reaches the portal can make it send a request. Such a request goes to the public
internet only, over verified TLS, and carries nothing; little of the answer is read, and none of it
is repeated in messages (draft-ietf-oauth-client-id-metadata-document, on server-side request
forgery).
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from auth.public_addresses import is_public

if TYPE_CHECKING:
    import ssl

    import httpx2

FETCH_TIMEOUT_S = 5.0
"""Seconds that a fetch may take, DNS and waiting for other fetches included."""
MAX_DOCUMENT_BYTES = 64 * 1024
"""Bytes of a document."""
MAX_URL_LENGTH = 2000
MAX_CONCURRENT_FETCHES = 8
"""Fetches at a time, so that a flood of addresses opens few connections."""
MAX_ADDRESSES_TRIED = 3
"""IP addresses of one host that are tried, such as one of IPv6 and one of IPv4."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host and port to IP addresses as text; raises OSError if there are none."""

_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)
_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NO_CACHE = re.compile(r"(?:^|,)\s*no-(?:store|cache)\s*(?:,|=|$)", re.IGNORECASE)

# Threads of their own: look-ups that hang must not delay other work of the portal.
_resolving = ThreadPoolExecutor(
    max_workers=MAX_CONCURRENT_FETCHES, thread_name_prefix="porch-resolve"
)


class NotFetched(Exception):
    """There is no document.

    Args:
        reason: why, for people; it repeats nothing of the answer.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FetchRefused(NotFetched):
    """The address is not one that the portal fetches from."""


class FetchFailed(NotFetched):
    """The address did not give a document; it may do so another time."""


@dataclass(frozen=True, slots=True)
class Document:
    """What was fetched.

    Attributes:
        content: the JSON object.
        max_age_s: seconds for which its publisher allows it to be cached, 0 for not at all, None
            if the publisher says nothing.
    """

    content: Mapping[str, Any]
    max_age_s: float | None = None


async def system_tls() -> ssl.SSLContext:
    """A TLS context that trusts the system's authorities; the certificates are read once."""
    return await asyncio.to_thread(_system_tls)


@cache
def _system_tls() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_resolving, ask)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class Fetcher:
    """Fetches documents.

    Args:
        allowed_hosts: ``NAME`` or ``NAME:PORT`` of hosts that may be on private addresses.
        tls: trusts certificates; the system's authorities where none is given.
        resolve: looks names up.
        seconds: how long a fetch may take.
    """

    def __init__(
        self,
        allowed_hosts: Collection[str] = (),
        *,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = look_up,
        seconds: float = FETCH_TIMEOUT_S,
    ) -> None:
        self._allowed = frozenset(map(str.lower, allowed_hosts))
        self._tls = tls
        self._resolve = resolve
        self._seconds = seconds
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_FETCHES)

    async def fetch(self, address: str) -> Document:
        """Fetch a JSON object.

        Args:
            address: an https address without user and fragment.

        Raises:
            FetchRefused: the portal does not fetch from there.
            FetchFailed: there was no JSON object, or not in time.
        """
        url = _checked(address)
        try:
            async with asyncio.timeout(self._seconds), self._turns:
                return await self._fetch(url)
        except TimeoutError:
            raise FetchFailed(f"{_host(url)} did not answer in time.") from None

    async def _fetch(self, url: httpx2.URL) -> Document:
        import httpx2

        tls = self._tls or await system_tls()
        for address in (await self._addresses(url))[:MAX_ADDRESSES_TRIED]:
            try:
                return await self._get(url, address, tls)
            except httpx2.ConnectError:
                continue
            except (httpx2.HTTPError, OSError):
                break
        raise FetchFailed(f"{_host(url)} did not answer.")

    async def _addresses(self, url: httpx2.URL) -> Sequence[str]:
        """The addresses to connect to, resolved once: those that are checked are those used."""
        host, port = _host(url), url.port or 443
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError):
            found = ()
        # One message for both cases, or anyone could find out which names a private network has.
        if not found or not (self._is_allowed(host, port) or all(map(is_public, found))):
            raise FetchRefused(f"{host} is not found on the public internet.")
        return found

    def _is_allowed(self, host: str, port: int) -> bool:
        name = f"[{host}]" if ":" in host else host
        return name in self._allowed or f"{name}:{port}" in self._allowed

    async def _get(self, url: httpx2.URL, address: str, tls: ssl.SSLContext) -> Document:
        """Get a document from one address; TLS and the Host header use the host's name."""
        import httpx2

        headers = {
            "host": url.netloc.decode(),
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": "porch",
        }
        # A client of its own: no cookies, no proxy or password from the environment, no connection
        # that is used again for somebody else's document.
        client = httpx2.AsyncClient(verify=tls, trust_env=False, timeout=self._seconds)
        async with client:
            get = client.stream(
                "GET",
                url.copy_with(host=address),
                headers=headers,
                extensions={"sni_hostname": _host(url)},
                follow_redirects=False,
            )
            async with get as response:
                _check_head(response, _host(url))
                return Document(await _json_object(response, _host(url)), max_age(response))


def _checked(address: str) -> httpx2.URL:
    import httpx2

    plain = address.isascii() and address.isprintable() and not set(address) & set(' \\#"<>')
    if not plain or len(address) > MAX_URL_LENGTH:
        raise FetchRefused("The address has characters that an address cannot have, or too many.")
    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        raise FetchRefused("The address cannot be read.") from None
    if url.scheme != "https" or not url.host or "@" in address.split("/")[2]:
        raise FetchRefused("The address must begin with https:// and name a host and no user.")
    if url.port is not None and not 0 < url.port < 2**16:
        raise FetchRefused("The address names a port that there is not.")
    return url


def _host(url: httpx2.URL) -> str:
    return url.raw_host.decode()


def _check_head(response: httpx2.Response, host: str) -> None:
    if response.is_redirect:
        raise FetchFailed(f"{host} answers with a redirect, which is not followed.")
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if response.status_code != 200 or not _JSON.fullmatch(kind) or encoding != "identity":
        raise FetchFailed(f"{host} does not answer with a plain JSON document.")


async def _json_object(response: httpx2.Response, host: str) -> Mapping[str, Any]:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_DOCUMENT_BYTES:
            raise FetchFailed(f"{host} answers with more than {MAX_DOCUMENT_BYTES // 1024} KiB.")
    try:
        content = from_json(bytes(body), allow_inf_nan=False)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise FetchFailed(f"{host} does not answer with a JSON object.")
    return content


def max_age(response: httpx2.Response) -> float | None:
    """Seconds for which an answer may be cached, 0 for not at all; None if it says nothing."""
    control = response.headers.get("cache-control", "")
    if _NO_CACHE.search(control):
        return 0.0
    found = _MAX_AGE.search(control)
    return float(found[1]) if found else None
