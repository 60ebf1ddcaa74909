"""One call of a plugin's function in another process, as the portal's own task waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from typing import Any

from gateway.contract import Caller, Host, ToolFailed
from gateway.contract.backend_errors import DatabaseAway
from gateway.isolation.answers import Row, failed, failure, listed, unpacked
from gateway.isolation.child_services import CallContext
from gateway.isolation.frames import Joined
from gateway.toolkit.background import cancel

_TOLD_OF_CALLERS = ("person", "tier", "groups", "admin", "name")
"""What a process is told of somebody else than the caller."""


class PluginRaised(Exception):
    """A plugin's function has raised in its process; the message is the error's."""


class RaisedThere(Exception):
    """What a plugin's function has raised; the message is the traceback in its process."""


def context_of(host: Host, tools: Sequence[str]) -> CallContext:
    """What a plugin's process is told of the call that is running.

    Args:
        host: the plugin's share of the portal.
        tools: the tools that the plugin offers.
    """
    exchange, groups = host.exchange(), host.people.groups()
    if not exchange.request_id:
        return CallContext(groups=groups)
    return CallContext(
        exchange.request_id,
        dict(exchange.client_capabilities),
        exchange.client_name,
        exchange.can_ask,
        exchange.log_level,
        exchange.input_responses,
        exchange.request_state,
        exchange.credential,
        frozenset(each for each in tools if exchange.allows(each)),
        groups,
        dict(exchange.meta),
        exchange.client,
        exchange.base,
    )


class RemoteCall:
    """A call that runs elsewhere: its result, and the way from there to its client.

    Args:
        host: the plugin's share of the portal.
        args: what the function is given, its caller among it.

    Attributes:
        answer: sends the answer to a question: its number, a value, a failure.
        page: says which results of a listing are shown.
        linked: keeps what tells the call's client that a link is done, by the question's id.
    """

    def __init__(self, host: Host, args: tuple[Any, ...]) -> None:
        self._host = host
        self._exchange = host.exchange()
        self._caller = next((each for each in args if isinstance(each, Caller)), None)
        self._events: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self._joined = Joined()
        self._asking: set[asyncio.Task[None]] = set()
        self.answer: Callable[..., None] = lambda *answer: None
        self.page: Callable[[Sequence[int]], None] = lambda places: None
        self.linked: Callable[[str, Callable[[], None]], None] = lambda question, done: None

    def take(self, kind: str, *held: Any) -> None:
        """Take a message of the process about this call."""
        if kind == "part":
            self._joined.take(*held)
        elif kind == "link_asked":  # at once: that the link is done may be the next message
            self.linked(held[0], self._exchange.link_asked(held[0]))
        else:
            self._events.put_nowait((kind, *held))

    def fail(self, error: Exception) -> None:
        """End the call with an error."""
        self._events.put_nowait(("error", error))

    async def result(self, over: Callable[[], object]) -> Any:
        """Wait for what the function returns.

        Args:
            over: called once the call is; of a listing, once its results have been asked for.

        Raises:
            ToolFailed: what the function raises, or the process has ended.
            PluginRaised: it has raised something else.
        """
        try:
            kind, value = await self._answered()
        except BaseException:
            over()
            raise
        if kind != "listing":
            over()
            return unpacked(kind, value)

        async def rows(places: Sequence[int]) -> Sequence[Row]:
            self.page(list(places))
            try:
                _, found = await self._answered()
            finally:
                over()
            return [Row(*each) for each in found]

        return listed(value, rows)

    async def _answered(self) -> tuple[str, Any]:
        """Serve the call's client until the function has returned."""
        try:
            while True:
                kind, *held = await self._events.get()
                if kind == "answer":
                    return held[0], held[1]
                if kind == "joined":
                    joined, self._joined = self._joined, Joined()
                    return held[0], joined.value()
                await self._serve(kind, held)
        finally:
            await cancel(*self._asking)

    async def _serve(self, kind: str, held: list[Any]) -> None:
        if kind == "failed":
            raise failed(*held[0])
        if kind == "error":
            raise held[0]
        if kind == "raised":
            told, traceback, database_away = held
            error = DatabaseAway if database_away else PluginRaised
            raise error(told) from RaisedThere(traceback)
        if kind == "progress":
            await self._exchange.progress(*held)
        elif kind == "log":
            await self._exchange.log(*held)
        elif kind in ("ask", "assertion", "call", "caller", "fellows", "missing"):
            task = asyncio.create_task(self._relay_answer(kind, *held))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _relay_answer(self, kind: str, number: int, *asked: Any) -> None:
        """Ask the call's client, or for people, and tell the process."""
        try:
            if kind == "ask":
                answer: Any = dict(await self._exchange.ask(*asked))
            elif kind == "call":
                answer = dict(await self._exchange.call(*asked))
            elif kind == "assertion":
                answer = astuple(await self._exchange.assertion(*asked))
            elif kind == "missing":
                answer = [asdict(each) for each in await self._exchange.missing(*asked)]
            else:
                answer = await self._of_people(kind, *asked)
        except ToolFailed as error:
            self.answer(number, None, failure(error))
        except Exception as error:
            self.answer(number, None, ["unavailable", f"{type(error).__name__}", {}, None])
        else:
            self.answer(number, answer, None)

    async def _of_people(self, kind: str, about: str) -> Any:
        if kind == "caller":
            known = await self._host.people.caller(about)
            return known and {name: getattr(known, name) for name in _TOLD_OF_CALLERS}
        if self._caller is None:
            return []
        found = await self._host.people.fellows(self._caller, about)
        return [(each.id, each.name, each.groups) for each in found]
