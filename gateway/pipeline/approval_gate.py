"""A tool that waits for a person's yes: asked for, found and spent in the moment before it runs.

What is spent is spent: a call that fails, and a portal that is killed in between, take a new yes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_types import InputRequiredResult

from auth.stores import StoreUnavailable
from gateway.approvals.approvals import Approvals
from gateway.approvals.request import OWN_QUESTION, BoundCall, digest_of
from gateway.catalog.approval_rule import ApprovalRule
from gateway.catalog.items import Item
from gateway.contract import ToolFailed
from gateway.errors import PortalError
from gateway.pipeline.approval_answers import needed, page_of, refused
from gateway.pipeline.argument_scrub import ArgumentScrub
from gateway.pipeline.exchange import CallExchange
from gateway.scrubbing.opaque import NOTHING
from gateway.toolkit.client_capabilities import ELICITATION, lacking
from gateway.toolkit.visible_text import visible

if TYPE_CHECKING:
    from gateway.approvals.counting import Voter
    from gateway.approvals.request import ApprovalRequest
    from gateway.approvals.store import Question

MAX_QUESTION_CHARACTERS = 4000
"""Characters of arguments that a question in a client shows. Longer ones are shown on the page: a
yes to what was not shown is none."""

_FORM = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Run it", "default": False}},
    "required": ["approve"],
}


Work = Callable[[], Coroutine[Any, Any, Any]]
"""``await work()`` runs a call."""


class Waiting(NamedTuple):
    """A call that waits.

    Attributes:
        item: the tool.
        operation: the way in, where it has arguments of its own.
        arguments: what would run.
        exchange: the way back to its client.
    """

    item: Item
    operation: str
    arguments: Mapping[str, Any]
    exchange: CallExchange

    @property
    def name(self) -> str:
        """What people are told is to run."""
        return f"{self.item.name} ({self.operation})" if self.operation else self.item.name


class ApprovalGate:
    """Lets a call run once somebody has said yes to it.

    Args:
        approvals: the requests.
        scrub: takes the secrets out of what is kept and shown.
    """

    def __init__(self, approvals: Approvals, scrub: ArgumentScrub) -> None:
        self._approvals = approvals
        self._scrub = scrub

    @property
    def rules(self) -> Mapping[str, ApprovalRule]:
        """The rules in force, by the keys of the tools; mostly there are none."""
        return self._approvals.rules

    def guarded(self, waiting: Waiting, work: Work) -> Work:
        """The same work, which waits for a yes where one is asked for.

        Args:
            waiting: the call.
            work: runs it.
        """
        rules = [rule] if (rule := self.rules.get(waiting.item.key)) else []
        confirm = waiting.exchange.confirm
        if confirm is not None and not waiting.item.reads_only and not any(r.is_own for r in rules):
            rules = [confirm, *rules]
        return partial(self._run, waiting, rules, work) if rules else work

    async def _run(self, waiting: Waiting, rules: Sequence[ApprovalRule], work: Work) -> Any:
        """Run what somebody has said yes to, or ask for the yes.

        Args:
            waiting: the call.
            rules: whose yes it takes; the first is asked for first.
            work: runs it.

        Raises:
            ToolFailed: nobody has said yes yet (``approval_needed``), somebody has refused
                (``approval_refused``), or the database does not answer.
        """
        spent: list[str] = []
        try:
            for rule in rules[:-1]:  # none is spent before all are there
                await self._found(waiting, rule)
            for rule in reversed(rules):
                found = await self._spent(waiting, rule)
                if isinstance(found, InputRequiredResult):
                    return found
                spent.append(found)
        except StoreUnavailable as away:
            raise ToolFailed("unavailable", _AWAY) from away
        except PortalError as no:
            raise ToolFailed(no.code, no.message, no.details) from no
        value = await work()
        if _is_unfinished(value):
            for id in spent:
                await self._approvals.store.unspend(id, waiting.exchange.request_id)
        return value

    def _bound(self, waiting: Waiting, rule: ApprovalRule) -> BoundCall:
        digest = digest_of(
            self._approvals.sealer, waiting.item.key, waiting.operation, waiting.arguments
        )
        version = self._approvals.deciders.version(rule)
        return BoundCall(waiting.exchange.caller.person or "", waiting.item.key, digest, version)

    async def _found(self, waiting: Waiting, rule: ApprovalRule) -> None:
        """Go on where somebody has said yes, which is not spent; else ask, and fail."""
        store, call = self._approvals.store, self._bound(waiting, rule)
        if await store.holds(call):
            return
        asked = await self._begun(call, waiting, rule, in_client=False)
        refuse = refused if asked.state == "refused" else needed
        raise refuse(asked, waiting.exchange.base)

    async def _spent(self, waiting: Waiting, rule: ApprovalRule) -> str | InputRequiredResult:
        """The approval that is spent for the call, or the question that its client is sent."""
        from gateway.approvals.counting import Voter

        caller, store = waiting.exchange.caller, self._approvals.store
        run, call = waiting.exchange.request_id, self._bound(waiting, rule)
        voter = Voter(call.person, (), str(caller.tier), waiting.exchange.surface)
        for id, answer in _own_answers(waiting.exchange):
            if await self._answered(id, answer, call, waiting, voter):
                return id
        if spent := await store.spend(call, run, voter):
            return spent
        if rule.is_own and waiting.exchange.in_person:
            return await self._said_in_person(call, waiting, rule, voter)
        message = await self._question(waiting, rule)
        asked = await self._begun(call, waiting, rule, in_client=bool(message))
        if asked.state == "refused":
            raise refused(asked, waiting.exchange.base)
        if not message:
            raise needed(asked, waiting.exchange.base)
        return await self._ask(asked, message, call, waiting, voter)

    async def _begun(
        self, call: BoundCall, waiting: Waiting, rule: ApprovalRule, *, in_client: bool
    ) -> ApprovalRequest:
        """The request for the call; those who may decide are told of one that is new."""
        store = self._approvals.store
        began = store.clock()
        asked = await store.ask(call, await self._asked(waiting, rule, in_client=in_client))
        if asked.asked >= began:  # it has not waited before
            self._approvals.tell(asked, page_of(asked, waiting.exchange.base))
        return asked

    async def _said_in_person(
        self, call: BoundCall, waiting: Waiting, rule: ApprovalRule, voter: Voter
    ) -> str:
        """The yes of a person whose own form this is; it is written down and spent at once.

        Raises:
            ToolFailed: another form of theirs with the same call was quicker.
        """
        question = await self._asked(waiting, rule, in_client=True)
        asked = await self._approvals.store.ask(call, question)
        run = waiting.exchange.request_id
        if await self._approvals.store.spend_answered(asked.id, call, run, voter):
            return asked.id
        raise needed(asked, waiting.exchange.base)

    async def _ask(
        self,
        asked: ApprovalRequest,
        message: str,
        call: BoundCall,
        waiting: Waiting,
        voter: Voter,
    ) -> str | InputRequiredResult:
        """Ask the caller's own person in their client, in the way of its era."""
        exchange, form = waiting.exchange, _form(message)
        if not exchange.can_ask:
            question = {"method": ELICITATION, "params": form}
            sent: dict[str, Any] = {"inputRequests": {f"{OWN_QUESTION}{asked.id}": question}}
            if exchange.request_state is not None:  # of the round that this one comes in between
                sent["requestState"] = exchange.request_state
            return InputRequiredResult.model_validate(sent)
        try:
            answer = await exchange.ask(ELICITATION, form)
        except ToolFailed as unanswered:
            raise needed(asked, exchange.base) from unanswered
        if await self._answered(asked.id, answer, call, waiting, voter):
            return asked.id
        raise needed(asked, exchange.base)

    async def _answered(
        self, id: str, answer: Any, call: BoundCall, waiting: Waiting, voter: Voter
    ) -> bool:
        """Whether the person's answer in their client lets the call run, which spends it.

        Raises:
            ToolFailed: they said no, or closed the question.
        """
        store, exchange = self._approvals.store, waiting.exchange
        said = _said(answer)
        if said is True:
            return await store.spend_answered(id, call, exchange.request_id, voter)
        asked = await store.get(id)
        if asked is None or asked.call != call or not asked.own or asked.state != "waiting":
            return False
        if said is None:
            raise needed(asked, exchange.base)
        raise refused(await store.decide(id, voter, yes=False), exchange.base)

    async def _question(self, waiting: Waiting, rule: ApprovalRule) -> str:
        """What the caller's person is asked in their client; empty where they cannot be."""
        if not rule.is_own:
            return ""
        shown = visible(json.dumps(await self._shown(waiting), indent=2, ensure_ascii=False))
        exchange = waiting.exchange
        message = f"{waiting.name} is to run with these arguments:\n\n{shown}"
        lacks = lacking(ELICITATION, _form(message), exchange.client_capabilities)
        return "" if lacks or len(shown) > MAX_QUESTION_CHARACTERS else message

    async def _shown(self, waiting: Waiting) -> Mapping[str, Any]:
        """The arguments without secrets, also where the tool is to get them."""
        return (await self._scrub.arguments(waiting.arguments, NOTHING))[0]

    async def _asked(self, waiting: Waiting, rule: ApprovalRule, *, in_client: bool) -> Question:
        from gateway.approvals.store import Question

        caller = waiting.exchange.caller
        person = await self._approvals.people.get(caller.person or "")
        return Question(
            name=waiting.name,
            arguments=await self._shown(waiting),
            who=rule.who,
            quorum=rule.quorum,
            own=rule.is_own,
            in_client=in_client,
            expires=self._approvals.store.clock() + rule.expires,
            tier=str(caller.tier),
            surface=waiting.exchange.surface,
            accounts=tuple(each.subject for each in person.accounts) if person else (),
        )


_AWAY = (
    "The portal's database does not answer just now, and it holds who has said yes to what. "
    "Nothing was run. Try again in a minute."
)


def _form(message: str) -> dict[str, Any]:
    return {"mode": "form", "message": message, "requestedSchema": _FORM}


def _own_answers(exchange: CallExchange) -> list[tuple[str, Any]]:
    """What the client's person answered to the portal's own questions, by the requests' ids."""
    return [
        (name.removeprefix(OWN_QUESTION), answer)
        for name, answer in exchange.own_responses.items()
        if name.startswith(OWN_QUESTION)
    ]


def _said(answer: Any) -> bool | None:
    """What the person said: yes, no, or nothing where they closed the question."""
    given = answer if isinstance(answer, Mapping) else {}
    content = given.get("content")
    if given.get("action") == "accept" and isinstance(content, Mapping):
        return content.get("approve") is True
    return False if given.get("action") == "decline" else None


def _is_unfinished(value: Any) -> bool:
    """Whether a tool asks for more before it is done (MCP 2026-07-28, SEP-2322)."""
    return isinstance(value, InputRequiredResult)
