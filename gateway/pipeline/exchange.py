"""The call that is running now, as its item sees it, and the way back to its client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from auth.tokens.assertions import Assertion, Assertions, OwnAudience
from gateway.catalog.items import Item
from gateway.contract import Absent, Caller, Exchange, ToolFailed
from gateway.pipeline.argument_scrub import ArgumentScrub
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.caller_meta import handed_on
from gateway.scrubbing.scrubber import Redaction

if TYPE_CHECKING:
    from gateway.catalog.approval_rule import ApprovalRule
    from gateway.pipeline.bulkheads import Lent
    from gateway.pipeline.call import Call
    from gateway.pipeline.question_clock import QuestionClock

Gate = Callable[[str, str, Caller], bool]
"""``gate(plugin, tool, caller)``: whether a caller may use a tool, by its declared name."""


CallTool = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""``await call(key, arguments)``: what another tool answers the caller of a call."""


Missing = Callable[[CallContext, str | None], Awaitable[Sequence[Absent]]]
"""``await missing(context, name)``: what the caller of a call does not see, and why."""


def closed(plugin: str, tool: str, caller: Caller) -> bool:
    """The gate that lets nobody through."""
    return False


class Others(NamedTuple):
    """What else of the portal the caller of a call may use, or does not see.

    Attributes:
        allows: whether they may use a tool.
        missing: what they do not see, and why.
        assertions: says who they are to others.
    """

    allows: Gate
    missing: Missing
    assertions: Assertions


_NO_RESPONSES: Mapping[str, Any] = MappingProxyType({})


class Resumption(NamedTuple):
    """What a call brings along that goes on with an earlier one (MCP 2026-07-28, SEP-2322).

    Attributes:
        state: as ``Exchange.request_state``.
        responses: as ``Exchange.input_responses``; they may still hold secrets.
        own: the answers to the portal's own questions, likewise.
    """

    state: str | None = None
    responses: Mapping[str, Any] | None = None
    own: Mapping[str, Any] = _NO_RESPONSES


class Client(Protocol):
    """The way back to a client while its call runs."""

    @property
    def mark(self) -> str:
        """What stands for its session; empty where it has none."""
        ...

    @property
    def name(self) -> str:
        """As ``Exchange.client_name``."""
        ...

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """As ``Exchange.client_capabilities``."""
        ...

    @property
    def can_ask(self) -> bool:
        """As ``Exchange.can_ask``."""
        ...

    @property
    def log_level(self) -> str | None:
        """As ``Exchange.log_level``."""
        ...

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """As ``Exchange.progress``."""
        ...

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """As ``Exchange.log``."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """As ``Exchange.ask``; the answer may still hold secrets."""
        ...

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """As ``Exchange.link_asked``."""
        ...


class NoClient:
    """Nobody to tell or to ask: REST, ``porch call``, jobs. Progress and logs go nowhere."""

    mark = ""
    name = ""
    capabilities: Mapping[str, Any] = {}
    can_ask = False
    log_level: str | None = None

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop the report: nobody asked for it."""

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Drop the message: nobody asked for it."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse: there is no one to ask."""
        raise ToolFailed("cannot_ask", f"This caller's connection cannot answer {method}.")

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """Nobody is asked, so nobody is told."""
        return lambda: None


NO_CLIENT = NoClient()


def no_call(key: str) -> ToolFailed:
    """Why a tool is not called where no call runs."""
    return ToolFailed("no_call", f"{key} is not called: no call runs whose caller may use it.")


def nobody_calls() -> ToolFailed:
    """Why nothing is said of a caller where no call runs."""
    return ToolFailed("no_call", "No call runs whose caller something could be said of.")


