"""What all pages share: the frame around their content, their headers, and how forms end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from auth.stores import NoSuchPerson
from gateway.observability.logs import request_id as current_request_id
from gateway.surfaces import views
from gateway.surfaces.http.body import ClientLeft
from gateway.surfaces.http.client_address import client_address
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.pages import words
from gateway.surfaces.pages.assets import Assets
from gateway.surfaces.pages.cookies import Cookies
from gateway.surfaces.pages.forms import MAX_FORM_BYTES, Fields, Forms, Refused
from gateway.surfaces.pages.notices import Notice, Notices
from gateway.surfaces.pages.parts import PageParts
from gateway.surfaces.pages.tool_calls import ToolCalls
from gateway.surfaces.pages.visitors import Visitor, Visitors

if TYPE_CHECKING:
    from jinja2 import Environment

Page = Callable[[Request, Visitor], Awaitable[Response]]
"""Answers a GET request."""
FormPage = Callable[[Request, Visitor, Fields], Awaitable[Response]]
"""Answers a form that was sent from one of our pages."""

_TEMPLATES = Path(__file__).parent / "templates"
_SHARED = Path(views.__file__).parent / "templates"
"""Parts that pages share with Apps."""
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: with it browsers send `Origin: null` with our own forms (Fetch, 3.2).
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""What every answer carries: it is for one person, and for no other site."""


