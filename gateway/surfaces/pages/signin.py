"""Signing in: the page, GitHub and OpenID Connect by redirection, and signing out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.credentials import BadCredential
from auth.sealer import BadSeal, Sealer
from auth.sign_in.oidc import OidcSignIn
from auth.sign_in.redirects import RedirectSignIn
from gateway.observability.logs import get_logger
from gateway.surfaces.pages.forms import Fields, Refused, own_page
from gateway.surfaces.pages.frame import Frame, origin_of
from gateway.surfaces.pages.logout import BackChannelLogout
from gateway.surfaces.pages.proofs import Proofs, Purpose
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.pages.wallet import WalletPages

log = get_logger(__name__)

_SIGN_IN_TIMEOUT_SECONDS = 600
"""Seconds that someone has for signing in at the other site."""


class SignInPages:
    """``/signin`` and what is below it, and ``/signout``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._proofs = Proofs(frame)
        self._sealer = Sealer(frame.parts.key, "begun")

    def routes(self) -> list[Route]:
        """The routes of the pages."""
        frame = self._frame
        made = [
            frame.page("/signin", self._show),
            frame.form("/signout", self._sign_out),
            *WalletPages(frame, self._proofs).routes(),
        ]
        for path, provider in frame.parts.redirects.items():
            steps = _Redirect(frame, self._proofs, self._sealer, path, provider)
            made += steps.routes()
            if isinstance(provider, OidcSignIn):
                made.append(BackChannelLogout(frame, path, provider).route())
        return made

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        asked = request.query_params
        purpose = self._proofs.purpose(asked.get("next", ""), asked.get("link", ""))
        if purpose.link and visitor.person is None:
            return self._frame.go(visitor, "/signin?next=/account")
        again = request.query_params.get("again") == "1"
        if visitor.person is not None and not purpose.link and not again:
            return self._frame.leave(visitor.root + purpose.next)
        parts = self._frame.parts
        return self._frame.render(
            request,
            visitor,
            "signin.html",
            form_targets=self._form_targets(),
            purpose=purpose,
            wallet=parts.wallet is not None,
            chains=parts.sign_in.wallet.chains,
            providers=parts.redirects,
        )

    def _form_targets(self) -> list[str]:
        """Where the buttons lead; a provider may send people on to others, by https."""
        config = self._frame.parts.sign_in
        ours = [config.github.url] if config.github else []
        addresses = [*ours, *(each.issuer for each in config.oidc)]
        return ["https:"] + [origin_of(each) for each in addresses if each.startswith("http:")]

    async def _sign_out(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        if visitor.cookie:
            await self._frame.parts.sessions.end(visitor.cookie)
        following = own_page(fields.one("next"), "/", self._frame.parts.catalog.views)
        response = self._frame.go(visitor, following, ("done", "You are signed out."))
        self._frame.cookies.drop(response, self._frame.cookies.session)
        return response


class _Redirect:
    """Signing in by way of one other site: the form that begins it, and the way back."""

    def __init__(
        self, frame: Frame, proofs: Proofs, sealer: Sealer, path: str, provider: RedirectSignIn
    ) -> None:
        self._frame = frame
        self._proofs = proofs
        self._sealer = sealer
        self._path = f"/signin/{path}"
        self._way = path.partition("/")[0]
        self._provider = provider

    def routes(self) -> list[Route]:
        return [
            self._frame.form(self._path, self._begin),
            self._frame.page(f"{self._path}/callback", self._finish),
        ]

    async def _begin(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        self._frame.count_attempt(request)
        purpose = self._proofs.purpose(fields.one("next"), fields.one("link"))
        try:
            begun = await self._provider.begin(self._callback(visitor))
        except BadCredential as bad:
            return self._proofs.failed(visitor, purpose, self._way, bad.reason)
        response = self._frame.leave(_checked(begun.url))
        self._remember(response, request, visitor, purpose, begun.remembered)
        if visitor.is_new:
            self._frame.cookies.put(response, self._frame.cookies.browser, visitor.browser)
        return response

    async def _finish(self, request: Request, visitor: Visitor) -> Response:
        self._frame.count_attempt(request)
        try:
            purpose, remembered = self._remembered(request, visitor)
        except BadSeal:
            reason = "This sign-in was not begun in this browser, or too long ago. Sign in again."
            return self._proofs.failed(visitor, Purpose("/account"), self._way, reason)
        try:
            query = dict(request.query_params)
            account = await self._provider.finish(self._callback(visitor), query, remembered)
        except BadCredential as bad:
            response = self._proofs.failed(visitor, purpose, self._way, bad.reason)
        else:
            response = await self._proofs.proved(request, visitor, account, purpose)
        self._frame.cookies.drop_long(response, request.cookies, self._frame.cookies.begun)
        return response

    def _callback(self, visitor: Visitor) -> str:
        return f"{visitor.base}{self._path}/callback"

    # What was begun stays with the browser, so that only it can finish.

    def _remember(
        self,
        response: Response,
        request: Request,
        visitor: Visitor,
        purpose: Purpose,
        remembered: Mapping[str, Any],
    ) -> None:
        cookies = self._frame.cookies
        cookies.drop_long(response, request.cookies, cookies.begun)
        person = visitor.person.id if purpose.link and visitor.person else ""
        begun = {"path": self._path, "link": person, "kept": dict(remembered)}
        for following in (purpose.next, "/account"):
            sealed = self._sealer.seal(
                {**begun, "next": following}, _SIGN_IN_TIMEOUT_SECONDS, visitor.browser
            )
            if cookies.put_long(response, cookies.begun, sealed, _SIGN_IN_TIMEOUT_SECONDS):
                return

    def _remembered(self, request: Request, visitor: Visitor) -> tuple[Purpose, dict[str, Any]]:
        sealed = self._frame.cookies.read_long(request.cookies, self._frame.cookies.begun)
        begun = self._sealer.open(sealed, visitor.browser)
        if begun["path"] != self._path:
            raise BadSeal("It was begun with another provider.")
        person = visitor.person.id if visitor.person else ""
        if begun["link"] and begun["link"] != person:
            raise BadSeal("It was begun by another person.")
        return Purpose(begun["next"], bool(begun["link"])), begun["kept"]


def _checked(url: str) -> str:
    """A provider's address, which its own metadata may have named: a web page and nothing else."""
    if urlsplit(url).scheme not in {"http", "https"}:
        raise Refused(502, "Sign-in is not possible", "The provider named no web page to go to.")
    return url
