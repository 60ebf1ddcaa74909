"""The call that is running now, as a tool sees it: whose it is, and a silent way to its client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Protocol

from gateway.contract import Caller, Exchange, ToolFailed
from gateway.scrubbing.opaque import NOTHING, Opaque
from gateway.scrubbing.scrubber import Redaction, Scrubber

if TYPE_CHECKING:
    from gateway.pipeline.pipeline import Call

Gate = Callable[[str, str, Caller], bool]
"""``gate(plugin, tool, caller)``: whether a caller may use a tool, by its declared name."""


def closed(plugin: str, tool: str, caller: Caller) -> bool:
    """The gate that lets nobody through."""
    return False


class Conversation(Exchange, Protocol):
    """An exchange that a call can run in (:class:`CallExchange`)."""

    call: Call | None
    gate: Gate
    scrubber: Scrubber | None
    redactions: tuple[Redaction, ...]

    def scrubbed(self, raw: Mapping[str, Any], opaque: Opaque = ...) -> Mapping[str, Any]:
        """Take the secrets out of what came from the client."""
        ...


class CallExchange:
    """What every exchange knows of its call.

    Attributes:
        call: the call while it runs; None before and after it, so that what it leaves behind
            acts for nobody.
        gate: says what its caller may use.
        scrubber: takes secrets out of what comes from the client, or None.
        redactions: what it took out for this call.
    """

    call: Call | None = None
    gate: Gate = staticmethod(closed)
    scrubber: Scrubber | None = None
    redactions: tuple[Redaction, ...] = ()

    def scrubbed(self, raw: Mapping[str, Any], opaque: Opaque = NOTHING) -> Mapping[str, Any]:
        """What came from the client without its secrets, which are added to ``redactions``.

        Args:
            raw: JSON values.
            opaque: what to leave alone.
        """
        if self.scrubber is None or opaque is None:
            return raw
        cleaned, found = self.scrubber.arguments(raw, opaque)
        if found:
            self.redactions += tuple(found)
        return cleaned

    def allows(self, tool: str) -> bool:
        """As ``Exchange.allows``."""
        call = self.call
        return call is not None and self.gate(call.item.plugin, tool, call.caller)


class SilentExchange(CallExchange):
    """An exchange without a client: REST, ``porch call``, jobs. Progress and logs go nowhere.

    Args:
        request_id: the id that logs and the audit record carry.
    """

    def __init__(self, request_id: str = "") -> None:
        self.request_id = request_id

    client_capabilities: Mapping[str, Any] = {}
    can_ask = False
    input_responses: Mapping[str, Any] | None = None
    request_state: str | None = None
    credential: str | None = None

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop the report: nobody asked for it."""

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Drop the message: nobody asked for it."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse: there is no one to ask."""
        raise ToolFailed("cannot_ask", f"This caller's connection cannot answer {method}.")


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