def policy(form_targets: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of a page: our own files and nothing else, in no frame.

    Args:
        form_targets: where else a form may lead; Chromium also counts the redirections after it.
    """
    targets = " ".join(("'self'", *form_targets))
    return (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action {targets}"
    )


@cache
def environment() -> Environment:
    """The templates, which escape everything and know every name that they use.

    One for all portals of a process: a template is compiled once, which takes longer than to render
    a page.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([_TEMPLATES, _SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=words.harmless,
    )
    made.filters.update(words.FILTERS)
    return made


class Frame:
    """Renders pages, and wraps what answers requests.

    Args:
        parts: what the pages are made of.
    """

    def __init__(self, parts: PageParts) -> None:
        self.parts = parts
        self.cookies = Cookies(parts.site)
        self.visitors = Visitors(parts, self.cookies)
        self.forms = Forms(parts.key)
        self.calls = ToolCalls(parts, self.visitors)
        self.notices = Notices(parts.key, self.cookies)
        self.assets = Assets()

    def compile(self, folder: str) -> None:
        """Compile the templates of a folder ahead of use: it takes a while, so in a thread."""
        for name in environment().list_templates(filter_func=lambda n: n.startswith(folder)):
            environment().get_template(name)

    # Answers.

    def render(
        self,
        request: Request,
        visitor: Visitor,
        template: str,
        *,
        status: int = 200,
        form_targets: Sequence[str] = (),
        **values: Any,
    ) -> Response:
        """A page.

        Args:
            request: what it answers.
            visitor: who looks at it.
            template: the file in ``templates/``.
            status: the HTTP status.
            form_targets: where else its forms may lead, for the content security policy.
            values: what the template shows.
        """
        page = environment().get_template(template)
        html = page.render(
            portal=self.parts.name,
            visitor=visitor,
            root=visitor.root,
            here=request.url.path,
            chats=self.parts.chats,
            asset=lambda name: visitor.root + self.assets.path(name),
            mark=lambda action, about="": self.forms.mark(visitor, action, about),
            notice=self.notices.waiting(request.cookies),
            **values,
        )
        headers = {**HEADERS, "content-security-policy": policy(form_targets)}
        response = HTMLResponse(html, status, headers)
        self.notices.take_away(response, request.cookies)
        if visitor.is_new:
            self.cookies.put(response, self.cookies.browser, visitor.browser)
        return response

    def go(
        self,
        visitor: Visitor,
        path: str,
        notice: tuple[Literal["done", "error"], str] | None = None,
        secret: str = "",
    ) -> Response:
        """Send the browser to one of our pages, which says how it went.

        Args:
            visitor: who is sent.
            path: the page, below the portal's own path.
            notice: what the page says once: whether it went well, and the text.
            secret: a text that it shows this once.
        """
        response = self.leave(visitor.root + path)
        if notice:
            self.notices.leave(response, Notice(notice[0], notice[1], secret))
        if visitor.is_new:
            self.cookies.put(response, self.cookies.browser, visitor.browser)
        return response

    def leave(self, url: str) -> Response:
        """Send the browser to an address that was checked."""
        return RedirectResponse(url, 303, headers=HEADERS)

    def error(
        self,
        request: Request,
        visitor: Visitor,
        status: int,
        title: str,
        text: str,
        typed: Sequence[str] = (),
        *,
        signs_in: bool = False,
    ) -> Response:
        """A page that says what went wrong, and gives back what was typed in vain.

        Args:
            request: what it answers.
            visitor: who looks at it.
            status: the HTTP status.
            title: what happened, in a few words.
            text: why, and what to do.
            typed: what they wrote.
            signs_in: whether signing in helps; it leads back to where they are.
        """
        query = f"?{request.url.query}" if request.url.query else ""
        here = quote(request.scope["path"] + query, safe="/")
        return self.render(
            request,
            visitor,
            "error.html",
            status=status,
            title=title,
            text=text,
            typed=typed,
            sign_in=f"/signin?next={here}" if signs_in else "",
            missing=status == 404,
            request_id=current_request_id.get(),
        )

    # Routes.

    def page(self, path: str, answer: Page) -> Route:
        """A page at a path."""

        async def endpoint(request: Request) -> Response:
            visitor = await self.visitors.of(request)
            try:
                _check_credentials(request, visitor)
                return await answer(request, await self.visitors.told(visitor))
            except Refused as refused:
                return self._refused(request, visitor, refused)
            except NoSuchPerson:
                return self._refused(request, visitor, _gone())

        return Route(path, endpoint, methods=["GET"])

    def form(self, path: str, answer: FormPage, limit: int = MAX_FORM_BYTES) -> Route:
        """What takes a form at a path, after it was seen to be one of ours.

        Args:
            path: where it is sent, as a route has it.
            answer: answers it.
            limit: bytes that it may have.
        """

        async def endpoint(request: Request) -> Response:
            visitor = await self.visitors.of(request)
            try:
                _check_credentials(request, visitor)
                fields = await self.forms.read(request, visitor, request.scope["path"], limit)
                return await answer(request, visitor, fields)
            except Refused as refused:
                return self._refused(request, visitor, refused)
            except NoSuchPerson:
                return self._refused(request, visitor, _gone())
            except ClientLeft:
                return Response(status_code=400)

        return Route(path, endpoint, methods=["POST"])

    def _refused(self, request: Request, visitor: Visitor, refused: Refused) -> Response:
        response = self.error(
            request, visitor, refused.status, refused.title, refused.text, refused.typed
        )
        response.headers.update(refused.headers)
        return response

    def count_attempt(self, request: Request) -> None:
        """Count one more attempt to sign in from where the request comes from.

        Raises:
            Refused: there were too many.
        """
        wait = self.parts.attempts.allow(client_address(request.scope))
        if wait is not None:
            self.parts.tried("any", "too_many")
            seconds = max(1, round(wait))
            raise Refused(
                429,
                "Too many attempts",
                f"There were many attempts to sign in from your address. Try again in "
                f"{words.span(seconds)}.",
                {"retry-after": str(seconds)},
            )


def _check_credentials(request: Request, visitor: Visitor) -> None:
    """Refuse a session together with a token of somebody else: which of the two is meant?"""
    if visitor.person is None or "authorization" not in request.headers:
        return
    if context_of(request.scope).caller.person != visitor.person.id:
        raise Refused(
            401,
            "Two credentials",
            "The request carries a token that is not of the person who is signed in here. Send "
            "one of the two.",
        )


def _gone() -> Refused:
    """The answer to someone whose account was deleted after the request had come in."""
    return Refused(403, "You are not signed in", "Your account is not there any more.")


def origin_of(address: str) -> str:
    """The origin of an address: scheme, host and port."""
    url = urlsplit(address)
    return f"{url.scheme}://{url.netloc}"
