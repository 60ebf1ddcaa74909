"""News of changes, to everyone who listens on any replica.

A change is published through the cache, so that an in-process portal and one of many replicas
take the same path; each process hands what it hears to its own listeners.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial

from pluggy import HookImpl
from pydantic_core import from_json, to_json

from gateway.contract import Cache, Change
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background

log = get_logger(__name__)

CHANNEL = "porch-changes"

Listener = Callable[[Change], None]


class Changes:
    """Carries :class:`~gateway.contract.Change` from whoever makes one to whoever listens.

    Args:
        cache: carries the news between replicas.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._listeners: dict[int, Listener] = {}
        self._next = 0
        self._sending: set[asyncio.Task[None]] = set()

    def publish(self, change: Change) -> None:
        """Tell of a change; returns at once."""
        message = to_json(asdict(change))
        task = asyncio.get_running_loop().create_task(self._cache.publish(CHANNEL, message))
        self._sending.add(task)
        task.add_done_callback(self._sent)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a function for every change from now on.

        Returns:
            A function that ends it.
        """
        number = self._next = self._next + 1
        self._listeners[number] = listener
        return lambda: self._listeners.pop(number, None) and None

    def signal(self, hooks: Iterable[HookImpl]) -> None:
        """Call plugins' hooks for every change from now on, each with what it wants to know."""

        def notify(hook: HookImpl, change: Change) -> None:
            hook.function(*(change for _ in hook.argnames))

        # One listener each: what one plugin raises is logged, and the others still hear.
        for hook in hooks:
            self.listen(partial(notify, hook))

    @asynccontextmanager
    async def carried(self) -> AsyncGenerator[None]:
        """Carry news for as long as the block lasts."""
        async with self._cache.listen(CHANNEL) as messages:

            async def carry() -> None:
                async for message in messages:
                    self._receive(message)

            async with background(carry()):
                yield

    def _receive(self, message: bytes) -> None:
        try:
            change = Change(**from_json(message))
        except (ValueError, TypeError):
            # Another version's, or not a replica's at all: no reason to stop listening.
            log.warning("change_not_understood", bytes=len(message))
            return
        self._deliver(change)

    def _deliver(self, change: Change) -> None:
        for listener in list(self._listeners.values()):
            try:
                listener(change)
            except Exception:
                log.exception("change_listener_failed", change=asdict(change))

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("change_not_published", reason=str(error))
