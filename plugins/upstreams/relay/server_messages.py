"""What a server says and asks while a call of it runs, on its way back to the caller's client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.contract import Exchange, ToolFailed
from gateway.toolkit.client_capabilities import ELICITATION
from plugins.upstreams.servers.links import Links
from plugins.upstreams.wire import RpcError

_LEVELS = frozenset(
    ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
)
_REFUSED = -1


class Narration:
    """Hands on what a server says of a call's progress.

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


class Direct(Narration):
    """Hands on to a client that can be asked at once (:class:`plugins.upstreams.wire.Back`).

    Args:
        exchange: the call's.
        links: those that the server's callers are asked to open.
    """

    def __init__(self, exchange: Exchange, links: Links) -> None:
        super().__init__(exchange)
        self._links = links

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The client's answer.

        Raises:
            RpcError: it cannot be asked, or refused: the server is told so.
        """
        if method == ELICITATION:
            self._links.asked(params, self._exchange)
        try:
            return await self._exchange.ask(method, params)
        except ToolFailed as failed:
            raise RpcError(_REFUSED, failed.message) from None
