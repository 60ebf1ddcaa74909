"""The cookies of the pages: what they are called, and what keeps them in their place.

Each is HttpOnly and SameSite=Lax, and by https Secure; the ``__Host-`` prefix (RFC 6265bis)
keeps other hosts of the same domain from planting one. Only the pages read them: /mcp and /api
know no cookie.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.responses import Response

from auth.portal_addresses import Site

_PIECE_CHARACTERS = 3500
"""Characters of a value in one cookie; browsers drop one that is larger than 4096 bytes."""
_MAX_PIECES = 4


class Cookies:
    """Names cookies, sets them and takes them away.

    Args:
        site: the portal's own addresses.
    """

    def __init__(self, site: Site) -> None:
        self._path = urlsplit(site.url).path or "/"
        self._secure = site.secure
        self._prefix = ""
        if site.secure:
            # __Host- demands the path "/", which a portal below a path would share with others.
            self._prefix = "__Host-" if self._path == "/" else "__Secure-"
        self.session = f"{self._prefix}porch" if self._prefix else "porch_session"
        self.browser = f"{self._prefix}porch_browser"
        self.begun = f"{self._prefix}porch_begun"
        self.notice = f"{self._prefix}porch_notice"
        self.connecting = f"{self._prefix}porch_connecting"

    def put(self, response: Response, name: str, value: str, lifetime: float | None = None) -> None:
        """Set a cookie, for a number of seconds or until the browser closes."""
        response.set_cookie(
            name,
            value,
            max_age=None if lifetime is None else int(lifetime),
            path=self._path,
            secure=self._secure,
            httponly=True,
            samesite="lax",
        )

    def drop(self, response: Response, name: str) -> None:
        """Take a cookie away."""
        self.put(response, name, "", 0)

    def put_long(self, response: Response, name: str, value: str, lifetime: float) -> bool:
        """Set a value that may be longer than one cookie; False where it is too long for all."""
        pieces = [
            value[at : at + _PIECE_CHARACTERS] for at in range(0, len(value), _PIECE_CHARACTERS)
        ]
        if len(pieces) > _MAX_PIECES:
            return False
        for number, piece in enumerate(pieces):
            self.put(response, f"{name}{number or ''}", piece, lifetime)
        return True

    def read_long(self, cookies: Mapping[str, str], name: str) -> str:
        """The value of :meth:`put_long`, or an empty text."""
        return "".join(cookies.get(f"{name}{number or ''}", "") for number in range(_MAX_PIECES))

    def drop_long(self, response: Response, cookies: Mapping[str, str], name: str) -> None:
        """Take away every piece that the browser sent of a long value."""
        for number in range(_MAX_PIECES):
            if (piece := f"{name}{number or ''}") in cookies:
                self.drop(response, piece)
