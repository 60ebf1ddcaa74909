"""What a plugin in a process of its own is given in place of the portal's own parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic_core import to_jsonable_python

from auth import Tier
from gateway.contract import Absent, Assertion, Attribution, Caller, CollectionSpec, Fellow
from gateway.pipeline.exchange import current_exchange


class NotIsolated(Exception):
    """A plugin uses what only the portal's own process has; the message says what."""


class NoVectors:
    """The embedded vector store, which one process alone can open."""

    own = False

    async def collection(self, name: str, spec: CollectionSpec) -> NoReturn:
        """Refuse."""
        raise NotIsolated("uses the embedded vector store (services.vectors: a Qdrant server may)")

    async def drop(self, name: str) -> NoReturn:
        """Refuse."""
        await self.collection(name, CollectionSpec())


class NoJobs:
    """The jobs, which the portal runs."""

    async def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotIsolated("uses jobs")

    enqueue = status = list = cancel = _refuse


@dataclass(frozen=True, slots=True)
class CallContext:
    """What the portal says of a call along with it.

    Attributes:
        request_id: as ``Exchange.request_id``, like ``capabilities``, ``client_name``, ``can_ask``,
            ``log_level``, ``input_responses``, ``request_state``, ``credential`` and ``base``.
        tools: the plugin's tools that the caller may use.
        groups: the groups that there are (``People.groups``).
        meta: as ``Exchange.meta``.
    """

    request_id: str = ""
    capabilities: Mapping[str, Any] | None = None
    client_name: str = ""
    can_ask: bool = False
    log_level: str | None = None
    input_responses: Mapping[str, Any] | None = None
    request_state: str | None = None
    credential: str | None = None
    tools: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    meta: Mapping[str, Any] | None = None
    client: str = ""
    base: str = ""


class ChildExchange:
    """The exchange of a call, whose client the portal speaks to.

    Args:
        number: the call's number.
        context: what the portal has said of it.
        send: sends the portal a message.
        ask: sends it a question, and awaits the answer.
    """

    def __init__(
        self,
        number: int,
        context: CallContext,
        send: Callable[..., None],
        ask: Callable[..., Awaitable[Any]],
    ) -> None:
        self.number = number
        self.request_id = context.request_id
        self.client = context.client
        self.base = context.base
        self.client_capabilities: Mapping[str, Any] = context.capabilities or {}
        self.client_name = context.client_name
        self.can_ask = context.can_ask
        self.log_level = context.log_level
        self.input_responses = context.input_responses
        self.request_state = context.request_state
        self.credential = context.credential
        self.meta: Mapping[str, Any] = context.meta or {}
        self._tools = context.tools
        self._send = send
        self._ask = ask

    def allows(self, tool: str, caller: Caller | None = None) -> bool:
        """As ``Exchange.allows``; of others than the caller nothing is known here."""
        return caller is None and tool in self._tools

    async def missing(self, name: str | None = None) -> Sequence[Absent]:
        """As ``Exchange.missing``."""
        found = await self._ask("missing", self.number, name)
        return [Absent(**each) for each in found]

    async def call(self, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """As ``Exchange.call``."""
        result: Mapping[str, Any] = await self._ask(
            "call", self.number, key, to_jsonable_python(arguments)
        )
        return result

    async def assertion(self, audience: str) -> Assertion:
        """As ``Exchange.assertion``."""
        return Assertion(*await self._ask("assertion", self.number, audience))

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """As ``Exchange.progress``."""
        self._send("progress", self.number, done, total, message)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """As ``Exchange.log``."""
        self._send("log", self.number, level, to_jsonable_python(data), logger)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """As ``Exchange.ask``."""
        answer: Mapping[str, Any] = await self._ask(
            "ask", self.number, method, to_jsonable_python(params)
        )
        return answer

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """As ``Exchange.link_asked``."""
        self._send("link_asked", self.number, elicitation)
        return lambda: self._send("link_done", elicitation)

    def end(self) -> None:
        """The call is over: what it has begun may outlive it, and acts for nobody."""
        self._tools = frozenset()
        self.credential = None


class ChildPeople:
    """The people of the portal.

    Args:
        ask: sends the portal a question, and awaits the answer.
    """

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask
        self.known_groups: frozenset[str] = frozenset()

    async def names(self, ids: Collection[str]) -> Mapping[str, str]:
        """As ``People.names``."""
        names: Mapping[str, str] = await self._ask("names", 0, list(ids))
        return names

    async def attribution(self, person: str) -> Attribution | None:
        """As the portal calls them; no address crosses."""
        name = (await self.names([person])).get(person)
        return None if name is None else Attribution(name)

    async def caller(self, person: str) -> Caller | None:
        """As ``People.caller``, while a call is running."""
        exchange = current_exchange()
        if not isinstance(exchange, ChildExchange):
            return None
        found = await self._ask("caller", exchange.number, person)
        return None if found is None else Caller(**{**found, "tier": Tier(found["tier"])})

    async def fellows(self, caller: Caller, name: str) -> Sequence[Fellow]:
        """As ``People.fellows``, of the caller of the call that is running."""
        exchange = current_exchange()
        if not isinstance(exchange, ChildExchange):
            return ()
        found = await self._ask("fellows", exchange.number, name)
        return [Fellow(id, called, frozenset(groups)) for id, called, groups in found]

    def groups(self) -> frozenset[str]:
        """As ``People.groups``, when the last call came in."""
        return self.known_groups