class SilentExchange(NoClient):
    """The exchange outside of any call: there is no client, and nothing is allowed."""

    request_id = ""
    client = ""
    client_name = ""
    client_capabilities: Mapping[str, Any] = {}
    input_responses: Mapping[str, Any] | None = None
    request_state: str | None = None
    credential: str | None = None
    meta: Mapping[str, Any] = {}
    base = ""

    def allows(self, tool: str, caller: Caller | None = None) -> bool:
        """Nobody calls, so nobody may use anything."""
        return False

    async def missing(self, name: str | None = None) -> Sequence[Absent]:
        """Nobody calls, so nobody misses anything."""
        return ()

    async def call(self, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nobody calls, so nothing is called for them."""
        raise no_call(key)

    async def assertion(self, audience: str) -> Assertion:
        """Nobody calls, so nothing is said of them."""
        raise nobody_calls()


class CallExchange:
    """The :class:`gateway.contract.Exchange` of one call; only the pipeline makes and ends it.

    Args:
        call: the call.
        item: what runs.
        others: says what else the caller may use.
        inner: calls another tool for the caller.
        scrub: takes the secrets out of what the client answers.
        clock: stops the call's deadline while a person is asked.

    Attributes:
        credential: as ``Exchange.credential``.
        redactions: what was taken out of the call's arguments and of the client's answers.
        place: the call's place among those of its plugin, once it has one.
        input_responses: as ``Exchange.input_responses``.
        own_responses: the client's answers to the portal's own questions.
        request_state: as ``Exchange.request_state``.
    """

    __slots__ = (
        "_call",
        "_client",
        "_context",
        "_given_meta",
        "_inner",
        "_item",
        "_meta",
        "_others",
        "_over",
        "_scrub",
        "clock",
        "credential",
        "input_responses",
        "own_responses",
        "place",
        "redactions",
        "request_state",
    )

    def __init__(
        self,
        call: Call,
        item: Item,
        others: Others,
        inner: CallTool,
        scrub: ArgumentScrub,
        clock: QuestionClock,
    ) -> None:
        self._call = call
        self._context = call.context
        self._item = item
        self._client = call.client
        self._others = others
        self._inner = inner
        self._scrub = scrub
        self._meta: Mapping[str, Any] | None = None
        self._given_meta = call.meta
        self._over = False
        self.credential = call.credential(item.plugin)
        self.clock = clock
        self.place: Lent | None = None
        self.redactions: tuple[Redaction, ...] = ()
        self.input_responses: Mapping[str, Any] | None = None
        self.own_responses: Mapping[str, Any] = _NO_RESPONSES
        self.request_state: str | None = None

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self._context.caller

    @property
    def base(self) -> str:
        """The portal's address as the client sees it."""
        return self._context.base

    @property
    def surface(self) -> str:
        """What the audit record calls the way in."""
        return self._context.way(self._call.surface)

    @property
    def in_person(self) -> bool:
        """Whether the caller's own person has sent the call's form."""
        return self._call.in_person

    @property
    def confirm(self) -> ApprovalRule | None:
        """Whose yes whatever may write waits for (``Call.confirm``)."""
        return self._call.confirm

    @property
    def request_id(self) -> str:
        """As ``Exchange.request_id``."""
        return self._context.request_id

    @property
    def client(self) -> str:
        """As ``Exchange.client``."""
        if mark := self._client.mark:
            return f"session {mark}"
        person = self._context.caller.person
        return f"person {person}" if person is not None else ""

    @property
    def client_name(self) -> str:
        """As ``Exchange.client_name``; its secrets are taken out."""
        found = self._scrub.now({"name": self._client.name})[0]["name"]
        return str(found)

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """As ``Exchange.client_capabilities``."""
        return self._client.capabilities

    @property
    def can_ask(self) -> bool:
        """As ``Exchange.can_ask``."""
        return self._client.can_ask

    @property
    def log_level(self) -> str | None:
        """As ``Exchange.log_level``."""
        return self._client.log_level

    @property
    def meta(self) -> Mapping[str, Any]:
        """As ``Exchange.meta``; its secrets are taken out when it is first asked for."""
        if self._meta is None:
            handed = handed_on(self._given_meta)
            self._meta = self._scrubbed(handed) if handed else handed
        return self._meta

    def allows(self, tool: str, caller: Caller | None = None) -> bool:
        """As ``Exchange.allows``; what a call leaves behind acts for nobody."""
        who = caller or self._context.caller
        return not self._over and self._others.allows(self._item.plugin, tool, who)

    async def missing(self, name: str | None = None) -> Sequence[Absent]:
        """As ``Exchange.missing``."""
        return () if self._over else await self._others.missing(self._context, name)

    async def call(self, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """As ``Exchange.call``; what a call leaves behind acts for nobody."""
        if self._over or self.place is None:
            raise no_call(key)
        with self.place:
            return await self._inner(key, arguments)

    async def assertion(self, audience: str) -> Assertion:
        """As ``Exchange.assertion``; what a call leaves behind speaks for nobody."""
        if self._over:
            raise nobody_calls()
        if (person := self._context.caller.person) is None:
            raise ToolFailed("sign_in_needed", "Nobody has signed in. Sign in to the portal first.")
        try:
            return self._others.assertions.about(person, audience, self._context.base)
        except OwnAudience as own:
            raise ToolFailed("bad_audience", str(own)) from None

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """As ``Exchange.progress``."""
        await self._client.progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """As ``Exchange.log``."""
        await self._client.log(level, data, logger)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """As ``Exchange.ask``; what the client answers loses its secrets on the way."""
        return self._scrubbed(await self.clock.ask(self._client, method, params))

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """As ``Exchange.link_asked``."""
        return self._client.link_asked(elicitation)

    def resume(self, before: Resumption) -> None:
        """Go on with an earlier call, whose answers lose their secrets as well."""
        self.request_state, self.own_responses = before.state, before.own
        if before.responses:
            self.input_responses = self._scrubbed(before.responses)

    def _scrubbed(self, answered: Mapping[str, Any]) -> Mapping[str, Any]:
        cleaned, found = self._scrub.now(answered)
        self.redactions += tuple(found)
        return cleaned

    def end(self) -> None:
        """The call is over: what it has begun may outlive it, and sees the same exchange."""
        self._over = True
        self.credential = None


_SILENT = SilentExchange()
_current: ContextVar[Exchange] = ContextVar("exchange", default=_SILENT)


def current_exchange() -> Exchange:
    """The exchange of the call that is running now; a silent one outside of any call."""
    return _current.get()


def enter(exchange: Exchange) -> Token[Exchange]:
    """Make an exchange the current one, until :func:`leave`."""
    return _current.set(exchange)


def leave(entered: Token[Exchange]) -> None:
    """Make the exchange before the current one again."""
    _current.reset(entered)
