"""``/approvals``: what waits for the person in front of the browser, and what they say to it.

Only a browser's session decides here. A request that carries a token is refused, whoever's it is:
what holds a token may be an agent, and an agent approves nothing.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.callers import Caller, Identity
from auth.stores import Person
from gateway.approvals.approvals import Approvals
from gateway.approvals.counting import Voter
from gateway.approvals.deciders import Decider
from gateway.approvals.request import ApprovalRequest
from gateway.errors import PortalError
from gateway.observability.logs import get_logger
from gateway.surfaces.pages import words
from gateway.surfaces.pages.approvals_of_plugins import PluginRequests, check_no_token
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.view_writes import ViewWrites
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.laid_out import laid_out, shown

HERE = "/approvals"

log = get_logger(__name__)


class ApprovalPages:
    """The pages below ``/approvals``.

    Args:
        frame: what all pages share.
        approvals: the requests before tools run.
        writes: does what a form has asked for, once it is approved.
    """

    def __init__(self, frame: Frame, approvals: Approvals, writes: ViewWrites) -> None:
        self._frame = frame
        self._approvals = approvals
        self._writes = writes
        self._of_plugins = PluginRequests(frame)

    def routes(self) -> list[Route]:
        """The routes."""
        one = HERE + "/{id}"
        return [
            self._frame.page(HERE, self._list),
            self._frame.page(one, self._show),
            self._frame.form(one, self._decide),
            *self._of_plugins.routes(),
        ]

    async def _list(self, request: Request, visitor: Visitor) -> Response:
        identity = visitor.identity
        if identity is None:
            return self._sign_in(visitor, HERE)
        decider = self._approvals.deciders.seen_by(identity)
        store = self._approvals.store
        mine = list(reversed(await store.of(identity.person)))
        waiting = [
            each
            for each in await store.open()
            if each.state == "waiting" and await decider.may_decide(each)
        ]
        return self._frame.render(
            request,
            visitor,
            "approvals.html",
            waiting=[await self._line(each) for each in waiting],
            mine=[await self._line(each) for each in mine if each not in waiting],
            plugins=await self._of_plugins.waiting(visitor),
        )

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        id = request.path_params["id"]
        if visitor.identity is None:
            return self._sign_in(visitor, f"{HERE}/{id}")
        found, decider = await self._found(id, visitor.identity)
        values = await self._line(found)
        return self._frame.render(
            request,
            visitor,
            "approval.html",
            **values,
            note=shown(found.note or ""),
            laid=list(laid_out(found.arguments)) if found.arguments else [],
            may_approve=await decider.may_decide(found) and found.state == "waiting",
            may_refuse=found.state in ("waiting", "approved") and await decider.may_see(found),
            is_mine=decider.is_asker(found),
            voices=[await self._called(each.person) for each in found.votes if each.yes],
        )

    async def _decide(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, identity = visitor.person, visitor.identity
        if person is None or identity is None:
            raise Refused(403, "You are not signed in", "Sign in, and open the page again.")
        check_no_token(request)
        id, said = request.path_params["id"], fields.one("answer")
        if said not in ("approve", "refuse", "run"):
            raise Refused(400, "This form cannot be read", "Choose to approve or to refuse.")
        found, decider = await self._found(id, identity)
        if said == "run":
            return await self._go_on(request, visitor, found, decider)
        yes = said == "approve"
        if yes and not await decider.may_decide(found):
            raise Refused(403, "Not yours to approve", _NOT_YOURS)
        caller = await self._frame.visitors.caller(visitor)
        try:
            decided = await self._approvals.store.decide(
                id,
                _voter(person, caller),
                yes=yes,
                note=fields.one("note"),
                digest=fields.one("request"),
            )
        except PortalError as no:
            return self._frame.go(visitor, f"{HERE}/{id}", ("error", no.message))
        log.info("approval_decided", approval=id, person=person.id, state=decided.state)
        if decided.state == "approved" and decided.own and decided.back is not None:
            return await self._go_on(request, visitor, decided, decider)
        return self._frame.go(visitor, f"{HERE}/{id}", ("done", _done(decided, yes)))

    async def _go_on(
        self, request: Request, visitor: Visitor, found: ApprovalRequest, decider: Decider
    ) -> Response:
        """Go on with what a page of this person has asked for, now that it is approved."""
        back = found.back
        if back is None or found.state != "approved" or not decider.is_asker(found):
            text = "It has run already, or is not approved. See below how it is."
            return self._frame.go(visitor, f"{HERE}/{found.id}", ("error", text))
        if not back.form:  # a page that only shows something: it asks by itself
            return self._frame.go(visitor, back.path)
        return await self._writes.run(request, visitor, found)

    async def _found(self, id: str, identity: Identity) -> tuple[ApprovalRequest, Decider]:
        """A request that this person may see; what they may not see is not there."""
        decider = self._approvals.deciders.seen_by(identity)
        found = await self._approvals.store.get(id)
        if found is None or not await decider.may_see(found):
            raise Refused(404, "Nothing here for you", _NOTHING)
        return found, decider

    async def _line(self, each: ApprovalRequest) -> dict[str, Any]:
        """What the pages show of a request."""
        return {"asked": each, "name": shown(each.name), "by": await self._called(each.call.person)}

    async def _called(self, person: str) -> str:
        """What to call somebody."""
        known = await self._approvals.people.get(person)
        name = words.plain(known.name or "") if known else ""
        return f"{name} ({person})" if name else person

    def _sign_in(self, visitor: Visitor, following: str) -> Response:
        return self._frame.go(visitor, f"/signin?next={quote(following, safe='')}")


_NOTHING = (
    "There is no such request that you may see. What waits for others is theirs alone; a request "
    "under rules that have changed waits for nobody."
)
_NOT_YOURS = (
    "The rule that asked does not name you, or the call is your own: then it takes somebody else."
)


def _voter(person: Person, caller: Caller) -> Voter:
    accounts = tuple(each.subject for each in person.accounts)
    return Voter(person.id, accounts, str(caller.tier))


def _done(decided: ApprovalRequest, yes: bool) -> str:
    if not yes:
        return "It is refused, and will not run."
    if decided.state == "approved":
        return f"It is approved: {decided.name} runs once, when it is called again."
    left = decided.quorum - decided.yeses
    return f"Your yes counts. It takes {left} more."
