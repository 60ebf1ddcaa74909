"""Consent: what a client asks a person for, and what their answer leads to.

Between ``/authorize`` and the person's answer nothing is stored: the checked request is part of the
consent page's URL, as a sealed text. So requests that nobody answers cost the portal nothing, and
changed ones are refused.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

from auth.portal_addresses import LOOPBACK
from auth.sealer import BadSeal, Sealer
from auth.stores import Code, Grant, GrantStore, Session, digest

CONSENT_TIMEOUT_S = 600.0
"""Seconds that a person has for signing in and answering."""
CODE_LIFETIME_S = 60.0
"""Seconds in which a client must turn its authorization code into tokens."""


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """A checked authorization request, as the consent page shows it.

    Attributes:
        client_id: the OAuth client.
        client_name: what the client calls itself; nobody has verified it.
        client_uri: the client's own page, where its metadata vouches for it, or None.
        redirect_uri: where the answer goes, exactly as the client wrote it.
        explicit: whether the request named the redirect URI.
        resource: the audience of the tokens, a URL.
        scope: the tiers asked for, the lowest first.
        challenge: the S256 code challenge (RFC 7636).
        state: the client's own value, returned to it unchanged, or None.
        base: the portal's address as the client sees it, which is its issuer.
    """

    client_id: str
    client_name: str
    client_uri: str | None
    redirect_uri: str
    explicit: bool
    resource: str
    scope: tuple[str, ...]
    challenge: str
    state: str | None
    base: str

    @property
    def redirect_host(self) -> str:
        """Who gets the answer: a host, with its port where one is named, or a private scheme.

        The page must show it (RFC 8252, section 8.6). A redirect URI is plain ASCII, so a host in
        another script is in its ASCII form here and cannot imitate another one.
        """
        url = urlsplit(self.redirect_uri)
        if url.scheme not in {"http", "https"}:
            return url.scheme
        return url.netloc.lower()

    @property
    def is_loopback(self) -> bool:
        """Whether the answer goes to a program on the person's own machine."""
        url = urlsplit(self.redirect_uri)
        return url.scheme == "http" and url.hostname in LOOPBACK

    @property
    def metadata_host(self) -> str | None:
        """The host of the client's metadata document; None for a client that registered."""
        url = urlsplit(self.client_id)
        return url.netloc if url.scheme == "https" else None


class Consents:
    """Seals authorization requests, and carries out people's answers.

    Args:
        sealer: for the purpose ``consent``.
        grants: stores what was consented to.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self, sealer: Sealer, grants: GrantStore, clock: Callable[[], float] = time.time
    ) -> None:
        self._sealer = sealer
        self._grants = grants
        self._clock = clock

    def seal(self, request: ConsentRequest) -> str:
        """The request as a text for the consent page's address."""
        return self._sealer.seal(asdict(request), CONSENT_TIMEOUT_S)

    def open(self, text: str) -> ConsentRequest:
        """The request of a sealed text.

        Raises:
            BadSeal: it was not made here, was changed, or has waited too long.
        """
        values = self._sealer.open(text)
        try:
            return ConsentRequest(**{**values, "scope": tuple(values["scope"])})
        except (KeyError, TypeError):  # sealed by another version of the portal
            raise BadSeal("It cannot be read.") from None

    async def approve(
        self, request: ConsentRequest, person: str, session: Session | None = None
    ) -> str:
        """Store a person's consent.

        The caller has made sure that the person answered the page itself (no forged form).

        Args:
            request: what they consent to.
            person: who.
            session: their browser session; if a provider's session is behind it, the grant ends
                with that one.

        Returns:
            Where to send the browser: the redirect URI with the authorization code.

        Raises:
            NoSuchPerson: there is no such person any more.
        """
        now = datetime.fromtimestamp(self._clock(), UTC)
        grant = Grant(
            id=secrets.token_hex(10),
            person=person,
            client_id=request.client_id,
            client_name=request.client_name,
            resource=request.resource,
            scope=request.scope,
            created=now,
            account=session.account if session else None,
            sid=session.sid if session else None,
        )
        code = Code(
            grant=grant.id,
            redirect_uri=request.redirect_uri,
            explicit=request.explicit,
            challenge=request.challenge,
            expires=now + timedelta(seconds=CODE_LIFETIME_S),
        )
        text = secrets.token_urlsafe(32)
        await self._grants.add(grant, code, digest(text))
        return self._answer(request, {"code": text})

    def deny(self, request: ConsentRequest) -> str:
        """Where to send the browser of a person who said no (RFC 6749, section 4.1.2.1)."""
        said = {"error": "access_denied", "error_description": "The person declined."}
        return self._answer(request, said)

    def _answer(self, request: ConsentRequest, values: Mapping[str, str]) -> str:
        state = {} if request.state is None else {"state": request.state}
        return with_parameters(request.redirect_uri, {**values, **state, "iss": request.base})


def with_parameters(uri: str, values: Mapping[str, str]) -> str:
    """A redirect URI with parameters added to its query and nothing else changed."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(values)}"
