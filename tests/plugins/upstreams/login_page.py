"""The sign-in page of an authorization server of the tests: a name and a password."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

PASSWORD = "correct horse battery staple"

_PAGE = """<!doctype html><html lang="en"><title>Sign in at Far</title>
<meta name="viewport" content="width=device-width"><main><h1>Sign in at Far</h1>
<p role="alert">{problem}</p>
<form method="post"><input type="hidden" name="asked" value="{asked}">
<label>Name <input name="user" required></label>
<label>Password <input name="password" type="password"
 autocomplete="current-password" required></label>
<button>Sign in and allow</button> <button name="deny" value="1" formnovalidate>Deny</button>
</form></main></html>"""

Agreed = Callable[[str], str]
"""Gives where the browser goes once a user has agreed; nobody, where they have not."""


class LoginPage:
    """Asks who is at the browser, and whether they agree.

    Attributes:
        path: where it is.
    """

    path = "/login"

    def __init__(self) -> None:
        self._asked: dict[str, Agreed] = {}

    def ask(self, agreed: Agreed) -> str:
        """The address, below the server's, at which somebody is asked."""
        asked = secrets.token_urlsafe(16)
        self._asked[asked] = agreed
        return f"{self.path}?asked={asked}"

    def route(self) -> Route:
        """The page."""
        return Route(self.path, self._answer, methods=["GET", "POST"])

    async def _answer(self, request: Request) -> Response:
        if request.method == "GET":
            return self._page(request.query_params["asked"])
        form = await request.form()
        asked = str(form["asked"])
        if form.get("deny"):
            return RedirectResponse(self._asked.pop(asked)(""), 303)
        if form["password"] != PASSWORD:
            return self._page(asked, "That is not the password.")
        return RedirectResponse(self._asked.pop(asked)(str(form["user"])), 303)

    def _page(self, asked: str, problem: str = "") -> HTMLResponse:
        return HTMLResponse(_PAGE.format(asked=escape(asked), problem=problem))
