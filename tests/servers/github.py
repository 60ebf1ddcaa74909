"""A small GitHub on loopback: its OAuth app flow, and the part of its API that Porch asks.

::

    with Github() as github:
        ana = github.add("ana")                # an account; its numeric id
        github.approves = "ana"                # who signs in without being asked; None shows a page
        github.orgs["garden"] = Org(members={ana}, public={ana}, teams={"core": {ana: "active"}})
        github.rename(ana, "anna")
        github.down = True                     # answers everything with 503
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from tests.servers.serving import bound, serving


@dataclass
class User:
    """An account; ``emails`` as GitHub lists them."""

    id: int
    login: str
    name: str | None = None
    created_at: str = "2019-05-01T12:00:00Z"
    emails: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Org:
    """An organization: the ids of its members, of those who show it, and each team's states."""

    members: set[int] = field(default_factory=set)
    public: set[int] = field(default_factory=set)
    teams: dict[str, dict[int, str]] = field(default_factory=dict)


class Github:
    """GitHub; a context manager.

    Attributes:
        url: its address; ``api_url`` is that of its API.
        users: the accounts by id.
        orgs: the organizations by name.
        approves: the login that signs in at once; None shows a page with a button for each.
        tokens: what may read organizations: the token, and whether its owner is a member of all.
        down: whether it answers everything with 503.
        delay: seconds that each answer of the API takes; setting it to 0 ends all waiting.
        limited: headers that it refuses every question with (and 403), or None.
        hides_emails: whether users give it no leave to show their addresses.
        asked: how often each path was asked for.
        issued: the tokens that users' sign-ins gave.
        most_at_once: the most questions that were open at a time.
    """

    def __init__(
        self, client_id: str = "portal", client_secret: str = "the-secret", port: int = 0
    ) -> None:
        self.client_id = client_id
        self.client_secret = client_secret
        self.users: dict[int, User] = {}
        self.orgs: dict[str, Org] = {}
        self.approves: str | None = None
        self.tokens: dict[str, bool] = {}
        self.down = False
        self.delay = 0.0
        self.limited: dict[str, str] | None = None
        self.hides_emails = False
        self.asked: Counter[str] = Counter()
        self.issued: dict[str, int] = {}
        self.most_at_once = 0
        self._open = 0
        self._codes: dict[str, dict[str, str]] = {}
        self._listener = bound(port)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.api_url = f"{self.url}/api/v3"
        self._stack = ExitStack()

    def __enter__(self) -> Github:
        self._stack.enter_context(serving(self._app(), self._listener))
        return self

    def __exit__(self, *_: object) -> None:
        self.delay = 0.0  # whoever waits is answered, so that the server can stop
        self._stack.close()

    def add(self, login: str, **said: Any) -> int:
        """Make an account; gives its id."""
        number = 1000 + len(self.users)
        email = {"email": f"{login.title()}@Example.org", "primary": True, "verified": True}
        self.users[number] = User(number, login, **{"emails": [email], **said})
        return number

    def rename(self, number: int, login: str) -> None:
        """Give an account another name; the old one is free for others."""
        self.users[number].login = login

    def _app(self) -> Any:
        member = "/orgs/{org}/members/{login}"
        api = [
            Route("/user", self._me),
            Route("/user/emails", self._emails),
            Route("/user/{number:int}", self._user),
            Route(member, self._member),
            Route("/orgs/{org}/public_members/{login}", self._public_member),
            Route("/orgs/{org}/teams/{team}/memberships/{login}", self._team),
        ]
        app = Starlette(
            routes=[
                Route("/login/oauth/authorize", self._authorize),
                Route("/login/oauth/access_token", self._token, methods=["POST"]),
                Mount("/api/v3", routes=api),
            ]
        )

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            self.asked[scope["path"].removeprefix("/api/v3")] += 1
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
            try:
                await self._answer(app, scope)(scope, receive, send)
            finally:
                self._open -= 1

        return counted

    def _answer(self, app: Any, scope: Any) -> Any:
        if self.down:
            return Response("Down.", 503)
        if not scope["path"].startswith("/api/v3"):
            return app
        if self.limited is not None:
            return JSONResponse({"message": "API rate limit exceeded"}, 403, self.limited)

        async def slowly(*asgi: Any) -> None:
            begun = time.monotonic()
            while time.monotonic() < begun + self.delay:  # noqa: ASYNC110 (another thread sets it)
                await asyncio.sleep(0.005)
            await app(*asgi)

        return slowly

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        missing = {"redirect_uri", "state", "code_challenge", "scope"} - asked.keys()
        if missing or asked.get("client_id") != self.client_id:
            return Response("Not a request of the app's.", 400)
        login = asked.pop("as", None) or self.approves
        if login is None:
            return HTMLResponse(self._page(asked))
        answer = {"state": asked["state"]}
        user = self._named(login)
        if user is None:
            answer["error"] = "access_denied"
        else:
            answer["code"] = secrets.token_hex(10)
            self._codes[answer["code"]] = {**asked, "id": str(user.id)}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    def _page(self, asked: Mapping[str, str]) -> str:
        hidden = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        )
        choices = [(each.login, f"Authorize as {each.login}") for each in self.users.values()]
        buttons = "".join(
            f'<button name="as" value="{html.escape(login)}">{html.escape(label)}</button> '
            for login, label in [*choices, ("-", "Cancel")]
        )
        return (
            '<!doctype html><html lang="en"><title>Test GitHub</title>'
            f"<h1>Authorize the portal</h1><form>{hidden}{buttons}</form></html>"
        )

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        if (form.get("client_id"), form.get("client_secret")) != (
            self.client_id,
            self.client_secret,
        ):
            return JSONResponse({"error": "incorrect_client_credentials"})  # GitHub says 200
        begun = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            begun is None
            or begun["redirect_uri"] != form.get("redirect_uri")
            or begun["code_challenge"] != challenge
        ):
            return JSONResponse({"error": "bad_verification_code"})
        token = f"gho_{secrets.token_hex(18)}"
        self.issued[token] = int(begun["id"])
        scope = begun["scope"].replace(" ", ",")
        return JSONResponse({"access_token": token, "token_type": "bearer", "scope": scope})

    async def _me(self, request: Request) -> Response:
        user = self._signed_in(request)
        return _user(user) if user else JSONResponse({"message": "Bad credentials"}, 401)

    async def _emails(self, request: Request) -> Response:
        user = self._signed_in(request)
        if user is None or self.hides_emails:
            return JSONResponse({"message": "Not Found"}, 404)
        return JSONResponse(user.emails)

    async def _user(self, request: Request) -> Response:
        if self._reads(request) is _BAD:
            return JSONResponse({"message": "Bad credentials"}, 401)
        user = self.users.get(request.path_params["number"])
        return _user(user) if user else JSONResponse({"message": "Not Found"}, 404)

    async def _member(self, request: Request) -> Response:
        reads = self._reads(request)
        if not reads:
            path = request.url.path.replace("/members/", "/public_members/")
            return RedirectResponse(path, 302)
        org, user = self._org(request), self._named(request.path_params["login"])
        return Response(status_code=204 if user and user.id in org.members else 404)

    async def _public_member(self, request: Request) -> Response:
        org, user = self._org(request), self._named(request.path_params["login"])
        return Response(status_code=204 if user and user.id in org.public else 404)

    async def _team(self, request: Request) -> Response:
        if not self._reads(request):
            return JSONResponse({"message": "Must have admin rights"}, 403)
        team = self._org(request).teams.get(request.path_params["team"], {})
        user = self._named(request.path_params["login"])
        state = team.get(user.id) if user else None
        if state is None:
            return JSONResponse({"message": "Not Found"}, 404)
        return JSONResponse({"role": "member", "state": state})

    def _org(self, request: Request) -> Org:
        return self.orgs.get(request.path_params["org"], Org())

    def _named(self, login: str) -> User | None:
        return next((each for each in self.users.values() if each.login == login), None)

    def _signed_in(self, request: Request) -> User | None:
        return self.users.get(self.issued.get(_bearer(request), 0))

    def _reads(self, request: Request) -> Any:
        """Whether a token's owner belongs to the organizations; ``_BAD`` for an unknown token."""
        token = _bearer(request)
        return self.tokens.get(token, _BAD) if token else None


_BAD: list[Any] = []
"""Stands for a token that is not known; false."""


def _bearer(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def _user(user: User) -> Response:
    return JSONResponse(
        {
            "id": user.id,
            "login": user.login,
            "name": user.name,
            "created_at": user.created_at,
            "email": None,
        }
    )
