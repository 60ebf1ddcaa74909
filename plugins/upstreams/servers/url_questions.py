"""The links that a server has clients open: they are told once it says that one is done."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from mcp_types import URL_ELICITATION_REQUIRED

from gateway.contract import Exchange, RelayedError

MAX_LINKS = 1000
"""Links of one server that are remembered; the oldest is forgotten first."""


class UrlQuestions:
    """The links of one server (MCP 2025-11-25, "URL Mode Elicitation")."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, Callable[[], None]] = OrderedDict()

    def asked(self, question: Any, exchange: Exchange) -> None:
        """Remember whose client a server has asked something, where that is to open a link.

        Args:
            question: the parameters of the question, as the server wrote them.
            exchange: the call that it is asked in.
        """
        asked = question.get("elicitationId") if isinstance(question, Mapping) else None
        if isinstance(asked, str) and question.get("mode") == "url":
            self._done[asked] = exchange.link_asked(asked)
            if len(self._done) > MAX_LINKS:
                self._done.popitem(last=False)

    def needed(self, error: RelayedError, exchange: Exchange) -> None:
        """Remember what a server wants opened before a call works, where its error says so."""
        asked = error.details.get("elicitations")
        if error.number == URL_ELICITATION_REQUIRED and isinstance(asked, list):
            for question in asked:
                self.asked(question, exchange)

    def done(self, said: Mapping[str, Any]) -> None:
        """The server says that a link is done (``notifications/elicitation/complete``)."""
        self._done.pop(str(said.get("elicitationId")), lambda: None)()
