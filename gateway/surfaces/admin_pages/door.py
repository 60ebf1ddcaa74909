"""The door before every page for admins, and the frame around them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from auth import Caller
from gateway.surfaces.http.request_context import context_of, wants_page
from gateway.surfaces.pages.forms import Fields
from gateway.surfaces.pages.frame import Frame, Page
from gateway.surfaces.pages.visitors import Visitor

FormPage = Callable[[Request, Visitor, Fields], Awaitable[Response]]
MAX_TEXT_CHARACTERS = 300
"""Characters of what an address asks for."""


@dataclass(frozen=True, slots=True)
class Section:
    """One of the pages that lead to all others.

    Attributes:
        path: where it is.
        title: what it is called.
        about: what it answers, in one line.
    """

    path: str
    title: str
    about: str


SECTIONS = (
    Section("/admin", "Overview", "What needs your hand now."),
    Section("/admin/access", "Access", "Who may use what, and which line of tiers.yaml decides."),
    Section("/admin/tiers", "Rules", "What another tiers.yaml would change, before it is saved."),
    Section("/admin/explain", "Explain", "Why somebody may use something, or may not."),
    Section("/admin/people", "People", "Who has signed in, with which accounts and which tier."),
    Section("/admin/health", "Health", "How plugins, services, sources and jobs are just now."),
    Section("/admin/usage", "Usage", "Calls, errors, latency and tokens over time."),
    Section("/admin/models", "Models", "What language models cost, whom, and from which budget."),
    Section("/admin/audit", "Audit", "Who called what, and how it ended."),
)
"""The pages for admins, in the order of their links."""


class ForBrowsers(Route):
    """Matches for browsers alone: programs get JSON at the same path."""

    def __init__(self, route: Route) -> None:
        super().__init__(route.path, route.endpoint, methods=["GET"])

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a browser asks for the path."""
        found = super().matches(scope)
        return found if found[0] is Match.NONE or wants_page(Request(scope)) else (Match.NONE, {})


class Door:
    """Lets admins in, and nobody else.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._is_compiled = False

    def page(self, path: str, answer: Page) -> Route:
        """A page at a path, for admins."""

        async def guarded(request: Request, visitor: Visitor) -> Response:
            refusal = await self._refusal(request, visitor)
            return refusal or await answer(request, visitor)

        return self.frame.page(path, guarded)

    def form(self, path: str, answer: FormPage, most_bytes: int) -> Route:
        """What takes a form at a path, from admins."""

        async def guarded(request: Request, visitor: Visitor, fields: Fields) -> Response:
            refusal = await self._refusal(request, visitor)
            return refusal or await answer(request, visitor, fields)

        return self.frame.form(path, guarded, most_bytes)

    def render(
        self, request: Request, visitor: Visitor, template: str, *, status: int = 200, **values: Any
    ) -> Response:
        """A page for admins, with the links to the others.

        Args:
            request: what it answers.
            visitor: who looks at it.
            template: the file in ``templates/admin/``.
            status: the HTTP status.
            values: what the template shows.
        """
        return self.frame.render(
            request, visitor, f"admin/{template}", status=status, sections=SECTIONS, **values
        )

    async def _refusal(self, request: Request, visitor: Visitor) -> Response | None:
        """The answer to whoever is no admin; None for one who is."""
        caller = await self._caller(request, visitor)
        if caller.admin:
            if not self._is_compiled:
                await asyncio.to_thread(self.frame.compile, "admin/")
                self._is_compiled = True
            return None
        if caller.anonymous:
            query = f"?{request.url.query}" if request.url.query else ""
            asked = quote(request.url.path + query, safe="/")
            return self.frame.go(visitor, f"/signin?next={asked}")
        return self.frame.error(
            request,
            visitor,
            403,
            "For admins",
            f"These pages are for members whom the rule admins in tiers.yaml names. You are here "
            f"as {caller.name or caller.person}, at the tier {caller.tier}, and it does not name "
            "you. An API token carries no admin's rights.",
        )

    async def _caller(self, request: Request, visitor: Visitor) -> Caller:
        # A browser has a session; where a proxy signs people in, each request has a credential.
        if visitor.person is not None:
            return await self.frame.visitors.caller(visitor)
        return context_of(request.scope).caller


def asked(request: Request, name: str) -> str:
    """What an address asks for by a name: one line that every database takes."""
    text = request.query_params.get(name, "")[:MAX_TEXT_CHARACTERS]
    return "".join(each for each in text if each.isprintable()).strip()


def number(request: Request, name: str) -> int:
    """A whole number from 1 that an address asks for; 1 where it is none."""
    text = asked(request, name)
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 7 else 1


def query(request: Request, **changed: object) -> str:
    """The query of an address with some parts changed; what is empty is left out."""
    values = {**request.query_params, **{name: str(value) for name, value in changed.items()}}
    return "?" + urlencode({name: value for name, value in values.items() if value})
