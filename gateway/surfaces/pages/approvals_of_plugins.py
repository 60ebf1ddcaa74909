"""Requests that plugins have people decide themselves, on the same page (``Offer.pending``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.contract import Caller, PendingRequest, PendingRequests, ToolFailed
from gateway.observability.logs import get_logger
from gateway.surfaces.pages import words
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.laid_out import Text, laid_out, shown

log = get_logger(__name__)

_NOT_WAITING = (
    "There is no such request that waits for you. It may have been decided already, by you or by "
    "somebody else, or taken back; what the page would do now is not done."
)


@dataclass(frozen=True, slots=True)
class OfPlugin:
    """A plugin's requests, as the list shows them.

    Attributes:
        plugin: whose.
        requests: what waits, each with its title as pieces, and what to call who asks.
        problem: why they are not known now; empty where they are.
    """

    plugin: str
    requests: Sequence[tuple[PendingRequest, Text, str]] = ()
    problem: str = ""


class PluginRequests:
    """Shows them, and has them decided.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def routes(self) -> list[Route]:
        """The routes."""
        path = "/approvals/{plugin}/{id}"
        return [self._frame.page(path, self._show), self._frame.form(path, self._decide)]

    async def waiting(self, visitor: Visitor) -> list[OfPlugin]:
        """What waits for a visitor, or was asked for by them, plugin by plugin."""
        caller = await self._frame.visitors.caller(visitor)
        every = []
        for plugin, offer in self._frame.parts.offers.items():
            if offer.pending is not None:
                every.append(await self._of(plugin, offer.pending, caller))
        return [each for each in every if each.requests or each.problem]

    async def _of(self, plugin: str, pending: PendingRequests, caller: Caller) -> OfPlugin:
        try:
            requests = await pending.of(caller)
        except ToolFailed as failed:  # such as: not for this tier
            log.info("pending_not_listed", plugin=plugin, reason=failed.code)
            return OfPlugin(plugin)
        except Exception as error:
            log.warning("pending_not_known", plugin=plugin, reason=type(error).__name__)
            return OfPlugin(plugin, problem="What waits there is not known just now.")
        told = []
        for each in requests:
            by = "you" if each.asked_by == caller.person else await self._called(each.asked_by)
            told.append((each, shown(each.title), by))
        return OfPlugin(plugin, told)

    async def _called(self, person: str) -> str:
        """What to call somebody: their id where they have no name."""
        known = await self._frame.parts.stores.people.get(person)
        return (words.plain(known.name or "") if known else "") or person

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        if visitor.person is None:
            return self._frame.go(visitor, f"/signin?next={quote(request.scope['path'], safe='')}")
        _, found, caller = await self._found(request, visitor)
        return self._frame.render(
            request,
            visitor,
            "approval_of_plugin.html",
            asked=found,
            plugin=request.path_params["plugin"],
            path=request.scope["path"],
            title=shown(found.title),
            reason=shown(found.reason),
            laid=list(laid_out(found.shown)) if found.shown else [],
            digest=_digest(found),
            by=await self._called(found.asked_by),
            is_mine=found.asked_by == caller.person,
        )

    async def _decide(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        if visitor.person is None:
            raise Refused(403, "You are not signed in", "Sign in, and open the page again.")
        check_no_token(request)
        pending, found, caller = await self._found(request, visitor)
        said = fields.one("answer")
        if said not in ("approve", "refuse"):
            raise Refused(400, "This form cannot be read", "Choose to approve or to refuse.")
        if fields.one("request") != _digest(found):
            text = "It has changed since you opened the page. Look at it again."
            return self._frame.go(visitor, request.scope["path"], ("error", text))
        try:
            await pending.decide(found.id, caller, said == "approve", fields.one("note"))
        except ToolFailed as failed:
            return self._frame.go(visitor, request.scope["path"], ("error", failed.message))
        done = "It is approved and done." if said == "approve" else "It is refused."
        return self._frame.go(visitor, "/approvals", ("done", done))

    async def _found(
        self, request: Request, visitor: Visitor
    ) -> tuple[PendingRequests, PendingRequest, Caller]:
        """A request that this person may see; what they may not see is not there."""
        offer = self._frame.parts.offers.get(request.path_params["plugin"])
        caller = await self._frame.visitors.caller(visitor)
        pending = None if offer is None else offer.pending
        if pending is not None:
            try:
                several = await pending.of(caller)
            except ToolFailed as failed:
                raise Refused(403, "Not for you", failed.message) from None
            for each in several:
                if each.id == request.path_params["id"]:
                    return pending, each, caller
        raise Refused(404, "Nothing here for you", _NOT_WAITING)


def check_no_token(request: Request) -> None:
    """Refuse what carries a token: an agent approves nothing, also with its person's cookie.

    Raises:
        Refused: it does.
    """
    if "authorization" in request.headers:
        raise Refused(
            403,
            "A token approves nothing",
            "The request carries a token. Decide in a browser where you are signed in.",
        )


def _digest(found: PendingRequest) -> str:
    """What tells what a page shows from what it would show now."""
    text = json.dumps([found.id, found.title, found.shown, found.reason], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
