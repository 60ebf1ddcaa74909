"""A server of others whose authorization server gives tokens for the portal's word (RFC 8693).

It checks what it is shown as RFC 8693 and RFC 7519 want it: the signature by the keys that the
portal publishes, the issuer, the audience and the end. ::

    with exchanging_server() as exchanging, ...:
        exchanging.jwks_url = f"{address}/.well-known/jwks.json"
        exchanging.accounts[subject] = "ana-there"
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import parse_qsl

import jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway.testing import TestPortal
from plugins.upstreams.credentials.exchanged import ACCESS_TOKEN, GRANT, JWT
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.guarded import Guard
from tests.plugins.upstreams.portals import answering, portal_before
from tests.servers.serving import bound, serving

CLIENT, SECRET = "porch", "far-client-secret"
AUDIENCE = "https://login.far.example"
PORTAL = "http://localhost"


class Refused(Exception):
    """A request of the token endpoint is not good; the message is its error code."""


class Exchanging:
    """The authorization server, and the guard of the server.

    Attributes:
        far: the server behind.
        accounts: whose account each subject of the portal is linked to.
        jwks_url: where the portal publishes its keys.
        lifetime: seconds that tokens live.
        exchanged: how often each subject's assertion was exchanged.
        assertions: what was shown.
        asked: the fields of every request, without the assertion.
        refuses: the error code that everybody is answered, or nothing.
        calls: pairs of the user and the person that they said they are.
        seen: every token that was given.
        requests: how often each user's token came with a request.
        issued_type: the ``issued_token_type`` of answers.
        takes_none: whether the server refuses every token.
        turned_away: how many requests had no good token.
    """

    def __init__(self, far: Far) -> None:
        self.far = far
        self.url, self.issuer = far.url, ""
        self.accounts: dict[str, str] = {}
        self.jwks_url = ""
        self.lifetime = 3600
        self.exchanged: Counter[str] = Counter()
        self.assertions: list[str] = []
        self.asked: list[dict[str, str]] = []
        self.refuses = ""
        self.calls: list[tuple[str, str]] = []
        self.seen: list[str] = []
        self.requests: Counter[str] = Counter()
        self.issued_type = ACCESS_TOKEN
        self.takes_none = False
        self.turned_away = 0
        self._tokens: dict[str, tuple[str, float]] = {}

    @property
    def config(self) -> dict[str, Any]:
        """What ``portal.yaml`` says of it."""
        return {
            "token_endpoint": f"{self.issuer}/token",
            "issuer": AUDIENCE,
            "client_id": CLIENT,
            "client_secret": "env:FAR_CLIENT_SECRET",
            "scope": "tools",
        }

    def lacking(self) -> str:
        """Nothing: each token is good for all calls."""
        return ""

    def user_of(self, headers: dict[bytes, bytes]) -> str | None:
        """Whose token a request carries, where it is good."""
        token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
        user, ends = self._tokens.get(token, (None, 0.0))
        if user is None or ends <= time.time() or self.takes_none:
            return None
        self.requests[user] += 1
        return user

    def is_good(self, user: str) -> bool:
        """Whether a user has a token that has not ended."""
        now = time.time()
        return any(whose == user and ends > now for whose, ends in self._tokens.values())

    def forget_access(self) -> None:
        """Take no access token any more that was given until now."""
        self._tokens.clear()

    async def token(self, request: Request) -> JSONResponse:
        """The token endpoint."""
        fields = dict(parse_qsl((await request.body()).decode()))
        try:
            self._check_client(request)
            user = await asyncio.to_thread(self._user, fields)
        except Refused as refused:
            return JSONResponse({"error": str(refused)}, 400)
        given = f"at-{secrets.token_urlsafe(24)}"
        self._tokens[given] = user, time.time() + self.lifetime
        self.seen.append(given)
        answer = {
            "access_token": given,
            "issued_token_type": self.issued_type,
            "token_type": "Bearer",
            "expires_in": self.lifetime,
        }
        return JSONResponse(answer, headers={"cache-control": "no-store"})

    def _check_client(self, request: Request) -> None:
        sent = request.headers.get("authorization", "").removeprefix("Basic ")
        if base64.b64decode(sent).decode() != f"{CLIENT}:{SECRET}":
            raise Refused("invalid_client")
        if self.refuses:
            raise Refused(self.refuses)

    def _user(self, fields: dict[str, str]) -> str:
        self.asked.append({k: v for k, v in fields.items() if k != "subject_token"})
        if fields.get("resource") != self.url:
            raise Refused("invalid_target")
        if fields["grant_type"] == "client_credentials":
            return "the portal"
        if fields["grant_type"] != GRANT or fields["subject_token_type"] != JWT:
            raise Refused("unsupported_grant_type")
        self.assertions.append(fields["subject_token"])
        try:
            key = jwt.PyJWKClient(self.jwks_url).get_signing_key_from_jwt(fields["subject_token"])
            claims = jwt.decode(
                fields["subject_token"],
                key,
                ["EdDSA"],
                audience=AUDIENCE,
                issuer=PORTAL,
                options={"require": ["exp", "iat", "sub", "jti"]},
            )
        except jwt.PyJWTError:
            raise Refused("invalid_request") from None
        self.exchanged[claims["sub"]] += 1
        if claims["sub"] not in self.accounts:
            raise Refused("invalid_grant")
        return self.accounts[claims["sub"]]


@contextmanager
def exchanging_server(era: str = "modern", *, follows: bool = False) -> Iterator[Exchanging]:
    """Run both servers for as long as the block lasts."""
    holder: list[Any] = []
    with far_server(era, around=lambda app: Guard(app, holder), follows=follows) as far:
        exchanging = Exchanging(far)
        holder.append(exchanging)
        app = Starlette(routes=[Route("/token", exchanging.token, methods=["POST"])])
        with serving(app, bound()) as exchanging.issuer:
            yield exchanging


@asynccontextmanager
async def portal_of(exchanging: Exchanging, **more: Any) -> AsyncGenerator[TestPortal]:
    """A portal before the server, whose keys are there to be read."""
    credential = {"exchange": {**exchanging.config, **more.pop("exchange", {})}}
    options = {"credential": credential, "tier": "public", **more}
    async with portal_before(exchanging.url, **options) as portal:
        listener = bound()
        port = listener.getsockname()[1]
        exchanging.jwks_url = f"http://127.0.0.1:{port}/.well-known/jwks.json"
        async with answering(portal, listener):
            yield portal
