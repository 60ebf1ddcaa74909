"""Consent: what a client asks a person for, and what comes of their answer.

Between ``/authorize`` and the person's answer nothing is stored: the checked request travels as a
sealed text through the consent page's address, so that requests which nobody answers cost the
portal nothing, and one that was changed on its way is not opened.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

from auth.sealing import BadSeal, Sealer
from auth.site import LOOPBACK
from auth.stores import Code, Grant, GrantStore, Session, digest

ANSWERED_WITHIN = 600.0
"""Seconds that a person has for signing in and answering."""
CODE_LIFETIME = 60.0
"""Seconds in which a client must turn its authorization code into tokens."""


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """A checked authorization request, as the consent page shows it.

    Attributes:
        client_id: the OAuth client.
        client_name: what the client calls itself; nobody has verified it.
        client_uri: the client's own page, where its metadata vouches for it, or None.
        redirect_uri: where the answer goes, exactly as the client wrote it.
        explicit: whether the client named the redirect URI in this request.
        resource: the audience of the tokens, a URL.
        scope: the tiers asked for, the lowest first.
        challenge: the S256 code challenge (RFC 7636).
        state: the client's own value, given back to it unchanged, or None.
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

        It is what the page must show (RFC 8252, section 8.6). A redirect URI is plain ASCII, so a
        name in another script is here in its ASCII form and cannot pass for another name.
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
        """The host that vouches for the client's metadata; None for one that wrote its own."""
        url = urlsplit(self.client_id)
        return url.netloc if url.scheme == "https" else None


class Consents:
    """Seals authorization requests, and acts on what people answer.

    Args:
        sealer: for the purpose ``consent``.
        grants: keeps what was consented to.
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
        return self._sealer.seal(asdict(request), ANSWERED_WITHIN)

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
        """Keep a person's consent.

        The caller has made sure that the person answered the page itself (no forged form).

        Args:
            request: what they consent to.
            person: who.
            session: in which browser session; the grant ends with the provider's behind it.

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
            expires=now + timedelta(seconds=CODE_LIFETIME),
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
    """A redirect URI with parameters added to its query, and nothing else about it changed."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(values)}"
