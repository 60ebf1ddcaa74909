"""What a page says once after a form was sent: that it is done, what went wrong, a new token.

The form's answer is a redirection, so the text waits in a cookie of the browser for the page
that comes next. It may be a secret - a new API token is shown once - and is encrypted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic_core import from_json, to_json
from starlette.responses import Response

from auth.sealer import Sealer
from gateway.surfaces.pages.cookies import Cookies

_LIFETIME_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to say once.

    Attributes:
        kind: whether it went well.
        text: what to say.
        secret: a text to be shown this once, and copied.
    """

    kind: Literal["done", "error"]
    text: str
    secret: str = ""


class Notices:
    """Hands a notice from one response to the next page.

    Args:
        key: the portal's signing key.
        cookies: how the cookies are called.
    """

    def __init__(self, key: bytes, cookies: Cookies) -> None:
        # 32 bytes in URL-safe base64, as Fernet wants them, with the padding that a mark lacks.
        self._key = Sealer(key, "notice").mark("key") + "="
        self._cookies = cookies

    def leave(self, response: Response, notice: Notice) -> None:
        """Leave a notice for the next page."""
        from cryptography.fernet import Fernet

        content = to_json([notice.kind, notice.text[:1000], notice.secret])
        token = Fernet(self._key).encrypt(content).decode()
        self._cookies.put(response, self._cookies.notice, token, _LIFETIME_SECONDS)

    def waiting(self, cookies: Mapping[str, str]) -> Notice | None:
        """The notice that waits, if any."""
        given = cookies.get(self._cookies.notice)
        if not given:
            return None
        from cryptography.fernet import Fernet, InvalidToken

        try:
            content = from_json(Fernet(self._key).decrypt(given.encode(), ttl=_LIFETIME_SECONDS))
        except InvalidToken:
            return None
        return Notice(*content)

    def take_away(self, response: Response, cookies: Mapping[str, str]) -> None:
        """Say it no second time."""
        if self._cookies.notice in cookies:
            self._cookies.drop(response, self._cookies.notice)
