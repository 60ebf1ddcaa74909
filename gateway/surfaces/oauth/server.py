"""The authorization server's endpoints, by way of the mcp SDK's handlers.

The module imports ``mcp``, so it is imported only when the first client asks.

The SDK's handlers do the protocol. Before them, requests are read strictly and refused where the
SDK would guess; after them, the answers get what the SDK leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from urllib.parse import parse_qs, urlencode, urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.revoke import RevocationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.json_response import PydanticJSONResponse
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientMetadata
from pydantic import AnyUrl, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from auth.oauth.client_record import RegistrationRefused, UnknownClient
from auth.oauth.consent import with_parameters
from auth.oauth.provider import Provider
from auth.oauth.sdk_client import SCOPES, sdk_client
from gateway.surfaces.http.errors import NO_STORE, refusal
from gateway.surfaces.http.request_context import wants_page
from gateway.surfaces.oauth.assertion_grants import AssertionGrants, noted
from gateway.surfaces.oauth.parts import OAuthSurface

_ANY_URL = TypeAdapter(AnyUrl)
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_HINTS = frozenset({"access_token", "refresh_token"})


class Server:
    """Answers what clients and browsers ask of the authorization server.

    Args:
        parts: what it works with.
    """

    def __init__(self, parts: OAuthSurface) -> None:
        self._parts = parts
        self._assertions: AssertionGrants | None = None
        if machines := parts.server.machines:
            audited = partial(noted, parts.audit)
            self._assertions = AssertionGrants(parts.server, machines, self._by_secret, audited)

    async def authorize(self, request: Request, parameters: dict[str, str], base: str) -> Response:
        """Send the browser to the consent page, or back to the client with an error.

        Without a known client and one of its redirect URIs the browser is sent nowhere: the
        person is told (RFC 6749, section 4.1.2.1). Anybody may register a client, so a browser is
        not sent to a site on the web either before its person has said yes or no, or the portal
        would lend its name to any link (RFC 9700, section 4.11.2): of an error the person is told.

        Args:
            request: the request.
            parameters: of the request.
            base: the portal's address as the browser sees it.
        """
        provider = Provider(self._parts.server, base, parameters)
        if problem := await self._unanswerable(parameters):
            return self.error_response(request, 400, "invalid_request", problem)
        # The SDK takes a missing method for S256. It means "plain" (RFC 7636, section 4.3).
        sent = {"code_challenge_method": "plain", **parameters}
        response = await AuthorizationHandler(provider).handle(_as_query(request, sent))
        location = response.headers.get("location")
        if location is None:
            text = "The application's request is not complete. Start again from the application."
            return self.error_response(request, 400, "invalid_request", text)
        if location == provider.asked:
            return response
        if location.startswith("https:") and wants_page(request):
            return self.error_response(request, 400, "invalid_request", _not_sent_on(location))
        response.headers["location"] = with_parameters(location, {"iss": base})
        return response

    async def token(self, request: Request, parameters: dict[str, str], base: str) -> Response:
        """Tokens for a code or a refresh token; arguments as above."""
        grant_type = parameters.get("grant_type")
        if self._assertions is not None and grant_type in self._assertions.types:
            response = await self._assertions.token(request, parameters, base)
            return _with_challenge(response, request)
        if grant_type not in {"authorization_code", "refresh_token"}:
            known = "grant_type is authorization_code or refresh_token."
            error = "unsupported_grant_type" if grant_type else "invalid_request"
            return refusal(error, known)
        if grant_type == "authorization_code" and not _VERIFIER.fullmatch(
            parameters.get("code_verifier", "")
        ):
            return refusal("invalid_request", "code_verifier has 43 to 128 unreserved characters.")
        provider = Provider(self._parts.server, base, parameters)
        handler = TokenHandler(provider, ClientAuthenticator(provider))
        response = await handler.handle(_as_form(request, _with_known_scopes(parameters)))
        return _with_challenge(response, request)

    async def revoke(self, request: Request, parameters: dict[str, str], base: str) -> Response:
        """End a grant by one of its tokens (RFC 7009); arguments as above."""
        # An unknown hint is ignored (section 2.1), and a public client has no secret to send:
        # the SDK refuses both.
        sent = {"client_secret": "", **parameters}
        if sent.get("token_type_hint") not in _HINTS:
            sent.pop("token_type_hint", None)
        provider = Provider(self._parts.server, base, parameters)
        handler = RevocationHandler(provider, ClientAuthenticator(provider))
        response: Response = await handler.handle(_as_form(request, sent))
        if response.status_code == 401:  # the SDK calls it unauthorized_client
            response = refusal("invalid_client", "The client could not be authenticated.", 401)
        return _with_challenge(response, request)

    async def register(self, body: bytes) -> Response:
        """Register a client (RFC 7591); nothing is stored.

        Args:
            body: the client's metadata as JSON.
        """
        try:
            metadata = OAuthClientMetadata.model_validate_json(body)
            registered = self._parts.server.clients.register(metadata)
        except ValidationError as error:
            return refusal("invalid_client_metadata", _first(error))
        except RegistrationRefused as refused:
            return refusal(refused.error, refused.reason)
        return PydanticJSONResponse(registered, 201, headers=NO_STORE)

    async def _by_secret(
        self, request: Request, parameters: Mapping[str, str], base: str
    ) -> tuple[str, str] | None:
        """The id and the name of a client that has authenticated by its secret."""
        provider = Provider(self._parts.server, base, parameters)
        try:
            form = _as_form(request, parameters)
            client = await ClientAuthenticator(provider).authenticate_request(form)
        except AuthenticationError:
            return None
        if not client.client_secret or client.client_id is None:
            return None  # a public client proves nothing
        return client.client_id, client.client_name or client.client_id

    async def _unanswerable(self, parameters: Mapping[str, str]) -> str | None:
        """Why nothing can be sent back to the client, for the person; None where it can."""
        if "client_id" not in parameters:
            return "The address names no application (client_id). Start from the application."
        try:
            client = sdk_client(await self._parts.server.clients.find(parameters["client_id"]))
        except UnknownClient as unknown:
            return f"The application that sent you here is not known. {unknown.reason}"
        given = parameters.get("redirect_uri")
        try:
            client.validate_redirect_uri(None if given is None else _ANY_URL.validate_python(given))
        except (ValidationError, InvalidRedirectUriError):
            return (
                "The application wants the answer at an address that is not registered for it, "
                "so you were not sent there. If you trust the application, tell its makers."
            )
        return None

    def error_response(self, request: Request, status: int, error: str, text: str) -> Response:
        """Tell of an error that is not sent to a client: as a page where a browser asks."""
        if not wants_page(request):
            return refusal(error, text, status)
        response = self._parts.error_page(request, status, "This sign-in cannot go on", text)
        response.headers["Cache-Control"] = "no-store"
        return response


def _not_sent_on(location: str) -> str:
    url = urlsplit(location)
    error = parse_qs(url.query).get("error", ["error"])[-1]
    return (
        f"The application at {url.netloc} asked for something that this portal does not do "
        f"({error}), so you were not sent on to it. If you came from there, tell its makers."
    )


def _with_known_scopes(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters without scopes that the portal does not have, which it never granted."""
    known = " ".join(each for each in parameters.get("scope", "").split() if each in SCOPES)
    others = {name: value for name, value in parameters.items() if name != "scope"}
    return {**others, "scope": known} if known else others


def _with_challenge(response: Response, request: Request) -> Response:
    """Add how to authenticate to a refused client that tried it by a header (RFC 6749, 5.2)."""
    if response.status_code == 401 and "authorization" in request.headers:
        response.headers["WWW-Authenticate"] = 'Basic realm="OAuth client"'
    response.headers.update(NO_STORE)
    return response


def _first(error: ValidationError) -> str:
    # Without the input: it may hold a secret.
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"


def _as_query(request: Request, parameters: Mapping[str, str]) -> Request:
    """The request as the SDK reads it: a GET with these parameters and no others."""
    query = urlencode(parameters).encode()
    return Request({**request.scope, "method": "GET", "query_string": query})


def _as_form(request: Request, parameters: Mapping[str, str]) -> Request:
    """The request as the SDK reads it: a form with these parameters and no others."""
    body = urlencode(parameters).encode()
    kind = (b"content-type", b"application/x-www-form-urlencoded")
    headers = [kind, *((n, v) for n, v in request.scope["headers"] if n == b"authorization")]

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request({**request.scope, "headers": headers}, receive)
