"""The forms of views: one calls a tool of the view's plugin, and ends at a page that says so.

The mark of a form covers the person's session, the page, the tool and where the form leads, so that
only what a page has shown this person can come back. What the tool is called with is the person's
own to say; the tool's tier and its own rules decide, as for every call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from mcp_types import InputRequiredResult
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateway.approvals.approvals import Approvals
from gateway.approvals.request import ApprovalRequest, PageBack, digest_of
from gateway.catalog.items import Item
from gateway.catalog.views import FORM_FIELDS, FORM_ID, declared_view
from gateway.contract import ToolFailed
from gateway.errors import PortalError
from gateway.pipeline.approval_answers import APPROVAL_NEEDED, NotApproved
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.sent_forms import SentForms, form_key
from gateway.surfaces.pages.tool_calls import Answered
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.address import arguments_of
from gateway.surfaces.views.drawing import environment, plain
from gateway.surfaces.views.links import Links
from gateway.surfaces.views.refilled import refilled
from gateway.surfaces.views.writes import Asked, asked, said

MAX_WRITE_BYTES = 1024 * 1024
"""Bytes of a form: texts of a workflow, and each of their letters may take nine."""
Draw = Callable[[Request, Visitor, CallContext, Item, Mapping[str, Any], Any], Awaitable[Response]]
_AGAIN = " You sent it twice, and it was done once."
_SCRUBBED = " What looked like a secret in it was taken out."


class Done(NamedTuple):
    """A form that was done: of which view, what it asked for, and what the call came to."""

    item: Item
    wanted: Asked
    links: Links
    given: Mapping[str, Any]
    answered: Answered


class Sent(NamedTuple):
    """A form that came in: of which view, and what it asks for."""

    form: PageBack
    item: Item
    wanted: Asked


class Led(NamedTuple):
    """Where a form leads that was done.

    Attributes:
        path: the page.
        text: what it says.
        secret: what it shows this once.
    """

    path: str
    text: str
    secret: str


class NotDone(Refused):
    """A form whose tool has refused it.

    Args:
        status: the HTTP status that says so.
        text: why, and what to do.
        fields: what was sent, where a page may show it again.
    """

    def __init__(self, status: int, text: str, fields: Sequence[tuple[str, str]]) -> None:
        typed = [value for _, value in fields if " " in value]
        super().__init__(status, "That did not work", text, typed=typed)
        self.fields = fields


class ViewWrites:
    """Answers the forms of all plugins' views.

    Args:
        frame: what all pages share.
        approvals: the requests of forms whose tool waits for a person's yes.

    Attributes:
        draw: draws the page of a view, for a form whose answer is shown at once.
    """

    draw: Draw

    def __init__(self, frame: Frame, approvals: Approvals) -> None:
        self._frame = frame
        self._calls = frame.calls
        self._approvals = approvals
        self._sent: SentForms[Response | Led] = SentForms(frame.parts.stores.spent)

    async def answer(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        """Call the tool that a form is for, and go to where it leads."""
        form = PageBack(request.scope["path"], fields.one("request"))
        item, wanted = self._wanted(form)
        id = "" if wanted.write.shows else fields.one(FORM_ID)  # a look may be had again
        key = form_key(visitor.binding, form.path, fields.values, id)
        sent = Sent(form, item, wanted)
        work = partial(self._answered, request, visitor, fields, sent)
        try:
            outcome = await self._sent.once(key, work)
        except NotDone as refused:
            page = await self._once_more(request, visitor, sent, refused)
            if page is None:
                raise
            return page
        return self._told(visitor, outcome.value, again=outcome.again)

    async def _once_more(
        self, request: Request, visitor: Visitor, sent: Sent, refused: NotDone
    ) -> Response | None:
        """The page that a form stands on, as it is now, with what was typed and why it failed.

        None where the page does not show the form any more, or must not repeat what was sent.
        """
        if not refused.fields:
            return None
        item, here = sent.item, sent.wanted.here
        context = await self._calls.context(request, visitor)
        answered = Answered()
        if here or not self._needs(item, context):
            tool = declared_view(item).tool
            answered = await self._calls.call(context, item.plugin, tool, here, counted=True)
        if answered.error is not None:
            return None
        page = await self.draw(request, visitor, context, item, here, answered.value)
        typed: dict[str, list[str]] = {}
        for name, value in refused.fields:
            typed.setdefault(name, []).append(value)
        html = refilled(bytes(page.body).decode(), typed, sent.form.form, refused.text)
        if html is None:
            return None
        page.status_code, page.body = refused.status, html.encode()
        page.headers["content-length"] = str(len(page.body))
        return page

    def _needs(self, item: Item, context: CallContext) -> bool:
        """Whether the tool of a view's page takes arguments that it cannot do without."""
        links = Links(self._calls.catalog, item.plugin, "", context.caller)
        return bool(links.schema(declared_view(item).tool).get("required"))

    async def _answered(
        self, request: Request, visitor: Visitor, fields: Fields, sent: Sent
    ) -> Response | Led:
        form, item, wanted = sent
        context = await self._calls.context(request, visitor)
        links = Links(self._calls.catalog, item.plugin, "", context.caller)
        typed = _typed_in(fields)
        given = arguments_of(typed, links.schema(wanted.write.tool))
        # What holds a token may be an agent, also with its person's cookie.
        own = visitor.person is not None and "authorization" not in request.headers
        answered = await self._calls.call(
            context, item.plugin, wanted.write.tool, given, counted=True, in_person=own
        )
        if own and (asks := asked_for(answered.error)):
            return await self.wait(visitor, asks, form)
        if answered.error is not None:
            raise _refusal(answered.error, () if answered.scrubbed else typed)
        return await self._done(
            request, visitor, context, Done(item, wanted, links, given, answered)
        )

    def _told(self, visitor: Visitor, found: Response | Led, *, again: bool = False) -> Response:
        """The answer to the browser; one that was sent before says so."""
        if isinstance(found, Response):
            return found
        text = found.text + _AGAIN if again else found.text
        return self._frame.go(visitor, found.path, ("done", text), found.secret)

    async def wait(self, visitor: Visitor, asks: ApprovalRequest, back: PageBack) -> Response:
        """Go to the page of the request that a call waits for, from which its person goes on.

        Args:
            visitor: who has called, in a browser where they are signed in.
            asks: the request.
            back: where it goes on.
        """
        waits = await self._approvals.store.lead_back(asks.id, asks.call.person, back)
        text = WAITS if waits else _ENDED
        return self._frame.go(visitor, f"/approvals/{asks.id}", ("done", text))

    async def run(self, request: Request, visitor: Visitor, approved: ApprovalRequest) -> Response:
        """Do what a form has asked for, now that it is approved; go to where the form leads.

        Args:
            request: asks for it.
            visitor: whose form it was.
            approved: what was approved; a form has asked for it.

        Raises:
            Refused: it cannot be done from what is kept of it, or has failed.
        """
        form, given = approved.back, approved.arguments or {}
        if form is None or not form.form:
            raise TypeError(f"no form has asked for {approved.id}")
        key = approved.call
        if digest_of(self._approvals.sealer, key.item, "", given) != key.digest:
            raise Refused(409, "Send the form once more", _NOT_KEPT)
        item, wanted = self._wanted(form)
        context = await self._calls.context(request, visitor)
        links = Links(self._calls.catalog, item.plugin, "", context.caller)
        answered = await self._calls.call(
            context, item.plugin, wanted.write.tool, given, counted=True
        )
        if asked_for(answered.error):
            text = "Its yes is spent: it has run already, in this moment. It waits for a new one."
            return self._frame.go(visitor, f"/approvals/{approved.id}", ("error", text))
        if answered.error is not None:
            raise _refusal(answered.error)
        done = Done(item, wanted, links, given, answered)
        return self._told(visitor, await self._done(request, visitor, context, done))

    def _wanted(self, form: PageBack) -> tuple[Item, Asked]:
        """The view whose form it is, and what the form asks for."""
        item = self._calls.catalog.views.at(form.path)
        if item is None:  # it was there when the page was opened
            raise HTTPException(404)
        try:
            return item, asked(declared_view(item), form.form)
        except ValueError as error:
            text = f"The page has changed since you opened it: {error}. Load it again."
            raise Refused(409, "This form is out of date", text) from None

    async def _done(
        self, request: Request, visitor: Visitor, context: CallContext, done: Done
    ) -> Response | Led:
        item, wanted, links, given, answered = done
        if isinstance(answered.value, InputRequiredResult):
            text = "This asks something back, which a page cannot show. Do it from your client."
            raise Refused(400, "Not from here", text)
        if wanted.write.shows:
            shown = self._calls.catalog.views.at(links.path(wanted.write.tool))
            if shown is None:
                raise HTTPException(404)
            told = {} if answered.scrubbed else given
            return await self.draw(request, visitor, context, shown, told, answered.value)
        return _ended(item, wanted, links, given, answered)


