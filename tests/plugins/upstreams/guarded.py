"""A server of others whose members have accounts: the SDK's authorization server before it.

The SDK's own handlers register clients and check codes, PKCE and redirect addresses; the accounts
and tokens behind them are in memory here. ::

    with guarded_server() as guarded:
        guarded.user = "ana-there"     # who is signed in in the browser that comes
        guarded.lifetime = 2           # seconds that access tokens live
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.login_page import LoginPage
from tests.servers.serving import bound, serving


class Guarded:
    """The authorization server's provider, and the guard of the server.

    Attributes:
        far: the server behind.
        user: who is signed in in browsers that come; where empty, a page asks.
        lifetime: seconds that access tokens live.
        renews: whether a refresh token is given as well.
        refreshes: how often tokens were refreshed.
        refuses_refresh: whether refresh tokens are refused.
        reused: users whose refresh token came a second time, which ends all they have.
        renews_after: how many requests are turned away before a refresh is answered.
        turned_away: how many requests had no good token.
        resource: what the resource metadata names; the server where empty.
        metadata: what the authorization server says differently of itself.
        answer: parameters of its answers that are other ones.
        calls: pairs of the user and the person that they said they are.
        trusting: with what certificates documents of clients are fetched.
        documents: the addresses of clients whose documents were fetched, and found good.
        registered: how many clients have registered.
        wants: the scope that calls of tools need; none where empty.
        asked: the scopes of each time that somebody agreed.
    """

    def __init__(self, far: Far) -> None:
        self.far = far
        self.user = "ana-there"
        self.lifetime = 3600
        self.renews = True
        self.login_page = LoginPage()
        self.refreshes: Counter[str] = Counter()
        self.refuses_refresh = False
        self.reused: list[str] = []
        self.renews_after = self.turned_away = 0
        self.resource = ""
        self.metadata: dict[str, Any] = {}
        self.answer: dict[str, str] = {}
        self.calls: list[tuple[str, str]] = []
        self.seen: list[str] = []
        self.wants = ""
        self.asked: list[list[str]] = []
        self.trusting: ssl.SSLContext | None = None
        self.documents: list[str] = []
        self.url = self.issuer = ""
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._tokens: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}
        self._spent: dict[str, str] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        if client_id.startswith("https://"):
            return await self._by_document(client_id)
        return self._clients.get(client_id)

    async def _by_document(self, url: str) -> OAuthClientInformationFull | None:
        """A client that is its document (draft-ietf-oauth-client-id-metadata-document)."""
        async with httpx2.AsyncClient(verify=self.trusting or True) as http:
            answer = await http.get(url)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        if answer.status_code != 200 or not is_json or answer.json().get("client_id") != url:
            return None
        client = OAuthClientInformationFull.model_validate(answer.json())
        if client.token_endpoint_auth_method != "none" or client.client_secret:
            return None
        self.documents.append(url)
        return client

    @property
    def registered(self) -> int:
        return len(self._clients)

    @property
    def applications(self) -> list[str]:
        """What kinds of clients have registered (SEP-837)."""
        return [str(each.application_type) for each in self._clients.values()]

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self._clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        def agreed(user: str) -> str:
            return self._answered(client, params, user)

        return agreed(self.user) if self.user else self.issuer + self.login_page.ask(agreed)

    def _answered(
        self, client: OAuthClientInformationFull, params: AuthorizationParams, user: str
    ) -> str:
        to, rest = str(params.redirect_uri), {"state": params.state, "iss": self.issuer}
        if not user:
            return construct_redirect_uri(to, error="access_denied", **rest)
        self.asked.append(params.scopes or [])
        code = AuthorizationCode(
            code=secrets.token_urlsafe(16),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=user,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(to, **{"code": code.code, **rest, **self.answer})

    async def load_authorization_code(self, client: Any, code: str) -> AuthorizationCode | None:
        return self._codes.get(code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[code.code]
        assert code.resource == self.url
        return self.issue(str(code.subject), str(client.client_id))

    async def load_refresh_token(self, client: Any, token: str) -> RefreshToken | None:
        while self.turned_away < self.renews_after:  # noqa: ASYNC110  (it counts requests of another loop)
            await asyncio.sleep(0.01)
        if (user := self._spent.get(token)) is not None:
            self.reused.append(user)  # a thief has it, or the client is broken (RFC 9700, 4.14.2)
            self.end(user)
        return None if self.refuses_refresh else self._refresh.get(token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refresh[token.token]  # each is good for once
        self._spent[token.token] = str(token.subject)
        self.refreshes[str(token.subject)] += 1
        return self.issue(str(token.subject), str(client.client_id))

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._tokens.get(token)

    async def revoke_token(self, token: Any) -> None:
        self._tokens.pop(token.token, None)

    def issue(self, user: str, client: str) -> OAuthToken:
        """Tokens of a user."""
        access, refresh = f"at-{secrets.token_urlsafe(24)}", f"rt-{secrets.token_urlsafe(24)}"
        ends = int(time.time() + self.lifetime)
        self._tokens[access] = AccessToken(
            token=access, client_id=client, scopes=[], expires_at=ends, subject=user
        )
        self._refresh[refresh] = RefreshToken(
            token=refresh, client_id=client, scopes=[], subject=user
        )
        self.seen += [access, refresh]
        if not self.renews:
            return OAuthToken(access_token=access, expires_in=self.lifetime)
        return OAuthToken(access_token=access, expires_in=self.lifetime, refresh_token=refresh)

    def end(self, user: str) -> None:
        """Take nothing any more that a user has been given until now."""
        self._tokens = {k: each for k, each in self._tokens.items() if each.subject != user}
        self._refresh = {k: each for k, each in self._refresh.items() if each.subject != user}

    def forget_access(self) -> None:
        """Take no access token any more that was given until now."""
        self._tokens.clear()

    def lacking(self) -> str:
        """The scope that calls need, where the last who agreed was not asked for it."""
        return "" if self.wants in [*self.asked[-1], ""] else self.wants

    def user_of(self, headers: dict[bytes, bytes]) -> str | None:
        """Whose token a request carries, where it is good."""
        token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
        found = self._tokens.get(token)
        good = found is not None and (found.expires_at or 0) > time.time()
        return found.subject if found is not None and good else None


class Guard:
    """Lets in who has a token, and notes for whom each call of ``add`` was meant."""

    def __init__(self, app: Any, guarded: list[Any]) -> None:
        self._app = app
        self._guarded = guarded

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        guarded = self._guarded[0]
        user = guarded.user_of(dict(scope["headers"]))
        if user is None:
            guarded.turned_away += 1
            where = f"{guarded.issuer}/.well-known/oauth-protected-resource/mcp"
            told = {"www-authenticate": f'Bearer resource_metadata="{where}"'}
            await JSONResponse({"error": "invalid_token"}, 401, told)(scope, receive, send)
            return
        message = await receive()
        if b"tools/call" in message.get("body", b"") and (wanted := guarded.lacking()):
            told = {"www-authenticate": f'Bearer error="insufficient_scope", scope="{wanted}"'}
            await JSONResponse({"error": "insufficient_scope"}, 403, told)(scope, receive, send)
            return
        try:
            given = json.loads(message.get("body") or b"{}")["params"]["arguments"]
            guarded.calls.append((user, str(given["a"])))
        except (KeyError, TypeError):
            pass
        waiting = [message]

        async def again() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, again, send)


@contextmanager
def guarded_server(era: str = "modern") -> Iterator[Guarded]:
    """Run both servers for as long as the block lasts."""
    holder: list[Guarded] = []
    with far_server(era, around=lambda app: Guard(app, holder)) as far:
        guarded = Guarded(far)
        holder.append(guarded)
        guarded.url = far.url
        listener = bound()
        guarded.issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        options = ClientRegistrationOptions(enabled=True, default_scopes=["plant", "reap", "water"])
        made: Any = guarded
        routes = create_auth_routes(made, AnyHttpUrl(guarded.issuer), None, options)

        async def resource(request: Any) -> JSONResponse:
            named = guarded.resource or guarded.url
            return JSONResponse({"resource": named, "authorization_servers": [guarded.issuer]})

        async def metadata(request: Any) -> JSONResponse:
            return JSONResponse(
                {
                    "issuer": guarded.issuer,
                    "authorization_endpoint": f"{guarded.issuer}/authorize",
                    "token_endpoint": f"{guarded.issuer}/token",
                    "registration_endpoint": f"{guarded.issuer}/register",
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
                    "authorization_response_iss_parameter_supported": True,
                }
                | guarded.metadata
            )

        own = [
            Route("/.well-known/oauth-protected-resource/mcp", resource),
            Route("/.well-known/oauth-authorization-server", metadata),
        ]
        own.append(guarded.login_page.route())
        with serving(Starlette(routes=[*own, *routes]), listener):
            yield guarded
