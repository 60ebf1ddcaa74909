"""The operator's own credential at GitHub: a token, or a GitHub App's, kept in memory only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from pydantic_core import from_json

from gateway.repositories.api import Api, Asking
from gateway.repositories.errors import Place, SourceFailed
from gateway.repositories.tokens import is_plain

RENEWAL_LEAD_SECONDS = 300.0
"""Seconds before its end at which an App's token is renewed."""

_ASSERTION_SECONDS = 540
_CLOCK_SKEW_SECONDS = 60
_MAX_ANSWER_BYTES = 64 * 1024


class Operator(Protocol):
    """Where the operator's credential comes from."""

    async def token(self) -> str:
        """A token that can be used now.

        Raises:
            SourceFailed: GitHub gives none.
        """
        ...

    def refused(self) -> None:
        """Hear that GitHub did not take the token."""
        ...


class FixedToken:
    """A token that the operator made.

    Args:
        token: the token.

    Raises:
        ValueError: it cannot be one.
    """

    def __init__(self, token: str) -> None:
        self._token = token.strip()
        if not is_plain(self._token):
            raise ValueError("github.token names something that is no GitHub token")

    async def token(self) -> str:
        """The token."""
        return self._token

    def refused(self) -> None:
        """There is no other one."""


class AppTokens:
    """The tokens of a GitHub App's installation, each for an hour.

    Args:
        api: GitHub.
        app: the App's id, or its client id.
        installation: the id of its installation.
        private_key: its private key, as PEM.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        api: Api,
        app: str,
        installation: int,
        private_key: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api = api
        self._app = app
        self._installation = installation
        self._private_key = private_key
        self._clock = clock
        self._token = ""
        self._until = 0.0
        self._renewing = asyncio.Lock()

    async def token(self) -> str:
        """A token that lasts a few minutes more; those who ask at once wait for the same one.

        Raises:
            SourceFailed: GitHub gives none, or the private key is none.
        """
        if self._clock() < self._until - RENEWAL_LEAD_SECONDS:
            return self._token
        async with self._renewing:
            if self._clock() >= self._until - RENEWAL_LEAD_SECONDS:
                await self._renew()
        return self._token

    def refused(self) -> None:
        """Forget the token: GitHub took it back before its end."""
        self._until = 0.0

    async def _renew(self) -> None:
        assertion = await asyncio.to_thread(self._assertion)
        path = f"/app/installations/{self._installation}/access_tokens"
        asking = Asking(Place(), assertion, "operator")
        answer = await self._api.post(path, asking, _MAX_ANSWER_BYTES)
        try:
            given = from_json(answer.body)
            until = datetime.fromisoformat(given["expires_at"]).timestamp()
            token = given["token"]
            if not is_plain(token):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            message = "GitHub answers with something else than a token for the portal's App."
            raise SourceFailed(
                "UPSTREAM_ERROR", message, status=answer.status, transient=True
            ) from None
        self._token, self._until = token, until

    def _assertion(self) -> str:
        """Prove to be the App (RFC 7519), for a few minutes; its clock may be a minute ahead."""
        import jwt

        now = int(self._clock())
        claims = {
            "iat": now - _CLOCK_SKEW_SECONDS,
            "exp": now + _ASSERTION_SECONDS,
            "iss": self._app,
        }
        try:
            return jwt.encode(claims, self._private_key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            message = (
                "The private key of the portal's GitHub App is none. The portal's admin must look "
                "at github.app.private_key, which names a PEM file's text."
            )
            raise SourceFailed("UPSTREAM_ERROR", message) from None
