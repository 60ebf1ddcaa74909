"""A plugin on its way to being open: tried again until it is, and held open until the portal ends.

Each opens, lives and closes in a task of its own, so that one that takes long, or fails, is
nobody else's affair: the others are served meanwhile, and it is as soon as it has opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from gateway.contract import Absent, Health
from gateway.errors import ConfigError
from gateway.observability.health import HealthBoard
from gateway.observability.logs import get_logger
from gateway.toolkit.reasons import said_by
from gateway.toolkit.retry import backoff

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 300.0
"""Seconds until a plugin that failed to open is tried again: at first, and at most."""

log = get_logger(__name__)


class Opening:
    """Opens a plugin, in a task of its own.

    Args:
        name: the plugin's name.
        opened: opens the plugin and serves it, for as long as its block lasts.
        board: is told why it fails.
        late_after: seconds after which nobody waits for it any more, or None.
        retries: whether it is tried again where it fails, with growing pauses. What is wrong in
            ``portal.yaml`` is not: an admin has to mend that, and start again.
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], AbstractAsyncContextManager[None]],
        board: HealthBoard,
        *,
        late_after: float | None,
        retries: bool,
    ) -> None:
        self._name = name
        self._opened = opened
        self._board = board
        self._retries = retries
        self._tried = asyncio.Event()
        self._closing = asyncio.Event()
        self._is_open = False
        self._task = asyncio.create_task(self._run())
        if late_after is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(late_after, self._is_late, late_after)
            self._task.add_done_callback(lambda _: timer.cancel())

    async def tried(self) -> None:
        """Wait until it is open, has failed once or is late; it goes on behind."""
        waiting = asyncio.create_task(self._tried.wait())
        await asyncio.wait({waiting, self._task}, return_when="FIRST_COMPLETED")
        waiting.cancel()
        if self._task.done():
            self._task.result()  # what is no plugin's to raise, such as the wish to end

    def _is_late(self, seconds: float) -> None:
        if not self._tried.is_set() and not self._task.done():
            log.warning("plugin_opens_late", plugin=self._name, seconds=seconds)
            self._board.late(self._name, f"It did not open within {seconds:g} s.")
            self._tried.set()

    async def close(self) -> None:
        """Close it, or end its opening."""
        self._closing.set()
        if not self._is_open:
            self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        for pause in backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS):
            try:
                async with self._opened():
                    self._is_open = True
                    self._tried.set()
                    await self._closing.wait()
                return
            except ConfigError as error:
                log.error("plugin_not_opened", plugin=self._name, reason=str(error))
                self._board.failed(self._name, str(error))
                return
            except asyncio.CancelledError as error:
                if self._closing.is_set():
                    raise
                self._failed(error, pause)  # what it awaited was cancelled, and not it
            except Exception as error:
                self._failed(error, pause)
            self._tried.set()
            if not self._retries:
                return
            await asyncio.sleep(pause)

    def _failed(self, error: BaseException, pause: float) -> None:
        log.error("plugin_not_opened", plugin=self._name, exc_info=error)
        reason = said_by(error)
        if self._retries:
            self._board.late(self._name, f"{reason.rstrip('.')}. Tried again in {pause:g} s.")
        else:
            self._board.failed(self._name, reason)


def absent(name: str, health: Health) -> Absent:
    """A plugin that is not open, as what callers miss."""
    if health.state == "starting":
        return Absent(name, name, "closed", "It is being opened: ask again soon.", "source")
    reason = "It could not be opened. It is tried again; an admin sees why (porch status)."
    return Absent(name, name, "closed", reason, "source", detail=health.detail)
