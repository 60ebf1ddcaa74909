"""A person at a browser without scripts, who goes where they are sent and agrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from urllib.parse import urljoin, urlsplit

import httpx2

MOST_STEPS = 20


@dataclass
class Form:
    """A form of a page: where it goes and what it holds; of its buttons the first is pressed."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    pressed: bool = False


class _Forms(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(said.get("method", "get"), said.get("action", "")))
            self._inside = True
        elif self._inside and tag in {"input", "button"}:
            form = self.forms[-1]
            if tag == "input" or not form.pressed:
                form.pressed |= tag == "button"
                if "name" in said:
                    form.fields[said["name"]] = said.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag != "form"


def forms(page: str) -> list[Form]:
    """The forms of a page, in order."""
    return _Forms(page).forms


class Person:
    """Signs in with the provider whose button leads to ``/signin/oidc/``, and allows what is asked.

    Attributes:
        seen: the paths of the pages so far.
    """

    def __init__(self) -> None:
        self._http = httpx2.AsyncClient(
            headers={"Accept": "text/html"}, trust_env=False, timeout=60
        )
        self.seen: list[str] = []

    async def __aenter__(self) -> Person:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def go(self, url: str, until: str) -> str:
        """Open an address, and do what the pages ask for, until sent to one that begins so.

        Returns:
            The address that the browser was sent to last; it is not opened.
        """
        for _ in range(MOST_STEPS):
            if url.startswith(until):
                return url
            answer = await self._http.get(url)
            while not answer.is_redirect:
                self.seen.append(urlsplit(str(answer.url)).path)
                answer = await self._agree(answer)
            url = urljoin(str(answer.url), answer.headers["location"])
        raise AssertionError(f"The browser goes round in circles: {self.seen}")

    async def _agree(self, page: httpx2.Response) -> httpx2.Response:
        assert page.status_code == 200, f"{page.url}: {page.status_code} {page.text[:2000]}"
        wanted = ("/signin/oidc/", "/consent")
        found = [each for each in forms(page.text) if each.action.startswith(wanted)]
        assert found, f"{page.url} has nothing to agree to: {page.text[:2000]}"
        return await self.press(page, found[0])

    async def press(self, page: httpx2.Response, form: Form) -> httpx2.Response:
        """Send a form of a page, as a browser does."""
        here = urlsplit(str(page.url))
        own = {"Origin": f"{here.scheme}://{here.netloc}", "Sec-Fetch-Site": "same-origin"}
        target = urljoin(str(page.url), form.action)
        return await self._http.post(target, data=form.fields, headers=own)
