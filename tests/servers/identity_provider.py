"""A small OpenID Connect provider on loopback: real HTTP, real keys, and no scruples.

It serves discovery, keys, authorize, token and userinfo, and mints any token one asks for, good
or evil. Its keys are also where Cloudflare Access has them. ::

    with IdentityProvider() as provider:
        provider.approves = "ana"           # who signs in without being asked; None shows a page
        provider.mint({"aud": "portal"})    # a bearer token
        provider.rotate()                   # a new key; the old one is no longer published
"""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from itertools import cycle
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.servers.serving import bound, serving

USERS = {
    "ana": {"name": "Ana", "email": "Ana@Example.org", "email_verified": True, "groups": ["core"]},
    "ben": {"name": "Ben", "email": "ben@example.org", "email_verified": False},
}
MAKERS: Mapping[str, tuple[Callable[[], Any], Any]] = {
    "RS256": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "PS256": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate, OKPAlgorithm),
}


class Key:
    """A private key, and its public part as it is published."""

    def __init__(self, algorithm: str = "RS256", kid: str | None = None) -> None:
        make, kind = MAKERS[algorithm]
        self.algorithm = algorithm
        self.kid = kid or secrets.token_hex(8)
        self.private: Any = make()
        public = kind.to_jwk(self.private.public_key(), as_dict=True)
        public.pop("key_ops", None)
        self.jwk = {**public, "kid": self.kid, "use": "sig", "alg": algorithm}


@cache
def _first_keys() -> Iterator[Key]:
    """Two keys in turn: RSA keys take long to make, and two providers that meet must differ."""
    return cycle([Key(), Key()])


