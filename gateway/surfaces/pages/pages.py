"""All pages as routes, and the page that says what went wrong."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.surfaces.pages.account import AccountPage
from gateway.surfaces.pages.consent import ConsentPage
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.home import Home
from gateway.surfaces.pages.parts import PageParts
from gateway.surfaces.pages.search import SearchPage
from gateway.surfaces.pages.signin import SignInPages
from gateway.surfaces.pages.visitors import Visitor


class Pages:
    """The pages of a portal.

    Args:
        parts: what they are made of.

    Attributes:
        frame: what all pages share.
    """

    def __init__(self, parts: PageParts) -> None:
        self.frame = Frame(parts)

    def routes(self) -> list[Route]:
        """The routes of all pages."""
        frame = self.frame
        pages = (
            Home(frame),
            SearchPage(frame),
            SignInPages(frame),
            AccountPage(frame),
            ConsentPage(frame),
        )
        return [*frame.assets.routes(), *(route for page in pages for route in page.routes())]

    def error_page(self, request: Request, status: int, title: str, text: str) -> Response:
        """A page that says what went wrong, also for what is no page itself.

        It looks nobody up, so that it can be shown whatever is broken.

        Args:
            request: what it answers.
            status: the HTTP status.
            title: what happened, in a few words.
            text: why, and what to do.
        """
        base = self.frame.parts.site.base(request.headers.get("host", ""))
        visitor = Visitor(base, browser="", recognised=False)
        return self.frame.error(request, visitor, status, title, text)
