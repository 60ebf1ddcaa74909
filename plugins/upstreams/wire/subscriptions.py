"""``subscriptions/listen`` of 2026-07-28, kept open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any

from gateway.toolkit.background import cancel
from gateway.toolkit.retry import backoff
from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.connection import GAP
from plugins.upstreams.wire.errors import HttpRefused, NotMcp, RpcError, WireError
from plugins.upstreams.wire.messages import is_response, request, result_of
from plugins.upstreams.wire.revisions import Revision
from plugins.upstreams.wire.share import Share
from plugins.upstreams.wire.transport import Transport

METHOD = "subscriptions/listen"
FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 60.0
"""Seconds before a broken stream is opened again: the first time, and at most."""
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LISTS = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


def announced_lists(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Which lists a server says it would announce changes of, as it is asked for them."""
    return {
        key: True
        for kind, key in _LISTS.items()
        if isinstance(said := capabilities.get(kind), dict) and said.get("listChanged") is True
    }


class Subscriptions:
    """The one stream of changes of a connection.

    Args:
        transport: carries it.
        calls: hear what comes.
        revision: stamps its requests.
        next_id: gives the next request's id.
        lists: which lists to hear of, see :func:`announced_lists`.
    """

    def __init__(
        self,
        transport: Transport,
        calls: Calls,
        revision: Revision,
        next_id: Callable[[], int],
        lists: Mapping[str, Any],
    ) -> None:
        self._transport = transport
        self._calls = calls
        self._revision = revision
        self._next_id = next_id
        self._lists = lists
        self._uris: frozenset[str] = frozenset()
        self._changed = asyncio.Event()
        self._pauses = backoff(FIRST_PAUSE_S, MAX_PAUSE_S)

    def watch(self, uris: Collection[str]) -> None:
        """Hear of these resources from now on."""
        if self._uris != (wanted := frozenset(uris)):
            self._uris = wanted
            self._changed.set()

    async def run(self, opened: asyncio.Event) -> None:
        """Keep the stream open; a changed one is open before the one before it is closed.

        Args:
            opened: set as soon as nothing is missed any more.
        """
        before: asyncio.Task[None] | None = None
        stream: asyncio.Task[None] | None = None
        was_lost = False
        try:
            while True:
                self._changed.clear()
                before, stream = stream, None
                if self._uris or self._lists:
                    acknowledged = asyncio.Event()
                    stream = asyncio.create_task(self._listen(acknowledged, was_lost))
                    await _either(acknowledged.wait(), stream)
                opened.set()
                if before is not None and before.done():
                    self._tell_gap()  # it broke off before the next one heard anything
                await _ended(before)
                await _either(self._changed.wait(), stream)
                was_lost = not self._changed.is_set()
                if was_lost:
                    await self._pause(stream)
                    stream = None
        finally:
            await _ended(before, stream)

    async def _pause(self, stream: asyncio.Task[None] | None) -> None:
        """Wait until another try is worth it; after a refusal, until something else is wanted."""
        error = stream.exception() if stream is not None else None
        if _is_refusal(error):
            await self._changed.wait()
        elif error is None or isinstance(error, WireError):
            with suppress(TimeoutError):
                async with asyncio.timeout(next(self._pauses)):
                    await self._changed.wait()
        else:
            raise error

    async def _listen(self, acknowledged: asyncio.Event, was_lost: bool) -> None:
        """One stream, until it ends.

        Raises:
            WireError: it was refused, or broke off.
        """
        wanted = {**self._lists}
        if self._uris:
            wanted["resourceSubscriptions"] = sorted(self._uris)
        call = Call(self._next_id(), None, asyncio.timeout(None), stands=True)
        message = request(call.id, METHOD, self._revision.stamp({"notifications": wanted}, None))
        headers = self._revision.headers(METHOD, {})
        self._calls.begin(call)
        share = Share()
        try:
            async with self._transport.open(message, call, headers, bounded=False) as messages:
                async for heard in messages:
                    if is_response(heard) and heard.get("id") == call.id:
                        result_of(heard)
                        return
                    if heard.get("method") != _ACKNOWLEDGED:
                        begun = perf_counter()
                        await self._calls.hear(heard, call)
                        await share.rest(begun)
                        continue
                    acknowledged.set()
                    self._pauses = backoff(FIRST_PAUSE_S, MAX_PAUSE_S)
                    if was_lost:
                        self._tell_gap()
        finally:
            self._calls.end(call, given_up=False)

    def _tell_gap(self) -> None:
        if self._calls.notifier is not None:
            self._calls.notifier.notify(GAP, {})


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the same would be refused again."""
    if isinstance(error, HttpRefused):
        return error.is_final
    return isinstance(error, RpcError | NotMcp)


async def _ended(*streams: asyncio.Task[None] | None) -> None:
    """End streams that are no longer wanted, for whatever reason they broke off."""
    for stream in filter(None, streams):
        with suppress(WireError):
            await cancel(stream)


async def _either(event: Any, task: asyncio.Task[None] | None) -> None:
    """Wait for the one or the other, and raise nothing."""
    waiting = asyncio.ensure_future(event)
    try:
        await asyncio.wait({waiting, task} if task else {waiting}, return_when="FIRST_COMPLETED")
    finally:
        waiting.cancel()
