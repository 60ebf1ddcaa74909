"""What a server says and asks while a call of it runs, on its way back to the caller's client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateway.contract import Exchange, ToolFailed
from plugins.upstreams.wire import Back, RpcError

_LEVELS = frozenset(
    ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
)
_REFUSED = -1
Note = Callable[[str, Mapping[str, Any]], None]
"""Is told the method and the parameters of what a server asks."""


class Direct:
    """Hands on to a client that can be asked at once (:class:`plugins.upstreams.wire.Back`).

    Args:
        exchange: the call's.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Progress, for who asked for it."""
        await self._exchange.progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        """A log message, at a level that there is."""
        await self._exchange.log(level if level in _LEVELS else "info", data, logger)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The client's answer.

        Raises:
            RpcError: it cannot be asked, or refused: the server is told so.
        """
        try:
            return await self._exchange.ask(method, params)
        except ToolFailed as failed:
            raise RpcError(_REFUSED, failed.message) from None


class Noted:
    """A way back that takes note of each question first.

    Args:
        back: the way back.
        note: told what is asked.
    """

    def __init__(self, back: Back, note: Note) -> None:
        self.progress, self.log = back.progress, back.log
        self._back = back
        self._note = note

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The client's answer."""
        self._note(method, params)
        return await self._back.ask(method, params)
