"""The calls that run in a plugin's process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from gateway.contract import Listing, Offer, ToolFailed
from gateway.contract.backend_errors import is_database_away
from gateway.isolation.answers import failed, failure, packed, shown
from gateway.isolation.child_services import CallContext, ChildExchange, ChildPeople
from gateway.isolation.frames import parts_of
from gateway.isolation.functions import function
from gateway.isolation.setup import Setup
from gateway.observability.logs import request_id
from gateway.observability.redaction import redactor
from gateway.observability.tracebacks import shortened
from gateway.pipeline import exchange as exchanges
from gateway.pipeline.bulkheads import too_large
from gateway.pipeline.pager import plain
from gateway.scrubbing.contents import size_of
from gateway.toolkit.background import cancel

_PAGE_SECONDS = 30.0
"""Seconds in which the portal has to say which results of a listing it shows."""
_MAX_TOLD_CHARACTERS = 1_000


class Calls:
    """Runs calls, and asks the portal what they ask.

    Args:
        send: sends the portal a message.
        setup: whose calls.

    Attributes:
        offer: what the plugin offers, once it is open.
        people: the people of the portal.
    """

    def __init__(self, send: Callable[..., None], setup: Setup) -> None:
        self._send = send
        self._bounds = setup.portal.section(setup.plugin).bulkhead
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._pages: dict[int, asyncio.Future[Sequence[int]]] = {}
        self._numbers = itertools.count(1)
        self.offer: Offer | None = None
        self.people = ChildPeople(self._ask)

    def take(self, kind: str, number: int, *held: Any) -> None:
        """Take a message of the portal's: a call, its end, or an answer."""
        if kind == "call":
            self._tasks[number] = task = asyncio.ensure_future(self._run(number, *held))
            task.add_done_callback(lambda _: self._tasks.pop(number, None))
        elif kind == "ping":
            self._send("answer", number, "value", None)
        elif kind == "cancel" and number in self._tasks:
            self._tasks[number].cancel()
        elif kind == "page" and number in self._pages:
            self._pages[number].set_result(held[0])
        elif kind == "told" and (asked := self._asked.pop(number, None)) and not asked.done():
            answer, error = held
            asked.set_result(answer) if error is None else asked.set_exception(failed(*error))

    async def end(self) -> None:
        """End the calls that run still."""
        await cancel(*self._tasks.values())

    async def _ask(self, kind: str, call: int, *held: Any) -> Any:
        number = next(self._numbers)
        self._asked[number] = asked = asyncio.get_running_loop().create_future()
        try:
            self._send(kind, call, number, *held)
            return await asked
        finally:
            self._asked.pop(number, None)

    async def _run(
        self, number: int, what: tuple[str, ...], args: tuple[Any, ...], context: CallContext
    ) -> None:
        exchange = ChildExchange(number, context, self._send, self._ask)
        exchanges.enter(exchange)  # for this task, and what it begins
        request_id.set(context.request_id or None)
        self.people.known_groups = context.groups
        try:
            if context.credential is None:
                await self._answer(number, what, args)
            else:
                with redactor.hiding(context.credential):
                    await self._answer(number, what, args)
        except ToolFailed as error:
            self._send("failed", number, failure(error))
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            self._raised(number, error)
        except BaseException as error:  # an item may not end the process: SystemExit fails too
            self._raised(number, error)
        finally:
            exchange.end()

    async def _answer(self, number: int, what: tuple[str, ...], args: tuple[Any, ...]) -> None:
        if self.offer is None:
            raise ToolFailed("unavailable", "The plugin is not open.")
        value = await function(self.offer, what)(*args)
        if isinstance(value, Listing):
            await self._listing(number, value, what[-1])
        else:
            self._send_answer("answer", number, *packed(value), what[-1])

    async def _listing(self, number: int, listing: Listing[Any], tool: str) -> None:
        """Send what a listing is known by, and then the results that are asked for."""
        tools = () if self.offer is None else self.offer.tools
        page = next(each.page for each in tools if each.name == tool)
        if page is None:
            raise TypeError(f"{tool} has returned a Listing and declares no page")
        self._pages[number] = asked = asyncio.get_running_loop().create_future()
        try:
            self._send_answer("answer", number, "listing", shown(listing), tool)
            async with asyncio.timeout(_PAGE_SECONDS):
                places = await asked
        finally:
            del self._pages[number]
        items: Sequence[Any] = [listing.items[place] for place in places]
        if listing.ready is not None:
            items = await listing.ready(items)
        rows = [[plain(item)[0], plain(page.summarize(item))[0]] for item in items]
        self._send_answer("answer", number, "value", rows, tool)

    def _send_answer(self, message: str, number: int, kind: str, value: Any, item: str) -> None:
        """Send an answer, in parts where it is long.

        Raises:
            ToolFailed: it is larger than it may be.
        """
        most = self._bounds.items.get(item, self._bounds).bytes
        if (size := size_of(value)) > most:
            raise too_large(item, size, most)
        if (parts := parts_of(value)) is None:
            self._send(message, number, kind, value)
            return
        for part in parts:
            self._send("part", number, *part)
        self._send("joined", number, kind)

    def _raised(self, number: int, error: BaseException) -> None:
        told = f"{type(error).__name__}: {error}"[:_MAX_TOLD_CHARACTERS]
        self._send("raised", number, told, shortened(error), is_database_away(error))
