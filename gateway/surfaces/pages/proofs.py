"""What becomes of a proved account: the person signs in with it, or it is added to theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from auth.callers import Account
from auth.stores import AccountTaken, Person
from gateway.observability.logs import get_logger
from gateway.surfaces.pages import words
from gateway.surfaces.pages.forms import own_page
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Purpose:
    """Why someone proves an account.

    Attributes:
        next: the page to go to then, one of ours.
        link: whether it is to be added to the accounts of the person who is signed in.
    """

    next: str
    link: bool = False

    @property
    def query(self) -> str:
        """The purpose as a part of an address."""
        return urlencode({"next": self.next} | ({"link": "1"} if self.link else {}))


def _of_unknown(person: Person, address: str) -> bool:
    """Whether someone has a wallet's address from before it was kept who signed for it."""
    wallets = (each for each in person.accounts if each.provider == "wallet")
    return any(each.address == address and each.signer is None for each in wallets)


class Proofs:
    """Acts on proved accounts, and on proofs that failed.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def purpose(self, next_page: str, link: str) -> Purpose:
        """The purpose as an address or a form asks for it.

        Args:
            next_page: the page to go to then; the account's, unless it is one of ours.
            link: "1" to add an account.
        """
        return Purpose(own_page(next_page, views=self._frame.parts.catalog.views), link == "1")

    async def proved(
        self, request: Request, visitor: Visitor, account: Account, purpose: Purpose
    ) -> Response:
        """Sign the person of an account in, or add it to the accounts of the visitor."""
        if purpose.link:
            return await self._linked(visitor, account)
        parts = self._frame.parts
        person = await parts.accounts.sign_in(account)
        # A new session at every sign-in: one that somebody else knew before is worth nothing
        # (session fixation).
        if visitor.cookie:
            await parts.sessions.end(visitor.cookie)
        agent = request.headers.get("user-agent", "")
        cookie = await parts.sessions.begin(person.id, agent, account)
        log.info("signed_in", person=person.id, provider=account.provider)
        parts.tried(account.provider, "signed_in")
        response = self._frame.go(visitor, purpose.next, await self._another(person, account))
        lifetime = parts.sign_in.tokens.session.total_seconds()
        self._frame.cookies.put(response, self._frame.cookies.session, cookie, lifetime)
        return response

    async def _another(
        self, person: Person, account: Account
    ) -> tuple[Literal["error"], str] | None:
        """What to say to a contract wallet whose address is another person's, as of old."""
        if account.signer != "contract":
            return None
        found = await self._frame.parts.stores.people.by_subject(f"wallet:{account.address}")
        if found is None or found.id == person.id or not _of_unknown(found, account.address):
            return None
        return (
            "error",
            f"{words.short(account.address)} was another person's here before contract wallets "
            f"had a chain, and on chain {account.chain} it is you. If you were that person too, "
            "sign in as them in another way and link the wallet there, or ask an admin.",
        )

    async def _linked(self, visitor: Visitor, account: Account) -> Response:
        if visitor.person is None:
            message = "You were signed out meanwhile. Sign in, and link the account again."
            return self._frame.go(visitor, "/signin?next=/account", ("error", message))
        what = f"{words.provider(account)} {words.account(account)}"
        try:
            await self._frame.parts.accounts.link(visitor.person.id, account)
        except AccountTaken:
            log.info("link_refused", person=visitor.person.id, provider=account.provider)
            self._frame.parts.tried(account.provider, "refused")
            message = (
                f"{what} already signs in as another person here. To have it here, sign in with "
                "it first and delete that person's account, or unlink it there. Then link it."
            )
            return self._frame.go(visitor, "/account", ("error", message))
        log.info("account_linked", person=visitor.person.id, provider=account.provider)
        self._frame.parts.tried(account.provider, "linked")
        return self._frame.go(visitor, "/account", ("done", f"{what} is linked."))

    def failed(self, visitor: Visitor, purpose: Purpose, provider: str, reason: str) -> Response:
        """Back to the sign-in, with what went wrong in plain words."""
        log.info("sign_in_failed", provider=provider, reason=reason)
        self._frame.parts.tried(provider, "refused")
        return self._frame.go(visitor, f"/signin?{purpose.query}", ("error", reason))