class IdentityProvider:
    """The provider; a context manager.

    Attributes:
        issuer: its address, without a slash at the end.
        users: what it says about each subject.
        approves: the subject who signs in at once; None shows a page with a button for each.
        redirect_uris: the only ones that it sends browsers back to, or None for any.
        keys: what it publishes.
        signs: the key that it signs with.
        metadata_changes: what its metadata says differently; None takes something away.
        id_token_changes: what its ID tokens say differently, likewise.
        userinfo_changes: what its userinfo endpoint says differently, likewise.
        cache_control: what it says about keeping its keys, or None.
        down: whether it answers everything with 503.
        asked: how often each path was asked for.
    """

    def __init__(
        self, client_id: str = "portal", client_secret: str | None = "the-secret", port: int = 0
    ) -> None:
        self.client_id = client_id
        self.client_secret = client_secret
        self.users: dict[str, dict[str, Any]] = {sub: dict(said) for sub, said in USERS.items()}
        self.approves: str | None = "ana"
        self.redirect_uris: set[str] | None = None
        self.signs = next(_first_keys())
        self.keys = [self.signs]
        self.metadata_changes: dict[str, Any] = {}
        self.id_token_changes: dict[str, Any] = {}
        self.userinfo_changes: dict[str, Any] = {}
        self.in_id_token = True
        self.cache_control: str | None = None
        self.down = False
        self.asked: Counter[str] = Counter()
        self._codes: dict[str, dict[str, str]] = {}
        self._access: dict[str, str] = {}
        self._listener = bound(port)
        self.issuer = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._stack = ExitStack()

    def __enter__(self) -> IdentityProvider:
        self._stack.enter_context(serving(self._app(), self._listener))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rotate(self, algorithm: str = "RS256", *, keep: bool = False) -> Key:
        """Sign with a new key from now on; the old ones are published on if they are kept."""
        self.signs = Key(algorithm)
        self.keys = [*(self.keys if keep else []), self.signs]
        return self.signs

    def mint(
        self,
        claims: Mapping[str, Any] | None = None,
        *,
        subject: str = "ana",
        key: Any = None,
        algorithm: str | None = None,
        header: Mapping[str, Any] | None = None,
        lifetime: float = 600,
    ) -> str:
        """Any token: by default a good one about a user for the audience ``portal``.

        Args:
            claims: what it says differently; None takes a claim away.
            subject: the user whom it is about.
            key: what signs it, if not the provider's key.
            algorithm: how, if not as the key wants; ``none`` signs nothing.
            header: what its header says differently; None takes a member away.
            lifetime: seconds until it ends.
        """
        now = int(time.time())
        said = {"iss": self.issuer, "sub": subject, "aud": self.client_id, "iat": now}
        said |= {"exp": int(now + lifetime), **self.users.get(subject, {})}
        headers = {"kid": self.signs.kid}
        return jwt.encode(
            _changed(said, claims or {}),
            self.signs.private if key is None and algorithm != "none" else key,
            algorithm or self.signs.algorithm,
            _changed(headers, header or {}),
        )

    def logout_token(
        self,
        subject: str | None,
        sid: str | None = None,
        claims: Mapping[str, Any] | None = None,
        **how: Any,
    ) -> str:
        """What it sends when it has signed somebody out (Back-Channel Logout 1.0, section 2.4).

        Args:
            subject: who, if it tells.
            sid: which of its sessions, if it tells.
            claims: what it says differently; None takes a claim away.
            how: as :meth:`mint` takes it.
        """
        event: dict[str, dict[str, Any]] = {
            "http://schemas.openid.net/event/backchannel-logout": {}
        }
        said = {"sub": subject, "sid": sid, "jti": secrets.token_hex(8), "events": event}
        header = {"typ": "logout+jwt", **how.pop("header", {})}
        return self.mint({**said, **(claims or {})}, subject="", header=header, lifetime=120, **how)

    def _app(self) -> Any:
        app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/jwks", self._jwks),
                Route("/cdn-cgi/access/certs", self._jwks),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/userinfo", self._userinfo),
            ]
        )

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            self.asked[scope["path"]] += 1
            if self.down:
                await Response("Down.", 503)(scope, receive, send)
            else:
                await app(scope, receive, send)

        return counted

    async def _metadata(self, _: Request) -> Response:
        said = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return JSONResponse(_changed(said, self.metadata_changes))

    async def _jwks(self, _: Request) -> Response:
        headers = {"cache-control": self.cache_control} if self.cache_control else {}
        return JSONResponse({"keys": [key.jwk for key in self.keys]}, headers=headers)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        if problem := self._refusal(asked):
            return Response(problem, 400)
        subject = asked.pop("as", None) or self.approves
        if subject is None:
            return HTMLResponse(self._page(asked))
        answer = {"state": asked["state"], "iss": self.issuer}
        if subject not in self.users:
            answer["error"] = "access_denied"
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self._codes[answer["code"]] = {**asked, "sub": subject}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    def _refusal(self, asked: Mapping[str, str]) -> str | None:
        redirect_uri = asked.get("redirect_uri", "")
        if self.redirect_uris is not None and redirect_uri not in self.redirect_uris:
            return "The redirect URI is not registered."
        if urlsplit(redirect_uri).scheme not in {"http", "https"}:
            return "There is no redirect URI."
        wanted = {
            "client_id": self.client_id,
            "response_type": "code",
            "code_challenge_method": "S256",
        }
        for name, value in wanted.items():
            if asked.get(name) != value:
                return f"{name} must be {value}."
        missing = {"state", "nonce", "code_challenge"} - asked.keys()
        return f"{', '.join(sorted(missing))} must be given." if missing else None

    def _page(self, asked: Mapping[str, str]) -> str:
        hidden = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        )
        buttons = "".join(
            f'<button name="as" value="{html.escape(sub)}">{html.escape(label)}</button> '
            for sub, label in [*((sub, f"Sign in as {sub}") for sub in self.users), ("-", "Deny")]
        )
        return (
            '<!doctype html><html lang="en"><title>Test identity provider</title>'
            f"<h1>Who are you?</h1><form>{hidden}{buttons}</form></html>"
        )

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        if not self._is_client(request, form):
            return JSONResponse({"error": "invalid_client"}, 401)
        begun = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            begun is None
            or form.get("grant_type") != "authorization_code"
            or begun["redirect_uri"] != form.get("redirect_uri")
            or begun["code_challenge"] != _encode(digest)
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        access = secrets.token_urlsafe(16)
        self._access[access] = begun["sub"]
        claims: dict[str, Any] = {
            "nonce": begun["nonce"],
            "at_hash": _encode(hashlib.sha256(access.encode()).digest()[:16]),
        }
        if not self.in_id_token:
            claims |= dict.fromkeys(self.users[begun["sub"]])
        id_token = self.mint({**claims, **self.id_token_changes}, subject=begun["sub"])
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": 600}
        return JSONResponse({**answer, "id_token": id_token})

    def _is_client(self, request: Request, form: Mapping[str, str]) -> bool:
        given = form.get("client_id"), form.get("client_secret")
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            name, _, secret = base64.b64decode(value).decode().partition(":")
            given = unquote(name), unquote(secret)
        return given == (self.client_id, self.client_secret)

    async def _userinfo(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        subject = self._access.get(token)
        if subject is None:
            return Response(status_code=401)
        return JSONResponse(
            _changed({"sub": subject, **self.users[subject]}, self.userinfo_changes)
        )


def _changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **changes}.items() if value is not None}


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
