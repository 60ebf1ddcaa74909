"""Client ID Metadata Documents (CIMD): clients whose id is the URL of their own metadata.

draft-ietf-oauth-client-id-metadata-document, which MCP 2025-11-25 and later ask for first.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from auth.document_fetcher import Document, FetchFailed, FetchRefused
from auth.oauth import redirect_uris as uris
from auth.oauth.client_record import ClientRecord, UnknownClient, shown_name

DOCUMENT_CACHE_SIZE = 1000
"""Documents that one process caches, and as many failures."""
MIN_CACHE_S = 300.0
MAX_CACHE_S = 24 * 3600.0
DEFAULT_CACHE_S = 3600.0
"""Seconds for which a document is cached: at least, at most, and if its publisher says nothing."""
RETRY_INTERVAL_S = 30.0
"""Seconds until a URL without a usable document is fetched again."""
MAX_STALE_S = 24 * 3600.0
"""Seconds for which an expired document is used while its URL does not answer, so that a
publisher's outage signs nobody out."""
MAX_REDIRECT_URIS = 30
MAX_URL_LENGTH = 1000

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Kept:
    record: ClientRecord
    until: float
    usable: float


class ClientDocuments:
    """Fetches and caches the documents.

    Args:
        fetch: fetches the JSON object at a URL, such as ``Fetcher.fetch``.
        clock: seconds; replaced in tests.
    """

    def __init__(
        self,
        fetch: Callable[[str], Awaitable[Document]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        # Apart from the good ones, so that a flood of bad URLs evicts none of them.
        self._failed: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._fetching: dict[str, asyncio.Task[ClientRecord | UnknownClient]] = {}

    async def get(self, url: str) -> ClientRecord:
        """The client whose id is a URL.

        Raises:
            UnknownClient: there is no usable document.
        """
        _check_url(url)
        kept = self._kept.get(url)
        if kept is not None and self._clock() < kept.until:
            self._kept.move_to_end(url)
            return kept.record
        reason, until = self._failed.get(url, ("", 0.0))
        if self._clock() < until:
            raise UnknownClient(reason)
        found = await asyncio.shield(self._one_fetch(url))
        if isinstance(found, UnknownClient):
            raise UnknownClient(found.reason)
        return found

    def remembers(self, url: str) -> bool:
        """Whether :meth:`get` answers without a new fetch."""
        kept = self._kept.get(url)
        known = kept is not None and self._clock() < kept.until
        return known or url in self._fetching or self._clock() < self._failed.get(url, ("", 0.0))[1]

    def _one_fetch(self, url: str) -> asyncio.Task[ClientRecord | UnknownClient]:
        """The fetch of a URL that is under way, or a new one; all who ask meanwhile share it."""
        if url not in self._fetching:
            task = asyncio.create_task(self._renew(url))
            task.add_done_callback(lambda _: self._fetching.pop(url, None))
            self._fetching[url] = task
        return self._fetching[url]

    async def _renew(self, url: str) -> ClientRecord | UnknownClient:
        kept = self._kept.get(url)
        try:
            document = await self._fetch(url)
            record = read(url, document.content)
        except FetchFailed as failed:
            if kept is not None and self._clock() < kept.usable:
                again = _Kept(kept.record, self._clock() + RETRY_INTERVAL_S, kept.usable)
                _keep(self._kept, url, again)
                return kept.record
            return self._fail(url, failed.reason)
        except (FetchRefused, UnknownClient) as refused:
            return self._fail(url, refused.reason)
        said = DEFAULT_CACHE_S if document.max_age_s is None else document.max_age_s
        until = self._clock() + min(max(said, MIN_CACHE_S), MAX_CACHE_S)
        _keep(self._kept, url, _Kept(record, until, until + MAX_STALE_S))
        self._failed.pop(url, None)
        return record

    def _fail(self, url: str, reason: str) -> UnknownClient:
        self._kept.pop(url, None)
        _keep(self._failed, url, (reason, self._clock() + RETRY_INTERVAL_S))
        return UnknownClient(reason)


def read(url: str, content: Mapping[str, Any]) -> ClientRecord:
    """The client that a document describes.

    Args:
        url: the address that it was fetched from.
        content: the document.

    Raises:
        UnknownClient: it is not the document of a client that can sign people in here.
    """
    if content.get("client_id") != url:
        raise UnknownClient("The client's document names another client_id than its own address.")
    if "client_secret" in content or "client_secret_expires_at" in content:
        raise UnknownClient("The client's document has a secret in it, which nobody must see.")
    method = content.get("token_endpoint_auth_method", "none")
    if method != "none":
        raise UnknownClient(
            "The client's document asks for a token_endpoint_auth_method that this portal does not "
            'have; it takes "none", a public client with PKCE, and no private_key_jwt.'
        )
    return ClientRecord(
        client_id=url,
        name=shown_name(content.get("client_name"), instead=urlsplit(url).netloc),
        redirect_uris=_redirect_uris(content.get("redirect_uris")),
        uri=_own_page(url, content.get("client_uri")),
    )


def _own_page(url: str, page: object) -> str | None:
    """The client's page, if it is on its publisher's own origin; others might lead anywhere."""
    if not isinstance(page, str) or uris.problem(page) is not None:
        return None
    origin = "/".join(url.split("/")[:3])
    return page if page == origin or page.startswith(f"{origin}/") else None


def _redirect_uris(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    # Unusable ones are ignored, as the document is written for other servers too.
    good = [each for each in listed if isinstance(each, str) and uris.problem(each) is None]
    if not good or len(listed) > MAX_REDIRECT_URIS:
        raise UnknownClient(
            f"The client's document must list 1 to {MAX_REDIRECT_URIS} redirect_uris that can be "
            "used."
        )
    return tuple(good)


def _check_url(url: str) -> None:
    try:
        path = urlsplit(url).path
    except ValueError:
        path = ""
    segments = path.lower().replace("%2e", ".").split("/")
    if path in {"", "/"} or len(url) > MAX_URL_LENGTH or {".", ".."} & set(segments):
        raise UnknownClient(
            "A client_id that is an address must lead to a document, by a path without dots and "
            f"with at most {MAX_URL_LENGTH} characters."
        )


def _keep(kept: OrderedDict[str, _Value], url: str, value: _Value) -> None:
    kept[url] = value
    kept.move_to_end(url)
    while len(kept) > DOCUMENT_CACHE_SIZE:
        kept.popitem(last=False)
