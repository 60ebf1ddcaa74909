"""A portal before a server with accounts, and browsers in which members connect."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from gateway.surfaces.pages.cookies import Cookies
from gateway.testing import TestPortal
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.plugins.upstreams.guarded import Guarded
from tests.plugins.upstreams.portals import portal_before

BASE = "http://localhost"


class Member:
    """Someone who is signed in to the portal, by a token and in a browser."""

    def __init__(self, portal: TestPortal, name: str, person: str, browser: Browser) -> None:
        self.portal = portal
        self.name = name
        self.person = person
        self.browser = browser

    async def account(self) -> str:
        """The account page."""
        return (await self.browser.get("/account")).text

    async def leave(self, name: str = "far") -> str:
        """Press connect: the address that the page leads to."""
        page = await self.browser.get("/account")
        action = "/account/connections/connect"
        form = next(
            each
            for each in forms(page.text)
            if each.action.endswith(action) and each.fields["name"] == name
        )
        shown = await self.browser.post(action, form.fields)
        if shown.status_code != 200:
            return ""
        found = [line for line in shown.text.split('"') if line.startswith("http")]
        return found[0].replace("&amp;", "&")

    async def arrive(self, url: str) -> str:
        """Agree at the other side, and give the address that it sends the browser back to."""
        async with httpx2.AsyncClient(timeout=60) as http:
            answer = await http.get(url)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])

    async def back(self, location: str) -> str:
        """Come back, and read the page that says how it went."""
        parts = urlsplit(location)
        await self.browser.get(f"{parts.path}?{parts.query}")
        return await self.account()

    async def connect(self, guarded: Guarded, user: str = "") -> str:
        """All three; the account page then."""
        guarded.user = user or f"{self.name}-there"
        return await self.back(await self.arrive(await self.leave()))

    async def disconnect(self) -> str:
        """Press disconnect."""
        page = await self.browser.get("/account")
        action = "/account/connections/disconnect"
        form = next(each for each in forms(page.text) if each.action.endswith(action))
        await self.browser.post(action, form.fields)
        return await self.account()

    async def add(self, a: int = 1, b: int = 2) -> Any:
        """Call the server's tool."""
        return await self.portal.call("far__add", {"a": a, "b": b}, tier=self.name)


@asynccontextmanager
async def portal_of(
    guarded: Guarded, data_dir: Path | None = None, **more: Any
) -> AsyncGenerator[TestPortal]:
    """A portal before the server; whoever signs in may use it."""
    more = {"credential": "member-oauth", "tier": "public", **more}
    async with portal_before(guarded.url, data_dir=data_dir, **more) as portal:
        yield portal


async def member(portal: TestPortal, name: str) -> Member:
    """Sign someone in."""
    person = await portal.sign_in(name)
    site = portal.running.authentication.site
    cookies, browser = Cookies(site), Browser(portal.app, site.url if site.secure else BASE)
    cookie = await portal.running.authentication.sessions.begin(person.id, "Test Browser")
    browser.client.cookies.set(cookies.session, cookie)
    browser.client.cookies.set(cookies.browser, secrets.token_urlsafe(32))
    return Member(portal, name, person.id, browser)