WAITS = "Nothing has run yet: it waits for a person's yes. Below is what would run."
"""What a page says whose call waits."""
_ENDED = "The same was sent twice, and the other came first. See below what has become of it."
_NOT_KEPT = (
    "What you sent held something that looks like a secret, and the portal does not keep those. It "
    "is approved: send the same form once more from its page, and it runs."
)


def asked_for(error: Exception | None) -> ApprovalRequest | None:
    """The request that a call waits for; None where it has ended otherwise."""
    if isinstance(error, NotApproved) and error.code == APPROVAL_NEEDED:
        return error.asked
    return None


def _ended(
    item: Item, wanted: Asked, links: Links, given: Mapping[str, Any], answered: Answered
) -> Led:
    """Where a form leads once it is done, and what the page there says."""
    result = plain(answered.value)
    templates = environment(declared_view(item).template.parent)
    typed = {} if answered.scrubbed else given
    text = said(templates, wanted.write.said, result, typed)
    secret = said(templates, wanted.write.shown_once, result, typed)
    goal = wanted.goal.reached(result)
    path = links.address(goal.tool, **goal.arguments) or "/"
    return Led(path, text + _SCRUBBED if answered.scrubbed else text, secret)


def _typed_in(fields: Fields) -> list[tuple[str, str]]:
    """What the person has sent, with the ends of lines as texts have them."""
    return [
        (name, value.replace("\r\n", "\n"))
        for name, values in fields.values.items()
        if name not in FORM_FIELDS
        for value in values
    ]


def _refusal(error: Exception, fields: Sequence[tuple[str, str]] = ()) -> NotDone:
    """Why a form was not done, with what was typed into it, so that it is not lost."""
    status, text = 500, str(error)
    if isinstance(error, PortalError):
        status = error.status
    elif isinstance(error, ToolFailed):
        status, text = 400, error.on_page
    return NotDone(status, text, fields)
