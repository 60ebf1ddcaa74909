"""How an API of HTTP says what is no result: errors, and how often may still be asked.

The portal's own REST has one way, and each :class:`~gateway.contract.Api` brings another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic_core import to_json
from starlette.types import Send

from gateway.contract import Allowance, Api, Offer, Refusal
from gateway.errors import wire
from gateway.limits.route_limits import headers_of, seconds_left
from gateway.limits.sliding_window import Taken
from gateway.surfaces.http.responses import Headers, send_json

_CHALLENGE = (b"www-authenticate", b"Bearer")


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    """One API's way to say it.

    Attributes:
        failed: the HTTP status and the body that tell of a refusal.
        headers: what every answer carries, of what was counted or None.
    """

    failed: Callable[[Refusal], tuple[int, bytes]]
    headers: Callable[[Taken | None], Headers]

    async def refuse(
        self, send: Send, refusal: Refusal, headers: Headers = (), taken: Taken | None = None
    ) -> None:
        """Send a refusal; to whom is not signed in, with a challenge.

        Args:
            send: the ASGI channel.
            refusal: why.
            headers: what the answer carries beside the dialect's own.
            taken: what was counted for the request, if anything was.
        """
        status, body = self.failed(refusal)
        challenged = any(name == _CHALLENGE[0] for name, _ in headers)
        challenge = (_CHALLENGE,) if status == 401 and not challenged else ()
        await send_json(send, body, status, (*self.headers(taken), *headers, *challenge))


def _plainly(refusal: Refusal) -> tuple[int, bytes]:
    error = wire(refusal.code, refusal.message, refusal.details, refusal.request_id)
    return refusal.status, to_json(error)


PLAIN = ErrorFormat(_plainly, lambda taken: () if taken is None else headers_of(taken))
"""The portal's own."""


def error_format_of(api: Api) -> ErrorFormat:
    """The way of an API that a plugin offers."""

    def failed(refusal: Refusal) -> tuple[int, bytes]:
        status, body = api.failed(refusal)
        return status, body.model_dump_json(by_alias=True, exclude_none=True).encode()

    def headers(taken: Taken | None) -> Headers:
        allowance = None
        if taken is not None:
            allowance = Allowance(taken.rate.limit, taken.left, seconds_left(taken))
        named = api.headers(allowance).items()
        own = tuple((name.lower().encode(), value.encode()) for name, value in named)
        return (*PLAIN.headers(taken), *own)

    return ErrorFormat(failed, headers)


class ErrorFormats:
    """Which dialect a path is answered in.

    Args:
        offers: of the open plugins.
    """

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._under = {
            prefix: error_format_of(api)
            for offer in offers
            for api in offer.apis
            for prefix in api.prefixes
        }

    def __call__(self, path: str) -> ErrorFormat:
        """The dialect of what lies at a path."""
        for prefix, dialect in self._under.items():
            if path == prefix or path.startswith(prefix + "/"):
                return dialect
        return PLAIN
