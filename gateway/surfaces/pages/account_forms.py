"""What the account page's buttons do. Each ends in a redirection back to a page that says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.stores import LastAccount, Person
from auth.tiers import Tier
from auth.tokens.api_tokens import TooManyTokens
from gateway.catalog.views import FORM_ID
from gateway.contract.suggestions import nearest
from gateway.observability.logs import get_logger
from gateway.surfaces.pages import words
from gateway.surfaces.pages.forms import Fields
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.sent_forms import SentForms, form_key
from gateway.surfaces.pages.visitors import Visitor

log = get_logger(__name__)

_TOKEN_LIFETIMES_DAYS = (7, 30, 90, 365)
_DELETE_WORD = "delete"

Action = Callable[[Request, Visitor, Person, Fields], Awaitable[Response]]
"""Answers a form of someone who is signed in."""


def lifetimes(longest: timedelta) -> list[int]:
    """The lifetimes of API tokens to choose from, in days."""
    most = longest.days
    return [days for days in _TOKEN_LIFETIMES_DAYS if days <= most] or [max(most, 1)]


class AccountForms:
    """The forms below ``/account``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._sent: SentForms[Response] = SentForms(frame.parts.stores.spent)

    def routes(self) -> list[Route]:
        """The routes of the forms."""
        actions: dict[str, Action] = {
            "unlink": self._unlink,
            "tokens": self._create_token_once,
            "tokens/revoke": self._revoke_token,
            "clients/revoke": self._revoke_client,
            "sign-out-everywhere": self._sign_out_everywhere,
            "delete": self._delete,
        }
        return [self._route(f"/account/{path}", action) for path, action in actions.items()]

    def _route(self, path: str, action: Action) -> Route:
        async def answer(request: Request, visitor: Visitor, fields: Fields) -> Response:
            if visitor.person is None:
                return self._frame.go(visitor, "/signin?next=/account")
            return await action(request, visitor, visitor.person, fields)

        return self._frame.form(path, answer)

    def _done(self, visitor: Visitor, message: str, secret: str = "") -> Response:
        return self._frame.go(visitor, "/account", ("done", message), secret)

    def _failed(self, visitor: Visitor, message: str) -> Response:
        return self._frame.go(visitor, "/account", ("error", message))

    # Accounts.

    async def _unlink(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        account = next((a for a in person.accounts if a.subject == fields.one("subject")), None)
        if account is None:
            return self._failed(visitor, "That account is not linked to you.")
        what = f"{words.provider(account)} {words.account(account)}"
        try:
            await self._frame.parts.accounts.unlink(person.id, account.subject)
        except LastAccount:
            message = (
                f"{what} is the only account that you can sign in with. Link another one first."
            )
            return self._failed(visitor, message)
        log.info("account_unlinked", person=person.id, provider=account.provider)
        return self._done(visitor, f"{what} is no longer linked to you.")

    # API tokens.

    async def _create_token_once(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        id = fields.one(FORM_ID)
        key = form_key(visitor.binding, request.scope["path"], fields.values, id)
        work = partial(self._create_token, request, visitor, person, fields)
        return (await self._sent.once(key, work)).value

    async def _create_token(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        parts = self._frame.parts
        offered = {str(days): days for days in lifetimes(parts.sign_in.tokens.api)}
        days = offered.get(fields.one("days"))
        if days is None or fields.one("ceiling") not in {Tier.PUBLIC, Tier.MEMBERS}:
            return self._failed(visitor, "Choose how far the token goes and how long it is good.")
        caller = await self._frame.visitors.caller(visitor)
        usable = {item.name for item in parts.catalog.listed("tool", caller)}
        tools = frozenset(fields.every("tool"))
        if unknown := sorted(tools - usable):
            name = unknown[0][:60]
            message = f"There is no tool {name!r} for you{nearest(name, usable) or '.'}"
            return self._failed(visitor, f"{message} Choose among the tools that you may use.")
        lifetime = min(timedelta(days=days), parts.sign_in.tokens.api)
        return await self._made_token(
            visitor,
            person,
            fields.one("name"),
            Tier(fields.one("ceiling")),
            tools or None,
            lifetime,
        )

    async def _made_token(
        self,
        visitor: Visitor,
        person: Person,
        name: str,
        ceiling: Tier,
        tools: frozenset[str] | None,
        lifetime: timedelta,
    ) -> Response:
        expires = datetime.now(UTC) + lifetime
        try:
            token, text = await self._frame.parts.tokens.create(
                person.id, name, ceiling=ceiling, tools=tools, expires=expires
            )
        except (TooManyTokens, ValueError) as error:
            return self._failed(visitor, str(error))
        log.info("api_token_created", person=person.id, id=token.id)
        message = f"The token “{token.name}” is made. Copy it now: it is shown this once."
        return self._done(visitor, message, text)

    async def _revoke_token(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        if not await self._frame.parts.tokens.revoke(person.id, fields.one("id")):
            return self._failed(visitor, "There is no such token any more.")
        log.info("api_token_revoked", person=person.id, id=fields.one("id")[:40])
        return self._done(visitor, "The token is revoked.")

    # Clients and browsers.

    async def _revoke_client(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        if not await self._frame.parts.accounts.revoke_grant(person.id, fields.one("id")):
            return self._failed(visitor, "That client is not connected to you.")
        log.info("client_revoked", person=person.id)
        return self._done(visitor, "The client is disconnected.")

    async def _sign_out_everywhere(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        tokens = fields.one("tokens") == "1"
        await self._frame.parts.accounts.sign_out_everywhere(person.id, api_tokens=tokens)
        log.info("signed_out_everywhere", person=person.id, from_programs_too=tokens)
        also = " Your API tokens are revoked too." if tokens else ""
        return self._ended(visitor, f"You are signed out of every browser and client.{also}")

    async def _delete(
        self, request: Request, visitor: Visitor, person: Person, fields: Fields
    ) -> Response:
        if fields.one("word").strip().lower() != _DELETE_WORD:
            message = f"Nothing was deleted: type the word {_DELETE_WORD} to delete your account."
            return self._failed(visitor, message)
        await self._frame.parts.accounts.delete(person.id)
        self._frame.parts.deleted()
        log.info("account_deleted", person=person.id)
        return self._ended(
            visitor,
            "Your account and all that belonged to it is deleted. What you wrote here is being "
            "erased; what others use of it stays, without your name.",
        )

    def _ended(self, visitor: Visitor, message: str) -> Response:
        response = self._frame.go(visitor, "/", ("done", message))
        self._frame.cookies.drop(response, self._frame.cookies.session)
        return response
