"""Requests to what a server names: its authorization server, token endpoint and the like.

All of it is said by strangers, so that it goes to the public internet alone, over https, to the
address that was checked; a server that ``portal.yaml`` has on this machine may name this machine.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from plugins.upstreams.wire import Address, Limits, Unauthorized, WireError
from plugins.upstreams.wire.bodies import body_of
from plugins.upstreams.wire.challenges import parse_challenges
from plugins.upstreams.wire.http import Channel, origin

MAX_DOCUMENT_BYTES = 256 * 1024
"""Bytes of a document; more is not read."""
TIMEOUT_SECONDS = 15.0
"""Seconds that one request may take."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_FORM = "application/x-www-form-urlencoded"


class OAuthFailed(Exception):
    """The other side does not do its part; the message is for people and holds no secret.

    Args:
        message: what is wrong.
        code: the error code of RFC 6749, where it answered one.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: the HTTP status.
        content: the JSON object; empty where there is none.
        bearer: the parameters of a Bearer challenge.
    """

    status: int
    content: Mapping[str, Any] = field(default_factory=dict)
    bearer: Mapping[str, str] = field(default_factory=dict)


class OAuthHttp:
    """Asks addresses that a server names.

    Args:
        server: the server's own address, out of ``portal.yaml``.
        named: other addresses out of it, which may be anywhere: an admin has said so.
    """

    def __init__(self, server: str, named: frozenset[str] = frozenset()) -> None:
        self._local = urlsplit(server).hostname in _LOOPBACK
        self._named = named

    def allows(self, url: str) -> bool:
        """Whether an address may be asked, or a browser sent there, as far as its text tells."""
        scheme, host, _ = origin(url)
        if url in self._named:
            return True
        if not url.isascii() or not url.isprintable() or "@" in urlsplit(url).netloc:
            return False
        return (scheme == "https" and bool(host)) or (
            self._local and scheme == "http" and host in _LOOPBACK
        )

    async def get(self, url: str) -> Answer:
        """Ask for a document.

        Raises:
            OAuthFailed: the address may not be asked, or does not answer.
        """
        return await self._ask("GET", url, {"accept": "application/json"}, None)

    async def post_form(self, url: str, body: str, headers: Mapping[str, str]) -> Answer:
        """Send a form, such as to a token endpoint.

        Raises:
            OAuthFailed: the address may not be asked, or does not answer.
        """
        sent = {"accept": "application/json", "content-type": _FORM, **headers}
        return await self._ask("POST", url, sent, body.encode())

    async def post_json(self, url: str, content: Mapping[str, Any]) -> Answer:
        """Send a JSON object, such as to a registration endpoint.

        Raises:
            OAuthFailed: the address may not be asked, or does not answer.
        """
        sent = {"accept": "application/json", "content-type": "application/json"}
        return await self._ask("POST", url, sent, json.dumps(content).encode())

    async def _ask(
        self, verb: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        if not self.allows(url):
            raise OAuthFailed(f"{_host(url)} is not an address that the portal asks.")
        local = url in self._named or (self._local and origin(url)[1] in _LOOPBACK)
        limits = Limits(message_bytes=MAX_DOCUMENT_BYTES, reply_bytes=MAX_DOCUMENT_BYTES)
        try:
            channel = await Channel.open(Address(url, public_only=not local), limits)
            try:
                return await _bounded(channel, verb, headers, body)
            finally:
                await channel.close()
        except Unauthorized as refused:
            return Answer(refused.status, bearer=refused.bearer)
        except TimeoutError:
            raise OAuthFailed(f"{_host(url)} does not answer in time.") from None
        except WireError as error:
            raise OAuthFailed(f"{_host(url)} cannot be asked: {error}") from None


async def _bounded(
    channel: Channel, verb: str, headers: Mapping[str, str], body: bytes | None
) -> Answer:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        async with channel.ask(verb, headers, body) as response:
            challenges = parse_challenges(response.headers.getall("www-authenticate", []))
            bearer = [each.parameters for each in challenges if each.scheme == "bearer"]
            data = await body_of(response, MAX_DOCUMENT_BYTES)
            try:
                content = json.loads(bytes(data))
            except ValueError:
                content = None
            known = content if isinstance(content, dict) else {}
            return Answer(response.status, known, bearer[0] if bearer else {})


def _host(url: str) -> str:
    return origin(url)[1] or "The address"
