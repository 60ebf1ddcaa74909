"""The deadline of a call stands still while a person is asked, who has a time of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gateway.contract import ToolFailed
from gateway.pipeline.exchange import Client


class QuestionClock:
    """Stops one call's deadline for as long as its client's person is asked.

    Args:
        seconds: how long a person may take to answer one question.
    """

    __slots__ = ("_asking", "_deadline", "_left", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._asking = 0
        self._left = 0.0
        self._deadline: asyncio.Timeout | None = None

    def runs(self, deadline: asyncio.Timeout) -> None:
        """The call has a deadline; it may have asked before it had to wait for anything."""
        self._deadline = deadline
        if self._asking:
            self._stop()

    async def ask(self, client: Client, method: str, params: Mapping[str, Any]) -> Any:
        """Ask, as :meth:`Client.ask`.

        Raises:
            ToolFailed: nobody has answered in time, or the client cannot be asked.
        """
        self._asking += 1
        if self._asking == 1:
            self._stop()
        try:
            async with asyncio.timeout(self._seconds) as patience:
                return await client.ask(method, params)
        except TimeoutError:
            if not patience.expired():
                raise
            raise ToolFailed(
                "not_answered", f"Nobody has answered {method} within {self._seconds:g} s."
            ) from None
        finally:
            self._asking -= 1
            if not self._asking:
                self._go_on()

    def _stop(self) -> None:
        if self._deadline is None or (when := self._deadline.when()) is None:
            return
        self._left = when - asyncio.get_running_loop().time()
        self._reschedule(None)

    def _go_on(self) -> None:
        if self._deadline is not None and self._deadline.when() is None:
            self._reschedule(asyncio.get_running_loop().time() + self._left)

    def _reschedule(self, when: float | None) -> None:
        if self._deadline is not None:
            with suppress(RuntimeError):  # the call is over; what it has left behind asks still
                self._deadline.reschedule(when)
