"""Connecting a person to accounts of theirs elsewhere, for the plugins that ask for it.

A browser is sent away with what must come back with it in a sealed cookie, which is bound to the
person and the session: nobody can attach their account to another's, nor finish twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth.sealer import BadSeal, Sealer
from auth.stores import Person
from gateway.contract import Caller, Connection, Connections, Place, ToolFailed
from gateway.contract.connections import connect_mark, connect_purpose
from gateway.observability.logs import get_logger
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor

log = get_logger(__name__)

CONNECT_SECONDS = 600
"""Seconds that someone has for agreeing at the other side."""
_WAS_NOT_BEGUN = (
    "This was not begun by you in this browser, or too long ago, or it was used already. Nothing "
    "was connected: connect again."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A connection as the page shows it.

    Attributes:
        plugin: whose it is.
        connection: how it is.
        asked: whether a link that a call gave out leads to it.
    """

    plugin: str
    connection: Connection
    asked: bool = False


class ConnectionPages:
    """The connections of the account page, the way out and the way back.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._sealer = Sealer(frame.parts.key, "connect")

    def routes(self) -> list[Route]:
        """The routes."""
        below = "/connect/{plugin}/{name}"
        return [
            self._frame.form("/account/connections/connect", self._begin),
            self._frame.form("/account/connections/disconnect", self._disconnect),
            self._frame.page(f"{below}/callback", self._finish),
            Route(f"{below}/client.json", self._client, methods=["GET"]),
        ]

    async def shown(self, request: Request, caller: Caller) -> list[Shown]:
        """The connections that a person may have.

        Raises:
            Refused: a call's link leads here, and another person made the call.
        """
        asked, mark = (request.query_params.get(each, "") for each in ("connect", "for"))
        if asked and mark != connect_mark(caller.person or ""):
            raise Refused(
                403,
                "This link is for another person",
                "The call that gave it out was made by somebody else than the person who is "
                "signed in here. Sign out, and open it as that person.",
            )
        found = []
        for plugin, connections in self._every().items():
            try:
                listed = await connections.listed(caller)
            except Exception:  # one plugin's failure hides no other's connections
                log.exception("connections_not_listed", plugin=plugin)
                continue
            found += [Shown(plugin, each, asked == f"{plugin}/{each.name}") for each in listed]
        return found

    def _every(self) -> dict[str, Connections]:
        offers = self._frame.parts.offers
        return {name: each.connections for name, each in offers.items() if each.connections}

    # The way out.

    async def _begin(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, caller = await self._who(visitor)
        plugin, name = fields.one("plugin"), fields.one("name")
        connections = await self._of(plugin, name, caller)
        self._frame.count_attempt(request)
        place = _place(visitor.base, plugin, name)
        try:
            departure = await connections.begin(name, caller, place)
            host = _host(departure.url)
        except ToolFailed as failed:
            return self._failed(visitor, failed.message)
        begun = {"kept": dict(departure.remembered), "about": _about(person, plugin, name)}
        sealed = self._sealer.seal(begun, CONNECT_SECONDS, visitor.binding)
        # A page with a link, not a redirection: it says where one goes, and the policy of the
        # account page need not let its forms lead to addresses that others choose.
        response = self._frame.render(
            request, visitor, "connect.html", name=name, host=host, url=departure.url
        )
        self._frame.cookies.drop_long(response, request.cookies, self._cookie)
        if not self._frame.cookies.put_long(response, self._cookie, sealed, CONNECT_SECONDS):
            return self._failed(visitor, "What the server asks for is too long. Tell an admin.")
        return response

    # The way back.

    async def _finish(self, request: Request, visitor: Visitor) -> Response:
        person, caller = await self._who(visitor)
        plugin, name = (request.path_params[each] for each in ("plugin", "name"))
        connections = await self._of(plugin, name, caller)
        self._frame.count_attempt(request)
        try:
            kept = await self._kept(request, visitor, _about(person, plugin, name))
            place, query = _place(visitor.base, plugin, name), dict(request.query_params)
            await connections.finish(name, caller, place, query, kept)
        except BadSeal:
            response = self._failed(visitor, _WAS_NOT_BEGUN)
        except ToolFailed as failed:
            response = self._failed(visitor, failed.message)
        else:
            log.info("connected", person=person.id, plugin=plugin, connection=name)
            self._frame.parts.connected(connect_purpose(plugin, name, person.id))
            response = self._frame.go(visitor, "/account", ("done", f"{name} is connected."))
        self._frame.cookies.drop_long(response, request.cookies, self._cookie)
        return response

    async def _kept(self, request: Request, visitor: Visitor, about: str) -> Mapping[str, Any]:
        """What was remembered when this person was sent away from this browser, the once."""
        sealed = self._frame.cookies.read_long(request.cookies, self._cookie)
        begun = self._sealer.open(sealed, visitor.binding)
        if begun["about"] != about:
            raise BadSeal("It was begun for something else.")
        until = datetime.now(UTC) + timedelta(seconds=CONNECT_SECONDS)
        if not await self._frame.parts.stores.spent.spend(f"connect:{sealed}", until):
            raise BadSeal("It was used before.")
        kept: Mapping[str, Any] = begun["kept"]
        return kept

    # The rest.

    async def _disconnect(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, caller = await self._who(visitor)
        plugin, name = fields.one("plugin"), fields.one("name")
        connections = await self._of(plugin, name, caller)
        try:
            await connections.end(name, caller)
        except ToolFailed as failed:
            return self._failed(visitor, failed.message)
        log.info("disconnected", person=person.id, plugin=plugin, connection=name)
        return self._frame.go(visitor, "/account", ("done", f"{name} is disconnected."))

    async def _client(self, request: Request) -> Response:
        """The portal as a client of the other side's authorization server."""
        plugin, name = (request.path_params[each] for each in ("plugin", "name"))
        parts = self._frame.parts
        if plugin not in self._every():
            return JSONResponse({"error": "not_found"}, 404)
        place = _place(parts.site.base(request.headers.get("host", "")), plugin, name)
        headers = {"cache-control": "public, max-age=300"}
        return JSONResponse(client_metadata(place, parts.name), headers=headers)

    @property
    def _cookie(self) -> str:
        return self._frame.cookies.connecting

    async def _who(self, visitor: Visitor) -> tuple[Person, Caller]:
        if visitor.person is None:
            raise Refused(403, "You are not signed in", "Sign in first, and then connect.")
        return visitor.person, await self._frame.visitors.caller(visitor)

    async def _of(self, plugin: str, name: str, caller: Caller) -> Connections:
        connections = self._every().get(plugin)
        if connections is not None:
            for each in await connections.listed(caller):
                if each.name == name:
                    return connections
        raise Refused(404, "There is no such connection", "Look at your account page.")

    def _failed(self, visitor: Visitor, message: str) -> Response:
        return self._frame.go(visitor, "/account", ("error", message))


def client_metadata(place: Place, portal: str) -> dict[str, Any]:
    """What a Client ID Metadata Document says of the portal.

    Args:
        place: where the portal is for the connection.
        portal: what the portal is called.
    """
    return {
        "client_id": place.client,
        "client_name": portal,
        "redirect_uris": [place.callback],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def _place(base: str, plugin: str, name: str) -> Place:
    below = f"{base}/connect/{plugin}/{name}"
    return Place(f"{below}/callback", f"{below}/client.json")


def _about(person: Person, plugin: str, name: str) -> str:
    return f"{person.id} {plugin}/{name}"


def _host(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise ToolFailed("bad_address", "The server named no web page to go to. Tell an admin.")
    return parts.netloc


def asked_for(request: Request) -> str:
    """The account page with what a call's link asks for, to come back to after a sign-in."""
    query = {
        key: request.query_params[key]
        for key in ("connect", "for")
        if request.query_params.get(key)
    }
    return "/account" + (f"?{urlencode(query)}" if query else "")
