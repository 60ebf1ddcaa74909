"""Consent: a client asks to act for the person, who sees which one, and where the answer goes."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.oauth.consent import ConsentRequest
from auth.sealer import BadSeal
from gateway.observability.logs import get_logger
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor

log = get_logger(__name__)


class ConsentPage:
    """``/consent``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def routes(self) -> list[Route]:
        """The routes of the page and of its form."""
        return [
            self._frame.page("/consent", self._show),
            self._frame.form("/consent", self._answered),
        ]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        sealed = request.query_params.get("request", "")
        asked = self._opened(sealed)
        if visitor.person is None:
            following = quote(f"/consent?request={quote(sealed, safe='')}", safe="")
            return self._frame.go(visitor, f"/signin?next={following}")
        return self._frame.render(
            request,
            visitor,
            "consent.html",
            form_targets=_form_targets(asked),
            asked=asked,
            sealed=sealed,
            caller=await self._frame.visitors.caller(visitor),
        )

    async def _answered(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        asked = self._opened(fields.one("request"))
        if visitor.person is None:
            # The form's mark is of this visitor, who was never shown it: there is no session.
            raise Refused(403, "You are not signed in", "Sign in, and begin again in your client.")
        consents = self._frame.parts.consents
        if fields.one("answer") != "allow":
            return self._frame.leave(consents.deny(asked))
        target = await consents.approve(asked, visitor.person.id, visitor.session)
        log.info("consented", person=visitor.person.id, client=asked.client_id[:200])
        return self._frame.leave(target)

    def _opened(self, sealed: str) -> ConsentRequest:
        try:
            return self._frame.parts.consents.open(sealed)
        except BadSeal:
            raise Refused(
                400,
                "This request cannot be used",
                "It is too old, or was changed on its way. Begin again in your client.",
            ) from None


def _form_targets(asked: ConsentRequest) -> list[str]:
    """Where the answer may lead.

    Chromium holds every redirection that follows a form against ``form-action``, also those of
    the client's own site; so all of https is let through, and what the client named.
    """
    url = urlsplit(asked.redirect_uri)
    if url.scheme == "https":
        return ["https:"]
    if asked.is_loopback and url.hostname != "::1":
        return ["https:", f"http://{url.hostname}:*"]
    # A policy has no way to write an IPv6 address; elsewhere http is not taken by registration.
    return ["https:", f"{url.scheme}:"]
