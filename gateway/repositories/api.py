"""GitHub's API: one host, bounded answers, and every refusal as an error with its reason.

A credential goes to the API's own host only. Nothing is remembered between two requests, so that
what one caller may see never helps another.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from gateway.repositories.errors import ADVICE, Advice, Place, SourceFailed, code_of, when

if TYPE_CHECKING:
    import ssl

    import httpx

JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"
TIMEOUT_SECONDS = 15.0
"""How long one answer may take."""
DEFAULT_RETRY_SECONDS = 60
"""Seconds to wait where GitHub limits requests and does not say for how long."""
MAX_RETRY_SECONDS = 86400
"""Seconds to wait at most; GitHub never says more than an hour."""

_MAX_REDIRECTS = 3
_REDIRECTED = {301, 302, 303, 307, 308}
_HEADERS = {
    "user-agent": "porch",
    "x-github-api-version": "2022-11-28",
    # What is compressed may grow without bounds as it is read.
    "accept-encoding": "identity",
}
_CHUNK_BYTES = 64 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_NUMBER = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API that is a success, or 304."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks for what, as errors tell it.

    Attributes:
        place: what is asked for.
        token: the credential that goes along, or None.
        whose: whose it is: ``nobody``, ``operator`` or ``caller``.
        advice: what the portal's admin can change.
        sought: what is not there where GitHub finds nothing, and no path is asked for.
        needs: the permission that the request takes, as GitHub calls it, such as
            ``Contents: read and write``; "" for what is only read.
    """

    place: Place
    token: str | None = None
    whose: str = "nobody"
    advice: Advice = ADVICE
    sought: str = "branch"
    needs: str = ""


