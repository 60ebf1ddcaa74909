"""Calls that wait at a server of the older era for an answer of a client of the newer one.

The server asks in the middle of its call; the client is told what is asked as the call's result,
and answers with the next request (SEP-2322). Between the two the call goes on here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as mcp

from gateway.contract import Exchange, Relayed, RelayedError, ToolFailed
from gateway.toolkit.client_capabilities import lacking, missing_capability
from plugins.upstreams.relay.rounds import required
from plugins.upstreams.relay.server_messages import Direct
from plugins.upstreams.servers.reach import ASKABLE
from plugins.upstreams.wire import Back, RpcError

PARKED_SECONDS = 300.0
"""Seconds for which a call waits for its client's next request."""
MAX_PARKED = 1000
"""Calls that wait at once."""
_QUESTION = "question"
_CANNOT = -1

Result = Mapping[str, Any]
Start = Callable[[Back], Awaitable[Result]]
"""``await start(back)``: asks the server, which may ask back."""


class ParkedCall:
    """A call at a server that may ask.

    Args:
        start: begins it.
        exchange: the request that it began with.
    """

    def __init__(self, start: Start, exchange: Exchange) -> None:
        self._direct = Direct(exchange)
        self._capabilities = exchange.client_capabilities
        self._question: asyncio.Future[dict[str, Any]] = _future()
        self._answer: asyncio.Future[Mapping[str, Any]] = _future()
        self._task = asyncio.ensure_future(start(self))
        self._timer: asyncio.TimerHandle | None = None
        self._asking = asyncio.Lock()
        self._lacks: set[str] = set()

    # What the server says (plugins.upstreams.wire.Back).

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Progress, to the client's latest request."""
        await self._direct.progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        """A log message, likewise."""
        await self._direct.log(level, data, logger)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The client's answer, which comes with its next request; questions are asked in turn.

        Raises:
            RpcError: this client cannot be asked that.
        """
        if lacks := lacking(method, params, self._capabilities):
            if lacks.partition(".")[0] in ASKABLE:
                self._lacks.add(lacks)
            raise RpcError(_CANNOT, f"The client cannot answer {method}: it lacks {lacks}.")
        async with self._asking:
            self._answer = _future()
            self._question.set_result({"method": method, "params": dict(params)})
            return await self._answer

    # What the client's requests do.

    async def result(self) -> Result | None:
        """The server's result, or None where it asks something first; see :meth:`asked`.

        Raises:
            ToolFailed: it could not do without asking what this client cannot answer.
        """
        either: set[asyncio.Future[Any]] = {self._task, self._question}
        try:
            await asyncio.wait(either, return_when="FIRST_COMPLETED")
        except asyncio.CancelledError:
            self.end()
            raise
        return await self._finished() if self._task.done() else None

    async def _finished(self) -> Result:
        try:
            result = await self._task
        except RelayedError:
            if self._lacks:
                raise missing_capability(self._lacks) from None
            raise
        if self._lacks and result.get("isError"):
            raise missing_capability(self._lacks)
        return result

    def asked(self) -> dict[str, Any]:
        """What the server asks, and then waits for."""
        question, self._question = self._question.result(), _future()
        return question

    def go_on(self, responses: Mapping[str, Any], exchange: Exchange) -> None:
        """Give the server what the client's next request brought."""
        self._direct = Direct(exchange)
        if self._timer is not None:
            self._timer.cancel()
        if not self._answer.done():
            answer = responses.get(_QUESTION)
            if isinstance(answer, Mapping):
                self._answer.set_result(answer)
            else:
                self._answer.set_exception(RpcError(_CANNOT, "The client did not answer."))

    def wait(self, seconds: float, over: Callable[[], object]) -> None:
        """End the call unless the client goes on in time."""
        self._timer = asyncio.get_running_loop().call_later(seconds, over)

    async def ended(self) -> None:
        """Wait until it has, once it is cancelled."""
        await asyncio.wait({self._task})

    def end(self) -> None:
        """Cancel the call at its server."""
        if self._timer is not None:
            self._timer.cancel()
        self._task.cancel()


class Parked:
    """The calls that wait in this process for their clients' next requests."""

    def __init__(self) -> None:
        self._calls: dict[str, ParkedCall] = {}

    async def call(self, start: Start, exchange: Exchange) -> Any:
        """Begin a call, or go on with the one that the request names.

        Args:
            start: begins it.
            exchange: the client's request.

        Returns:
            ``Relayed``, or what the client has to answer first.

        Raises:
            ToolFailed: the call that the request names waits here no more, or too many wait.
        """
        state = exchange.request_state
        if state is None:
            call = ParkedCall(start, exchange)
        elif (found := self._calls.pop(state, None)) is None:
            raise ToolFailed(
                "call_is_over",
                "The call that asked has ended, or runs at another replica: call anew.",
            )
        else:
            call = found
            call.go_on(exchange.input_responses or {}, exchange)
        result = await call.result()
        return Relayed(result) if result is not None else self._parked(call)

    def _parked(self, call: ParkedCall) -> mcp.InputRequiredResult:
        if len(self._calls) >= MAX_PARKED:
            call.end()
            raise ToolFailed("busy", "Too many calls wait for answers: try again in a minute.")
        state, asked = secrets.token_urlsafe(16), {_QUESTION: call.asked()}
        result = {"resultType": "input_required", "inputRequests": asked, "requestState": state}
        try:
            answer = required(result)
        except ToolFailed:
            call.end()
            raise
        self._calls[state] = call
        call.wait(PARKED_SECONDS, lambda: self._over(state))
        return answer

    def _over(self, state: str) -> None:
        if call := self._calls.pop(state, None):
            call.end()

    async def close(self) -> None:
        """End all of them."""
        calls = list(self._calls.values())
        for state in list(self._calls):
            self._over(state)
        await asyncio.gather(*(call.ended() for call in calls))


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()
