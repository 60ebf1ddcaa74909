"""A connection: a transport that carries messages, and a revision that says what they are."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Collection, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from gateway.toolkit.background import cancel
from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.connection import (
    MAX_WATCHED,
    NO_HEADERS,
    Back,
    Era,
    ServerInfo,
    Told,
)
from plugins.upstreams.wire.errors import (
    ConnectionLost,
    HttpRefused,
    RpcError,
    TimedOut,
    WireError,
)
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.messages import is_response, notification, request, result_of
from plugins.upstreams.wire.revisions import Revision
from plugins.upstreams.wire.subscriptions import Subscriptions, announced_lists
from plugins.upstreams.wire.transport import Transport

OPENING_S = 1.0
"""Seconds that connecting waits for the stream of changes; some servers open it only with the
first change."""


class Peer:
    """Implements :class:`~plugins.upstreams.wire.connection.Connection`.

    Args:
        transport: carries its messages; the peer closes it.
        told: hears what belongs to no request.
        limits: of time and size.
    """

    era: Era
    version: str
    server: ServerInfo

    def __init__(self, transport: Transport, told: Told | None, limits: Limits) -> None:
        self.transport_name = transport.name
        self.calls = Calls(transport, told)
        self.oddities: Counter[str] = self.calls.oddities
        self.transport = transport
        self._limits = limits
        self._revision: Revision
        self._ids = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._farewells: set[asyncio.Task[None]] = set()
        self._watched: set[str] = set()
        self._subscriptions: Subscriptions | None = None
        self._is_closed = False

    async def begin(self) -> None:
        """Attach the transport, and begin to tell.

        Raises:
            WireError: there is no connection.
        """
        if self.calls.notifier is not None:
            self._start(self.calls.notifier.run())
        await self.transport.attach(self.calls)

    async def agree(self, revision: Revision, seconds: float) -> None:
        """Open the connection in one era.

        Args:
            revision: of that era.
            seconds: that the answer may take.

        Raises:
            WireError: the server does not speak it, or not in time.
        """
        self._revision = revision
        result = await self._request(
            revision.opening, revision.opening_params(), NO_HEADERS, None, seconds
        )
        self.version, self.server = revision.read_opening(result)
        self.era = revision.era
        self.transport.agreed(self.version, modern=self.era == "modern")
        if self.era == "legacy":
            await self.notify("notifications/initialized", {})

    async def listen(self) -> None:
        """Hear from now on what the server says outside of requests, where somebody wants it."""
        if self.calls.notifier is None:
            return
        opened = asyncio.Event()
        if self.era == "legacy":
            listening = self._start(self.transport.listen(opened))
        else:
            self._subscriptions = Subscriptions(
                self.transport,
                self.calls,
                self._revision,
                lambda: next(self._ids),
                announced_lists(self.server.capabilities),
            )
            listening = self._start(self._subscriptions.run(opened))
        # Whoever lists what there is right after this misses no change of it.
        waiting = self._start(_wait(opened))
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait({listening, waiting}, timeout=OPENING_S, return_when=first)
        waiting.cancel()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = NO_HEADERS,
        back: Back | None = None,
    ) -> Mapping[str, Any]:
        """Send a request and wait for its result."""
        return await self._request(method, params, headers, back, self._limits.total_s)

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        back: Back | None,
        seconds: float,
    ) -> Mapping[str, Any]:
        clock = asyncio.timeout(seconds)
        call = Call(next(self._ids), back, clock)
        self.calls.begin(call)
        answered = False
        try:
            async with clock:
                result = await self._converse(method, params, headers, call)
            answered = True
            return result
        except TimeoutError:
            if not clock.expired():
                raise
            raise TimedOut(f"The server did not answer in {seconds:g} s.") from None
        except WireError as error:
            # Whoever broke off knows; a limit that we set it does not.
            answered = isinstance(error, RpcError | HttpRefused) or not error.may_have_run
            raise
        finally:
            given_up = not answered and method != self._revision.opening
            self.calls.end(call, given_up=given_up)
            if given_up:
                self._tell_cancelled(call)

    async def _converse(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str], call: Call
    ) -> Mapping[str, Any]:
        stamped = self._revision.stamp(params, None if call.back is None else call.id)
        message = request(call.id, method, stamped)
        mirrored = self._revision.headers(method, params, headers)
        async with self.transport.open(message, call, mirrored) as messages:
            async for heard in messages:
                if not is_response(heard):
                    await self.calls.hear(heard, call)
                elif heard.get("id") == call.id or _is_nameless_error(heard):
                    return result_of(heard)
                else:
                    self.oddities["response to another request"] += 1
        raise ConnectionLost("The server stopped before it had answered.")

    def _tell_cancelled(self, call: Call) -> None:
        if self.transport.cancels_by_closing or self._is_closed:
            return
        said = {"requestId": call.id, "reason": "No longer wanted."}
        telling = self._start(self._notify_soon("notifications/cancelled", said))
        self._farewells.add(telling)
        telling.add_done_callback(self._farewells.discard)

    async def _notify_soon(self, method: str, params: Mapping[str, Any]) -> None:
        with suppress(WireError, TimeoutError):
            async with asyncio.timeout(self._limits.closing_s):
                await self.notify(method, params)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        try:
            async with asyncio.timeout(self._limits.total_s) as clock:
                await self.transport.send(
                    notification(method, params), self._revision.headers(method, params)
                )
        except TimeoutError:
            if not clock.expired():
                raise
            raise TimedOut("The server did not take a notification in time.") from None

    async def watch(self, uris: Collection[str]) -> None:
        """Be told when these resources change, and no others any more."""
        wanted = set(uris)
        if len(wanted) > MAX_WATCHED:
            raise ValueError(f"{len(wanted)} resources; at most {MAX_WATCHED} can be watched")
        if self.era == "modern":
            if self._subscriptions is not None:
                self._subscriptions.watch(wanted)
            return
        for uri in self._watched - wanted:
            await self.request("resources/unsubscribe", {"uri": uri})
            self._watched.discard(uri)
        refused: RpcError | None = None
        for uri in wanted - self._watched:
            try:
                await self.request("resources/subscribe", {"uri": uri})
                self._watched.add(uri)
            except RpcError as error:
                refused = error
        if refused is not None:
            raise refused

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def ended(self) -> WireError:
        """Wait until the connection is of no more use; gives the reason."""
        return await self.transport.ended()

    async def close(self) -> None:
        """End it."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._farewells:
                # Else the server goes on with what nobody waits for; each has its time limit.
                await asyncio.wait(set(self._farewells))
            with suppress(WireError):  # the connection's own end, which whoever waits is told
                await cancel(*self._tasks)
            await self.calls.close()
        finally:
            await self.transport.close()


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


def _is_nameless_error(message: Mapping[str, Any]) -> bool:
    """Whether it is an error whose request the server could not even read."""
    return message.get("id") is None and "error" in message