class Api:
    """GitHub's REST API.

    Args:
        client: the connections; without redirects and cookies (see :func:`connected`).
        url: its address; an attribute too.
        seconds: how long one answer may take.
    """

    def __init__(
        self, client: httpx.AsyncClient, url: str, seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._client = client
        self.url = url
        self._seconds = seconds

    async def get(
        self, path: str, asking: Asking, largest: int, *, accept: str = JSON, etag: str = ""
    ) -> Answer:
        """Ask for a document.

        Args:
            path: below the API's address, with its parts quoted.
            asking: who asks for what.
            largest: bytes of an answer that is read.
            accept: the media type.
            etag: the state that is known, for a conditional request.

        Raises:
            SourceFailed: GitHub refuses, or does not answer as it should.
        """
        headers = {"accept": accept} | ({"if-none-match": etag} if etag else {})
        try:
            async with asyncio.timeout(self._seconds):
                async with self.opened("GET", path, asking, headers=headers) as response:
                    body = await _body(response, asking, largest)
        except TimeoutError:
            raise silent(asking, f"did not answer within {self._seconds:g} seconds") from None
        return Answer(response.status_code, response.headers, body)

    async def post(self, path: str, asking: Asking, largest: int) -> Answer:
        """Send a request without a body; like :meth:`get`."""
        return await self.send("POST", path, asking, largest)

    async def send(
        self, method: str, path: str, asking: Asking, largest: int, value: Any = None
    ) -> Answer:
        """Send a request that may change something; like :meth:`get`.

        Args:
            method: the HTTP method.
            path: below the API's address, with its parts quoted.
            asking: who asks for what.
            largest: bytes of an answer that is read.
            value: JSON values to send along, or None.
        """
        content = None if value is None else to_json(value)
        try:
            async with asyncio.timeout(self._seconds):
                async with self.opened(
                    method, path, asking, headers={"accept": JSON}, content=content
                ) as response:
                    body = await _body(response, asking, largest)
        except TimeoutError:
            raise silent(asking, f"did not answer within {self._seconds:g} seconds") from None
        return Answer(response.status_code, response.headers, body)

    @asynccontextmanager
    async def opened(
        self,
        method: str,
        path: str,
        asking: Asking,
        *,
        headers: Mapping[str, str],
        elsewhere: bool = False,
        content: bytes | None = None,
    ) -> AsyncGenerator[httpx.Response]:
        """Send a request, and hand over its answer once it is a success, or 304.

        Args:
            method: the HTTP method.
            path: below the API's address.
            asking: who asks for what.
            headers: of the request, beside the credential.
            elsewhere: whether the answer may lie on another host, which gets no credential.
            content: JSON to send along.

        Raises:
            SourceFailed: GitHub refuses, or cannot be reached.
        """
        import httpx

        url = httpx.URL(self.url + path)
        home = (url.scheme, url.host, url.port)
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                sent = {**_HEADERS, **headers}
                if content is not None:
                    sent["content-type"] = "application/json"
                if asking.token is not None and (url.scheme, url.host, url.port) == home:
                    sent["authorization"] = f"Bearer {asking.token}"
                async with self._client.stream(
                    method, url, headers=sent, content=content
                ) as response:
                    if response.status_code not in _REDIRECTED:
                        if not (response.is_success or response.status_code == 304):
                            raise await _refusal(response, asking)
                        yield response
                        return
                    url = _next(url, response, asking, elsewhere)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise silent(asking, _why(error)) from None
        raise silent(asking, "redirects without an end")


def silent(asking: Asking, what: str, status: int | None = None) -> SourceFailed:
    """The error where GitHub does not answer as it should; a copy read before still helps."""
    message = f"GitHub {what}. Try again in a minute."
    return SourceFailed("UPSTREAM_ERROR", message, asking.place, status=status, transient=True)


@asynccontextmanager
async def connected() -> AsyncGenerator[httpx.AsyncClient]:
    """Connections that follow no redirect by themselves and keep no cookies."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx

    verify = await asyncio.to_thread(_trust)
    jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    limits = httpx.Limits(max_connections=20, max_keepalive_connections=5)
    timeout = httpx.Timeout(10.0)
    async with httpx.AsyncClient(
        verify=verify, cookies=jar, limits=limits, timeout=timeout
    ) as client:
        yield client


def _trust() -> ssl.SSLContext:
    """Trust the usual authorities, and those of this system, such as a company's own."""
    import httpx

    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context


async def _body(response: httpx.Response, asking: Asking, largest: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes(_CHUNK_BYTES):
        body += chunk
        if len(body) > largest:
            message = f"GitHub answers with more than {largest:,} bytes, which is more than is read"
            message += f" ({asking.advice.largest})." if asking.place.path else "."
            raise SourceFailed("UPSTREAM_ERROR", message, asking.place, status=response.status_code)
    return bytes(body)


def _next(url: httpx.URL, response: httpx.Response, asking: Asking, elsewhere: bool) -> httpx.URL:
    """Where a redirect leads, if it may be followed."""
    then = url.join(response.headers.get("location", ""))
    same = (then.scheme, then.host, then.port) == (url.scheme, url.host, url.port)
    if same or (elsewhere and then.scheme == url.scheme):
        return then
    raise SourceFailed(
        "UPSTREAM_ERROR",
        f"GitHub sends the request on to {then.scheme}://{then.host}, where it is not followed. "
        "The portal's admin must look at github.api_url.",
        asking.place,
        status=response.status_code,
    )


async def _refusal(response: httpx.Response, asking: Asking) -> SourceFailed:
    status = response.status_code
    start = bytearray()
    async for chunk in response.aiter_bytes(_CHUNK_BYTES):
        start += chunk
        if len(start) > _MAX_ERROR_BYTES:
            break
    if (wait := _limited(status, response.headers, bytes(start))) is not None:
        what = "answers with 503" if status == 503 else "takes no more requests for now"
        message = f"GitHub {what}. Try again {when(wait)}."
        return SourceFailed(
            code_of(status), message, asking.place, status=status, retry_after=wait, transient=True
        )
    return SourceFailed(
        code_of(status),
        _explained(status, asking, response.headers.get(_ACCEPTED, "")),
        asking.place,
        status=status,
        transient=status >= 500 or status == 408,
        said=_said(bytes(start)),
    )


def _said(body: bytes) -> str:
    """GitHub's own words for a refusal, to tell one from another; they are shown to nobody."""
    try:
        told = from_json(body)
        errors = told.get("errors") or () if isinstance(told, dict) else ()
        more = [each.get("message") if isinstance(each, dict) else each for each in errors]
        return " ".join(str(each) for each in (told["message"], *more) if each)
    except (ValueError, KeyError, TypeError):
        return ""


def _limited(status: int, headers: Mapping[str, str], body: bytes) -> int | None:
    """Seconds to wait where GitHub limits requests, or says for how long it does not answer them
    (503; RFC 9110, section 10.2.3); None where it refuses for another reason."""
    wait = headers.get("retry-after", "").strip()
    used_up = headers.get("x-ratelimit-remaining", "").strip() == "0"
    if status == 503:
        return _seconds(wait) if wait else None
    if status not in {403, 429}:
        return None
    if status == 403 and not (wait or used_up or b"rate limit" in body.lower()):
        return None
    if wait:
        return _seconds(wait)
    reset = headers.get("x-ratelimit-reset", "").strip()
    if used_up and _NUMBER.fullmatch(reset):
        return _bounded(int(reset) - time.time())
    return DEFAULT_RETRY_SECONDS


def _seconds(wait: str) -> int:
    """The seconds in a Retry-After header (RFC 9110, section 10.2.3), which may be a date."""
    if _NUMBER.fullmatch(wait):
        return _bounded(int(wait))
    try:
        return _bounded(parsedate_to_datetime(wait).timestamp() - time.time())
    except (ValueError, OverflowError):
        return DEFAULT_RETRY_SECONDS


def _bounded(seconds: float) -> int:
    return round(min(max(1, seconds), MAX_RETRY_SECONDS))


_UNAUTHORIZED = {
    "nobody": "GitHub asks for a credential. The portal's admin must {advice}.",
    "operator": "GitHub does not take the portal's own credential. The portal's admin must renew "
    "it (github.token or github.app).",
    "caller": "GitHub does not take your token. Make a new one, and send that.",
}
_FORBIDDEN = {
    "nobody": "GitHub shows this to nobody without a credential. The portal's admin must {advice}.",
    "operator": "GitHub does not let the portal's own credential read this. The portal's admin "
    "must grant it access to the repository's contents.",
    "caller": "GitHub does not let your token read this. It needs read access to the contents of "
    "the repository, and where the organization uses single sign-on, its approval.",
}


_NOT_PERMITTED = (
    "GitHub does not let the portal's own credential write to {repo}: it takes the repository "
    "permission {needs}. For a GitHub App, its owner adds it under Permissions & events, and the "
    "owner of {repo} accepts it at the App's installation; for a token, whoever made it adds it "
    "to the token's repository permissions. The portal's admin must see to it."
)
_ACCEPTED = "x-accepted-github-permissions"
_PERMISSION = re.compile(r"([a-z_]{1,40})=(read|write)")


def _needed(accepted: str, otherwise: str) -> str:
    """The permission that GitHub asks for, as its settings call it; what is known where it
    does not say (``X-Accepted-GitHub-Permissions: contents=write``)."""
    named = _PERMISSION.search(accepted)
    if named is None:
        return otherwise
    what = named[1].replace("_", " ").capitalize()
    return f"{what}: read and write" if named[2] == "write" else f"{what}: read"


def _explained(status: int, asking: Asking, accepted: str = "") -> str:
    """What a refusal means for the one who asked, and who can do something about it."""
    place = asking.place
    if status == 403 and asking.needs and asking.whose == "operator":
        return _NOT_PERMITTED.format(repo=place.repo, needs=_needed(accepted, asking.needs))
    if status == 401:
        return _UNAUTHORIZED[asking.whose].format(advice=asking.advice.credential)
    if status == 403:
        return _FORBIDDEN[asking.whose].format(advice=asking.advice.credential)
    if status == 404:
        of = f"{place.path} in" if place.path else f"{asking.sought} to read of"
        unseen = {"nobody": ".", "operator": ", or the portal's own credential may not see it."}
        end = unseen.get(asking.whose, ", or your token may not see it.")
        return f"There is no {of} {place.repo} at {place.branch}{end}"
    return f"GitHub answers with {status}. Try again in a minute."


def _why(error: Exception) -> str:
    """What went wrong on the way, without the address, which may hold a credential."""
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return "did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "cannot be reached"
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return "ended its answer early"
    return "cannot be asked"
