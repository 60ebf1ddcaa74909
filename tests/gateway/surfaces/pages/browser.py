"""A browser as far as these pages need one: cookies, forms, and the headers that browsers send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
from eth_account import Account as Key
from eth_account.messages import encode_defunct

NAVIGATES = {"accept": "text/html,application/xhtml+xml", "sec-fetch-site": "none"}


@dataclass
class Form:
    """A form of a page."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._inside: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = Form(has["action"], has.get("method", "get"))
            self.found.append(self._inside)
        elif tag == "input" and self._inside and has.get("type") == "hidden":
            self._inside.fields[has["name"]] = has["value"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = None


def forms(html: str) -> list[Form]:
    """The forms of a page, with their hidden fields."""
    parser = _Forms()
    parser.feed(html)
    return parser.found


class Browser:
    """One browser, at an app or over the network; redirections are followed by hand."""

    def __init__(self, app: Any, base: str) -> None:
        self.base = base
        served = None if app is None else httpx2.ASGITransport(app=app, raise_app_exceptions=True)
        self.client = httpx2.AsyncClient(
            transport=served,
            base_url=base,
            headers={"user-agent": "Test Browser"},
        )
        self.page: httpx2.Response | None = None

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        """Open an address."""
        self.page = await self.client.get(path, headers={**NAVIGATES, **headers})
        return self.page

    async def post(
        self, path: str, fields: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a form as a browser does from a page of the same origin."""
        if headers is None:
            url = urlsplit(self.base)
            origin = f"{url.scheme}://{url.netloc}"
            headers = NAVIGATES | {"origin": origin, "sec-fetch-site": "same-origin"}
        return await self.client.post(path, data=dict(fields), headers=headers)

    async def submit(
        self,
        action: str,
        fields: Mapping[str, Any] | None = None,
        *,
        number: int = 0,
    ) -> httpx2.Response:
        """Send a form of the page that is open, with what the person fills in."""
        assert self.page is not None, "No page is open."
        found = [each for each in forms(self.page.text) if each.action == action]
        assert found, f"The page has no form for {action}."
        return await self.post(action, {**found[number].fields, **(fields or {})})

    async def follow(self, response: httpx2.Response) -> httpx2.Response:
        """Follow redirections within the portal."""
        while response.status_code == 303:
            response = await self.get(urljoin(self.base, response.headers["location"]))
        return response

    async def sign_in(self, key: Any = None, next_page: str = "/account", link: str = "") -> Any:
        """Sign in with a wallet, by the way that scripts use; the key that signed."""
        key = key or Key.create()
        await self.get(f"/signin?next={next_page}&link={link}")
        response = await self.sign(key)
        assert response.status_code == 303
        await self.follow(response)
        return key

    async def sign(self, key: Any, **changes: str) -> httpx2.Response:
        """Have a wallet sign the message for the sign-in page that is open, and send the form."""
        asked = await self.client.get(
            "/signin/wallet",
            params={"address": key.address, "chain": "1"},
            headers={"accept": "application/json"},
        )
        message = asked.json()["message"]
        signed = key.sign_message(encode_defunct(text=message)).signature.hex()
        # Browsers write the end of a line in a form as CR LF.
        fields = {"message": message.replace("\n", "\r\n"), "signature": "0x" + signed}
        return await self.submit("/signin/wallet", {**fields, **changes})

    async def aclose(self) -> None:
        """Close it."""
        await self.client.aclose()
