"""Where an OpenID Connect provider tells that it has signed somebody out.

The provider's server calls it, not a browser: what it brings is signed, and nothing else of the
request counts (OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8).
"""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth.credentials import BadCredential
from auth.sign_in.oidc import OidcSignIn
from gateway.observability.logs import get_logger
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.client_address import client_address
from gateway.surfaces.pages.frame import Frame

MAX_BODY_BYTES = 64 * 1024
"""Bytes of a request's body."""
_NO_STORE = {"cache-control": "no-store"}

log = get_logger(__name__)


class BackChannelLogout:
    """``/signin/oidc/SLUG/logout`` of one provider.

    Args:
        frame: what all pages share.
        path: the provider's path below ``/signin/``.
        provider: who must have signed what comes.
    """

    def __init__(self, frame: Frame, path: str, provider: OidcSignIn) -> None:
        self._parts = frame.parts
        self._path = f"/signin/{path}/logout"
        self._provider = provider

    def route(self) -> Route:
        """The route."""
        return Route(self._path, self._post, methods=["POST"])

    async def _post(self, request: Request) -> Response:
        # A provider that signs many people out may ask as often as it likes; only what fails is
        # limited, for each address.
        peer = client_address(request.scope)
        wait, _ = self._parts.attempts.look(peer)
        if wait:
            seconds = str(max(1, round(wait)))
            return _refused("Too much was refused lately.", 429, {"retry-after": seconds})
        try:
            token = await _logout_token(request)
            who = await self._provider.signed_out(token, self._parts.stores.spent)
        except BadCredential as bad:
            self._parts.attempts.count(peer)
            log.info("logout_refused", provider=self._provider.label, reason=bad.reason)
            return _refused(bad.reason)
        except BodyRefused as error:
            return _refused(str(error), error.status)
        except ClientLeft:
            return Response(status_code=400)
        await self._parts.accounts.provider_signed_out(who)
        log.info("provider_signed_out", provider=self._provider.label, account=who.account or "")
        return Response(status_code=200, headers=_NO_STORE)


async def _logout_token(request: Request) -> str:
    headers = {name.lower(): value for name, value in request.headers.items()}
    body = await read_body(request.receive, headers, MAX_BODY_BYTES)
    try:
        given = parse_qs(body.decode("ascii"), max_num_fields=20).get("logout_token", [])
    except ValueError:
        given = []
    if len(given) != 1:
        raise BadCredential("The request must bring one logout_token, as a form.")
    return given[0]


def _refused(why: str, status: int = 400, headers: dict[str, str] | None = None) -> Response:
    content = {"error": "invalid_request", "error_description": why}
    return JSONResponse(content, status, {**_NO_STORE, **(headers or {})})
