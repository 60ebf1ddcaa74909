"""The pages below ``/chat``: conversations to read, to write in, and to decide what waits.

Without scripts a message is a form, and the page shows the whole answer once it is there.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth import BadCredential, Caller
from gateway.approvals.approvals import Approvals
from gateway.approvals.counting import Voter
from gateway.assistant.assistant import Assistant
from gateway.assistant.conversation import MAX_QUESTION_CHARACTERS, Conversation, Turn
from gateway.budgets.left import BudgetLeft
from gateway.errors import PortalError
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.assistant.api import exported
from gateway.surfaces.assistant.following import Following
from gateway.surfaces.pages.approvals_of_plugins import check_no_token
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.laid_out import laid_out, shown
from gateway.surfaces.views.markdown import markdown

HERE = "/chat"
MAX_FORM_BYTES = 10 * MAX_QUESTION_CHARACTERS
"""Bytes of a form: each letter of a message may take nine."""


class ChatPages:
    """The pages.

    Args:
        frame: what all pages share.
        assistant: answers.
        approvals: what waits for a yes.
        following: opens streams.
    """

    def __init__(
        self, frame: Frame, assistant: Assistant, approvals: Approvals, following: Following
    ) -> None:
        self._frame = frame
        self._assistant = assistant
        self._approvals = approvals
        self._following = following

    def routes(self) -> list[Route]:
        """The routes."""
        frame, one = self._frame, HERE + "/{id}"
        return [
            frame.page(HERE, self._list),
            frame.form(HERE, self._ask, MAX_FORM_BYTES),
            frame.page(one, self._show),
            frame.form(one, self._ask, MAX_FORM_BYTES),
            frame.page(one + "/stream", self._stream),
            frame.page(one + "/export", self._export),
            frame.form(one + "/stop", self._stop),
            frame.form(one + "/continue", self._go_on),
            frame.form(one + "/answer", self._decide),
            frame.form(one + "/rename", self._rename),
            frame.form(one + "/delete", self._delete),
        ]

    # To read.

    async def _list(self, request: Request, visitor: Visitor) -> Response:
        if visitor.person is None:
            return self._sign_in(visitor, HERE)
        mine = await self._assistant.store.list(visitor.person.id)
        return self._frame.render(
            request,
            visitor,
            "chat/conversations.html",
            conversations=mine,
            longest=MAX_QUESTION_CHARACTERS,
            budget=await self._budget(visitor),
        )

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        if visitor.person is None:
            return self._sign_in(visitor, f"{HERE}/{request.path_params['id']}")
        found = await self._found(request, visitor)
        turns = [await self._shown(each, each is found.last) for each in found.turns]
        return self._frame.render(
            request,
            visitor,
            "chat/conversation.html",
            chat=found,
            turns=turns,
            last=found.last,
            longest=MAX_QUESTION_CHARACTERS,
            budget=await self._budget(visitor),
        )

    async def _shown(self, turn: Turn, is_last: bool) -> dict[str, Any]:
        """What the page shows of a turn."""
        parts: list[dict[str, Any]] = []
        for part in turn.parts:
            if part["kind"] == "text":
                parts.append({"kind": "text", "html": markdown(part["text"])})
                continue
            asked = None
            if is_last and part["state"] == "waiting" and part["approval"] is not None:
                asked = await self._approvals.store.get(part["approval"]["id"])
            laid = list(laid_out(part["arguments"])) if part["arguments"] else []
            title = shown(part["title"])
            parts.append({**part, "laid": laid, "asked": asked, "title": title})
        return {"turn": turn, "parts": parts, "is_last": is_last}

    async def _stream(self, request: Request, visitor: Visitor) -> Response:
        if visitor.person is None:
            return Response(status_code=204)
        last = (await self._found(request, visitor)).last
        heard = request.headers.get("last-event-id", "")
        if last is None or (last.state != "running" and not heard):
            return Response(status_code=204)
        context = await self._context(request, visitor)
        try:
            return self._following.response(context, visitor.person.id, last, heard)
        except PortalError as full:
            return Response(full.message, full.status)

    async def _export(self, request: Request, visitor: Visitor) -> Response:
        found = await self._found(request, visitor)
        try:
            return exported(found, request.query_params.get("format", "markdown"))
        except PortalError as error:
            raise Refused(error.status, "Not in this format", error.message) from None

    # To write.

    async def _ask(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        self._person(visitor)
        context, id = await self._context(request, visitor), request.path_params.get("id")
        try:
            turn = await self._assistant.ask(context, fields.one("message"), id)
        except PortalError as no:
            typed = (fields.one("message"),)
            raise Refused(no.status, "That was not taken", no.message, typed=typed) from None
        return self._to(visitor, turn.conversation, turn.number)

    async def _stop(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, found = self._person(visitor), await self._found(request, visitor)
        turn = await self._assistant.stop(person, found.id)
        return self._to(visitor, found.id, turn.number)

    async def _go_on(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        return await self._went_on(request, visitor, (await self._found(request, visitor)).id)

    async def _decide(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        """A yes or a no to a call of the assistant; the last one has it go on."""
        person, identity = visitor.person, visitor.identity
        found, said = await self._found(request, visitor), fields.one("answer")
        if person is None or identity is None or said not in ("approve", "refuse"):
            raise Refused(400, "This form cannot be read", "Choose to approve or to refuse.")
        check_no_token(request)
        asked = await self._approvals.store.get(fields.one("approval"))
        awaited = {each["id"] for each in (found.last.awaited if found.last else ())}
        decider = self._approvals.deciders.seen_by(identity)
        if asked is None or asked.id not in awaited or not await decider.may_decide(asked):
            raise Refused(403, "Not yours to decide", "This waits for somebody else, or no more.")
        accounts = tuple(each.subject for each in person.accounts)
        caller = await self._frame.visitors.caller(visitor)
        voter, digest = Voter(person.id, accounts, str(caller.tier)), fields.one("request")
        try:
            await self._approvals.store.decide(
                asked.id, voter, yes=said == "approve", digest=digest
            )
        except PortalError as no:
            return self._frame.go(visitor, f"{HERE}/{found.id}", ("error", no.message))
        for id in awaited - {asked.id}:
            other = await self._approvals.store.get(id)
            if other is not None and other.state == "waiting":
                return self._to(visitor, found.id, found.last.number if found.last else 1)
        return await self._went_on(request, visitor, found.id)

    async def _rename(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, found = self._person(visitor), await self._found(request, visitor)
        try:
            await self._assistant.store.rename(person, found.id, fields.one("title"))
        except PortalError as no:
            return self._frame.go(visitor, f"{HERE}/{found.id}", ("error", no.message))
        return self._frame.go(visitor, f"{HERE}/{found.id}", ("done", "It has its new title."))

    async def _delete(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        person, found = self._person(visitor), await self._found(request, visitor)
        await self._assistant.store.delete(person, found.id)
        return self._frame.go(visitor, HERE, ("done", "The conversation is deleted."))

    # How.

    async def _budget(self, visitor: Visitor) -> BudgetLeft | None:
        return await self._assistant.budget(await self._frame.visitors.caller(visitor))

    async def _went_on(self, request: Request, visitor: Visitor, id: str) -> Response:
        context = await self._context(request, visitor)
        try:
            turn = await self._assistant.go_on(context, id)
        except PortalError as no:
            return self._frame.go(visitor, f"{HERE}/{id}", ("error", no.message))
        return self._to(visitor, id, turn.number)

    async def _context(self, request: Request, visitor: Visitor) -> CallContext:
        """Who asks; as they still are when an answer takes its next step."""
        context = await self._frame.calls.context(request, visitor)
        if "authorization" in request.headers:
            return context

        async def again() -> Caller:
            now = await self._frame.visitors.of(request)
            if now.person is None:
                raise BadCredential("The browser is signed in no more.")
            return await self._frame.visitors.caller(now)

        return context._replace(again=again)

    async def _found(self, request: Request, visitor: Visitor) -> Conversation:
        try:
            id = request.path_params["id"]
            return await self._assistant.store.get(self._person(visitor), id)
        except PortalError as no:
            raise Refused(no.status, "Nothing here for you", no.message) from None

    def _person(self, visitor: Visitor) -> str:
        if visitor.person is None:
            raise Refused(403, "You are not signed in", "Sign in, and open the page again.")
        return visitor.person.id

    def _to(self, visitor: Visitor, id: str, number: int) -> Response:
        return self._frame.go(visitor, f"{HERE}/{id}#turn-{number}")

    def _sign_in(self, visitor: Visitor, following: str) -> Response:
        return self._frame.go(visitor, f"/signin?next={quote(following, safe='')}")
