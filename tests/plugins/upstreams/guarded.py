"""A server of others whose members have accounts: the SDK's authorization server before it.

The SDK's own handlers register clients and check codes, PKCE and redirect addresses; the accounts
and tokens behind them are in memory here. ::

    with guarded_server() as guarded:
        guarded.user = "ana-there"     # who is signed in in the browser that comes
        guarded.lifetime = 2           # seconds that access tokens live
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
from tests.servers.serving import bound, serving


class Guarded:
    """The authorization server's provider, and the guard of the server.

    Attributes:
        far: the server behind.
        user: who is signed in in browsers that come.
        lifetime: seconds that access tokens live.
        refreshes: how often tokens were refreshed.
        refuses_refresh: whether refresh tokens are refused.
        resource: what the resource metadata names; the server where empty.
        metadata: what the authorization server says differently of itself.
        answer: parameters of its answers that are other ones.
        calls: pairs of the user and the person that they said they are.
    """

    def __init__(self, far: Far) -> None:
        self.far = far
        self.user = "ana-there"
        self.lifetime = 3600
        self.refreshes: Counter[str] = Counter()
        self.refuses_refresh = False
        self.resource = ""
        self.metadata: dict[str, Any] = {}
        self.answer: dict[str, str] = {}
        self.calls: list[tuple[str, str]] = []
        self.seen: list[str] = []
        self.url = self.issuer = ""
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._tokens: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self._clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(16),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=self.user,
        )
        self._codes[code.code] = code
        given = {"code": code.code, "state": params.state, "iss": self.issuer, **self.answer}
        return construct_redirect_uri(str(params.redirect_uri), **given)

    async def load_authorization_code(self, client: Any, code: str) -> AuthorizationCode | None:
        return self._codes.get(code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[code.code]
        assert code.resource == self.url
        return self.issue(str(code.subject), str(client.client_id))

    async def load_refresh_token(self, client: Any, token: str) -> RefreshToken | None:
        return None if self.refuses_refresh else self._refresh.get(token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refresh[token.token]  # each is good for once
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
        return OAuthToken(access_token=access, expires_in=self.lifetime, refresh_token=refresh)

    def forget_access(self) -> None:
        """Take no access token any more that was given until now."""
        self._tokens.clear()

    def user_of(self, headers: dict[bytes, bytes]) -> str | None:
        """Whose token a request carries, where it is good."""
        token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
        found = self._tokens.get(token)
        good = found is not None and (found.expires_at or 0) > time.time()
        return found.subject if found is not None and good else None


class _Guard:
    """Lets in who has a token, and notes for whom each call of ``add`` was meant."""

    def __init__(self, app: Any, guarded: list[Guarded]) -> None:
        self._app = app
        self._guarded = guarded

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        guarded = self._guarded[0]
        user = guarded.user_of(dict(scope["headers"]))
        if user is None:
            where = f"{guarded.issuer}/.well-known/oauth-protected-resource/mcp"
            told = {"www-authenticate": f'Bearer resource_metadata="{where}"'}
            await JSONResponse({"error": "invalid_token"}, 401, told)(scope, receive, send)
            return
        message = await receive()
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
    with far_server(era, around=lambda app: _Guard(app, holder)) as far:
        guarded = Guarded(far)
        holder.append(guarded)
        guarded.url = far.url
        listener = bound()
        guarded.issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        options = ClientRegistrationOptions(enabled=True)
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
        with serving(Starlette(routes=[*own, *routes]), listener):
            yield guarded
