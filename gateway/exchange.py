"""The call that is running now, as a tool sees it, where there is no client to speak to."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from gateway.contract import Exchange, ToolFailed


class SilentExchange:
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


def enter(exchange: Exchange) -> None:
    """Make an exchange the current one for the rest of this task."""
    _current.set(exchange)
