"""Who looks at a page: a browser, and the person who is signed in there, if any."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from starlette.requests import Request

from auth.callers import ANONYMOUS, Caller, Identity
from auth.stores import Person, Session
from gateway.surfaces.pages.cookies import Cookies
from gateway.surfaces.pages.parts import PageParts

_MAX_COOKIE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser at one of the pages.

    Attributes:
        base: the portal's address as the browser sees it.
        browser: the random value that tells browsers apart before anyone signs in.
        is_new: whether the browser has yet to be given that value.
        cookie: the value of the session's cookie, where it is good.
        session: the session behind it, or None.
        person: who is signed in, or None.
        recognised: whether it was looked up who is signed in.
        waiting: how much waits for their word.
    """

    base: str
    browser: str
    is_new: bool = False
    cookie: str | None = None
    session: Session | None = None
    person: Person | None = None
    recognised: bool = True
    waiting: int = 0

    @property
    def root(self) -> str:
        """The path below which the pages are; empty where they are at the top."""
        return urlsplit(self.base).path

    @property
    def binding(self) -> str:
        """What forms are bound to: the session, or else the browser."""
        return f"session:{self.cookie}" if self.cookie else f"browser:{self.browser}"

    @property
    def identity(self) -> Identity | None:
        """What the session proves."""
        if self.person is None:
            return None
        return Identity(
            person=self.person.id,
            provider="session",
            name=self.person.name,
            accounts=self.person.accounts,
            tags=frozenset({self.person.id}),
        )


class Visitors:
    """Recognises browsers.

    Args:
        parts: what the pages are made of.
        cookies: how the cookies are called.
    """

    def __init__(self, parts: PageParts, cookies: Cookies) -> None:
        self._parts = parts
        self._cookies = cookies

    async def of(self, request: Request) -> Visitor:
        """The visitor who sends a request."""
        base = self._parts.site.base(request.headers.get("host", ""))
        browser = request.cookies.get(self._cookies.browser, "")
        known = 20 <= len(browser) <= _MAX_COOKIE_CHARACTERS
        if not known:
            browser = secrets.token_urlsafe(32)
        cookie = request.cookies.get(self._cookies.session, "")
        if 0 < len(cookie) <= _MAX_COOKIE_CHARACTERS and (
            session := await self._parts.sessions.find(cookie)
        ):
            person = await self._parts.stores.people.get(session.person)
            if person is not None:
                return Visitor(base, browser, not known, cookie, session, person)
        return Visitor(base, browser, not known)

    async def told(self, visitor: Visitor) -> Visitor:
        """The visitor, with how much waits for their word."""
        if visitor.identity is None:
            return visitor
        caller = await self.caller(visitor)
        return replace(visitor, waiting=await self._parts.waiting(visitor.identity, caller))

    async def caller(self, visitor: Visitor) -> Caller:
        """The visitor as every check sees them."""
        identity = visitor.identity
        # Not resolved and so not remembered: each page has an identity of its own, and would
        # push out one that a client goes on calling with.
        return (await self._parts.resolver.explain(identity)).caller if identity else ANONYMOUS
