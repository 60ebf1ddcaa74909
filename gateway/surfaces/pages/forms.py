"""Forms: what a browser posts, and proof that the person sent it from one of our own pages."""

from __future__ import annotations

import hmac
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request

from auth.sealer import Sealer
from gateway.surfaces.http.body import BodyRefused, read_body
from gateway.surfaces.pages.visitors import Visitor

MAX_FORM_BYTES = 64 * 1024
_MAX_FIELDS = 300
_PAGES = frozenset({"/", "/account", "/consent"})
_BELOW = ("/admin/", "/approvals/", "/chat/")


class Refused(Exception):
    """The request is not served; the text tells the person why and what to do.

    Args:
        status: the HTTP status that says so.
        title: what happened, in a few words.
        text: why, and what to do.
        headers: what the response carries beside.
        typed: what the person has written, which the page gives back to be copied.
    """

    def __init__(
        self,
        status: int,
        title: str,
        text: str,
        headers: Mapping[str, str] | None = None,
        typed: Sequence[str] = (),
    ) -> None:
        super().__init__(text)
        self.status = status
        self.title = title
        self.text = text
        self.headers = dict(headers or {})
        self.typed = tuple(typed)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form."""

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def one(self, name: str) -> str:
        """A field's value; empty where it was not sent, or more than once."""
        values = self.values.get(name, ())
        return values[0] if len(values) == 1 else ""

    def every(self, name: str) -> list[str]:
        """All values of a field."""
        return list(self.values.get(name, ()))


class Forms:
    """Marks the forms that pages show, and reads them when they come back.

    Args:
        key: the portal's signing key.
    """

    def __init__(self, key: bytes) -> None:
        self._sealer = Sealer(key, "csrf")

    def mark(self, visitor: Visitor, action: str, about: str = "") -> str:
        """The hidden field that proves where a form comes from.

        Args:
            visitor: for whom it is rendered; the session, or the browser, is part of it.
            action: the path that the form is sent to.
            about: the sealed request that it answers, if any.
        """
        return self._sealer.mark(f"{visitor.binding}\n{action}\n{about}")

    async def read(
        self, request: Request, visitor: Visitor, action: str, limit: int = MAX_FORM_BYTES
    ) -> Fields:
        """The fields of a form that this person sent from one of our pages.

        Args:
            request: what the browser has sent.
            visitor: whose browser it is.
            action: the path that the form was marked for.
            limit: bytes that it may have.

        Raises:
            Refused: it comes from elsewhere, is not marked by us, or is too large.
        """
        if not _from_here(request, visitor.base):
            raise Refused(
                403,
                "This form was not sent from here",
                f"The browser says that it comes from another site. Open {visitor.base}/ and "
                "try again there.",
            )
        headers = dict(request.headers.items())
        try:
            body = await read_body(request.receive, headers, limit)
            values = _values(body)
        except BodyRefused as refused:
            raise Refused(refused.status, "This form cannot be read", str(refused)) from None
        except ValueError:
            raise Refused(
                400, "This form cannot be read", "It is not the form that the page showed."
            ) from None
        fields = Fields(values)
        expected = self.mark(visitor, action, fields.one("request"))
        if not hmac.compare_digest(expected.encode(), fields.one("csrf").encode()):
            raise Refused(
                403,
                "This form is out of date",
                "You have signed in or out since the page was shown, or cookies are turned off. "
                "Go back, load the page again, and try once more.",
            )
        return fields


def _values(body: bytes) -> dict[str, list[str]]:
    """The fields of a form.

    Raises:
        ValueError: they cannot be read, or hold a NUL, which no browser's field has and PostgreSQL
            takes in no text.
    """
    text = body.decode()
    if "\0" in text or "%00" in text:
        raise ValueError("NUL")
    return parse_qs(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")


def own_page(text: str, otherwise: str = "/account", views: Container[str] = ()) -> str:
    """A path to go to next, where it is one of the pages; never another site (open redirect).

    Args:
        text: what is asked for.
        otherwise: where to go if it is none.
        views: the paths of plugins' views, which are pages too.
    """
    try:
        url = urlsplit(text)
    except ValueError:
        return otherwise
    plain = text.isascii() and text.isprintable() and not set(text) & set("\\ #")
    ours = url.path in _PAGES or f"{url.path}/".startswith(_BELOW) or url.path in views
    known = ours and not url.scheme and not url.netloc
    return text if plain and known else otherwise


def _from_here(request: Request, base: str) -> bool:
    """Whether the browser says that one of our own pages sent the request.

    Every browser in use sends ``Origin`` with a form, and most ``Sec-Fetch-Site``. Neither can
    be set by a page's script; what sends neither is no browser with a page of ours.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is None and origin is None:
        return False
    url = urlsplit(base)
    own = f"{url.scheme}://{url.netloc}"
    return site in (None, "same-origin") and origin in (None, own)
